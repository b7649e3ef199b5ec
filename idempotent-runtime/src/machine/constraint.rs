//! The CHECK constraint of a machine's column, read from what the database shows of it.

use super::StateMachine;
use crate::database::Database;

/// The CHECK constraint of the column, held against the graph.
///
/// ```
/// assert_ne!(idempotent_runtime::Constraint::Missing, idempotent_runtime::Constraint::Matches);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constraint {
    /// There is none: `check_sql` writes one.
    Missing,
    /// It permits the states of the graph, and nothing else.
    Matches,
    /// It does not say what the graph says.
    #[non_exhaustive]
    Differs {
        /// States of the graph that the database would refuse to store.
        refuses: Vec<&'static str>,
        /// Values that the database would store, and the graph does not know.
        permits: Vec<String>,
    },
}

/// What the constraints that speak of the column say.
pub(crate) fn constraint<M: StateMachine>(texts: &[String], database: Database) -> Constraint {
    let (graph, column) = (M::GRAPH, M::COLUMNS.state);
    let permitted: Vec<String> = texts
        .iter()
        .flat_map(|text| checks(text))
        .filter(|check| names(check, column))
        .flat_map(|check| literals(check, database))
        .collect();
    if permitted.is_empty() {
        return Constraint::Missing;
    }
    let refuses: Vec<_> = graph
        .states
        .iter()
        .map(|state| state.name)
        .filter(|name| !permitted.iter().any(|value| value == name))
        .collect();
    let permits: Vec<_> = permitted.into_iter().filter(|value| graph.state_of(value).is_none()).collect();
    match refuses.is_empty() && permits.is_empty() {
        true => Constraint::Matches,
        false => Constraint::Differs { refuses, permits },
    }
}

/// What stands in the parentheses behind each `CHECK`; the whole text, where it is nothing but a condition.
fn checks(text: &str) -> Vec<&str> {
    let upper = text.to_ascii_uppercase();
    let mut found = Vec::new();
    for (at, word) in upper.match_indices("CHECK") {
        let rest = &text[at + word.len()..];
        let Some(open) = rest.find('(').filter(|open| rest[..*open].trim().is_empty()) else { continue };
        let (mut depth, mut quoted) = (0, false);
        for (n, c) in rest[open..].char_indices() {
            match c {
                '\'' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                found.push(&rest[open..=open + n]);
                break;
            }
        }
    }
    if found.is_empty() && !upper.contains("CREATE TABLE") {
        found.push(text);
    }
    found
}

/// Whether a condition names a column.
fn names(check: &str, column: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    check.split(|c| !word(c)).any(|found| found == column)
}

/// The string literals of a condition. `MariaDB` shows a quote in a literal behind a backslash, and `MySQL` every quote.
fn literals(check: &str, database: Database) -> Vec<String> {
    let mut found = Vec::new();
    let shown = if check.contains("_utf8mb4\\'") { check.replace("\\'", "'") } else { check.to_owned() };
    let mut rest = shown.chars().peekable();
    while rest.find(|c| *c == '\'').is_some() {
        let mut literal = String::new();
        while let Some(c) = rest.next() {
            if c == '\\' && database == Database::Mysql {
                literal.extend(rest.next());
            } else if c != '\'' {
                literal.push(c);
            } else if rest.next_if_eq(&'\'').is_some() {
                literal.push('\'');
            } else {
                break;
            }
        }
        found.push(literal);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_found_in_a_table_and_their_literals_read() {
        let table = "CREATE TABLE t (a TEXT CHECK (a IN ('x', 'it''s')), b INT CHECK (b > 0))";
        let checks = checks(table);
        assert_eq!(checks, ["(a IN ('x', 'it''s'))", "(b > 0)"]);
        assert!(names(checks[0], "a") && !names(checks[1], "a"));
        assert_eq!(literals(checks[0], Database::Sqlite), ["x", "it's"]);
        assert_eq!(literals(r"cast(`a` as char) in ('x','it\'s')", Database::Mysql), ["x", "it's"]);
        assert_eq!(literals(r"(`a` in (_utf8mb4\'x\',_utf8mb4\'y\'))", Database::Mysql), ["x", "y"]);
        assert_eq!(literals(r"a = 'back\slash'", Database::Postgres), [r"back\slash"]);
    }
}
