//! The SQL that a machine needs: its column, its constraint, its history, and a trigger that knows its edges.

use std::fmt::Write as _;

use super::{IdType, StateMachine, TableName};
use crate::database::Database;

/// `status IN ('created', 'paid', …)`: what a CHECK constraint asks of the column. Older names are permitted too, as
/// long as the machine reads them.
pub(crate) fn check<M: StateMachine>(database: Database) -> String {
    let column = database.exact(&database.quote(M::COLUMNS.state));
    let names = (0..M::GRAPH.states.len()).flat_map(|state| M::GRAPH.stored_names(state));
    let names: Vec<_> = names.map(|name| database.literal(name)).collect();
    format!("{column} IN ({})", names.join(", "))
}

/// The type of a column of names.
fn text(database: Database) -> &'static str {
    match database {
        Database::Sqlite | Database::Postgres => "TEXT",
        Database::Mysql => "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    }
}

pub(crate) fn migration<M: StateMachine>(database: Database) -> String {
    let (columns, tables) = (M::COLUMNS, M::tables());
    let quote = |name: &str| database.quote(name);
    let table = tables.table.quoted(database);
    let text = text(database);
    let mut initial = M::GRAPH.states.iter().filter(|state| state.initial);
    let default = match (initial.next(), initial.next()) {
        (Some(state), None) => format!(" DEFAULT {}", database.literal(state.name)),
        _ => String::new(),
    };
    let constraint = quote(&format!("{}_{}_check", tables.table.name, columns.state));
    // MariaDB's columns have no constraints with names.
    let between = if database == Database::Mysql { ", ADD" } else { "" };
    let mut sql = format!(
        "ALTER TABLE {table} ADD COLUMN {} {text} NOT NULL{default}{between} CONSTRAINT {constraint} CHECK ({});\n",
        quote(columns.state),
        check::<M>(database)
    );
    if let Some(version) = columns.version {
        let _ = writeln!(sql, "ALTER TABLE {table} ADD COLUMN {} BIGINT NOT NULL DEFAULT 0;", quote(version));
    }
    if let Some(entered) = columns.entered {
        sql.push_str(&entered_column::<M>(database, &table, &quote(entered)));
    }
    if let Some(key) = columns.key {
        let _ = writeln!(sql, "ALTER TABLE {table} ADD COLUMN {} {text};", quote(key));
    }
    if let Some(history) = &tables.history {
        sql.push_str(&history_table::<M>(database, history));
    }
    sql
}

/// The time of entry: for rows that are there already it begins now, and so it does for new ones.
fn entered_column<M: StateMachine>(database: Database, table: &str, entered: &str) -> String {
    let now = database.now();
    match database {
        Database::Postgres | Database::Mysql => {
            format!("ALTER TABLE {table} ADD COLUMN {entered} BIGINT NOT NULL DEFAULT ({now});\n")
        }
        // A default that is added later must be a constant there.
        Database::Sqlite => {
            let trigger = database.quote(&format!("{}_{}_entered", M::tables().table.name, M::COLUMNS.state));
            let id = database.quote(M::COLUMNS.id);
            format!(
                "ALTER TABLE {table} ADD COLUMN {entered} BIGINT NOT NULL DEFAULT 0;\nUPDATE {table} SET {entered} = {now};\n\
                 CREATE TRIGGER {trigger} AFTER INSERT ON {table} WHEN NEW.{entered} = 0 BEGIN\n    \
                 UPDATE {table} SET {entered} = {now} WHERE {id} = NEW.{id};\nEND;\n"
            )
        }
    }
}

fn history_table<M: StateMachine>(database: Database, history: &TableName) -> String {
    let quote = |name: &str| database.quote(name);
    let (columns, table) = (M::COLUMNS, M::tables().table.quoted(database));
    let (text, id, row) = (text(database), quote("id"), quote(columns.history_id));
    let (serial, id_type, long) = match database {
        Database::Sqlite => ("INTEGER PRIMARY KEY AUTOINCREMENT", M::IdType::SQLITE, "TEXT"),
        Database::Postgres => ("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", M::IdType::POSTGRES, "TEXT"),
        Database::Mysql => ("BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", M::IdType::MYSQL, "LONGTEXT"),
    };
    let index = quote(&format!("{}_by_row", history.name));
    let (name, event, source, target) = (history.quoted(database), quote("event"), quote("source"), quote("target"));
    let (actor, reason, metadata, at) = (quote("actor"), quote("reason"), quote("metadata"), quote("at"));
    let key = quote(columns.id);
    format!(
        "CREATE TABLE {name} (\n    {id} {serial},\n    {row} {id_type} NOT NULL,\n    {event} {text} NOT NULL,\n    \
         {source} {text},\n    {target} {text} NOT NULL,\n    {actor} {text},\n    {reason} {long},\n    \
         {metadata} {long},\n    {at} BIGINT NOT NULL,\n    FOREIGN KEY ({row}) REFERENCES {table} ({key}) ON DELETE CASCADE\n);\n\
         CREATE INDEX {index} ON {name} ({row}, {id});\n"
    )
}

/// A trigger that refuses every update of the column that is no edge of the graph, whoever makes it.
pub(crate) fn trigger<M: StateMachine>(database: Database) -> String {
    let (graph, tables) = (M::GRAPH, M::tables());
    let (table, column) = (tables.table.quoted(database), database.quote(M::COLUMNS.state));
    let base = format!("{}_{}_edges", tables.table.name, M::COLUMNS.state);
    let name = database.quote(&base);
    let mut pairs: Vec<String> = Vec::new();
    for edge in graph.edges {
        for from in graph.stored_names(edge.from) {
            let pair = format!(
                "({} = {} AND {} = {})",
                database.exact(&format!("OLD.{column}")),
                database.literal(from),
                database.exact(&format!("NEW.{column}")),
                database.literal(graph.states[edge.to].name)
            );
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    if pairs.is_empty() {
        pairs.push("1 = 0".to_owned());
    }
    let edges = pairs.join("\n        OR ");
    let subject = graph.name;
    let [old, new] = ["OLD", "NEW"].map(|row| database.exact(&format!("{row}.{column}")));
    match database {
        Database::Sqlite => format!(
            "CREATE TRIGGER {name} BEFORE UPDATE OF {column} ON {table}\nWHEN OLD.{column} IS NOT NEW.{column} AND NOT (\n        \
             {edges}\n)\nBEGIN\n    SELECT RAISE(ABORT, '{subject} has no such transition');\nEND;\n"
        ),
        Database::Postgres => {
            let function = TableName { schema: tables.table.schema, name: base }.quoted(database);
            format!(
                "CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n    IF NOT (\n        {edges}\n    ) THEN\n        \
                 RAISE EXCEPTION '{subject} has no transition from % to %', OLD.{column}, NEW.{column} USING ERRCODE = 'check_violation';\n    \
                 END IF;\n    RETURN NEW;\nEND\n$$;\n\
                 CREATE TRIGGER {name} BEFORE UPDATE OF {column} ON {table} FOR EACH ROW\n    \
                 WHEN (OLD.{column} IS DISTINCT FROM NEW.{column}) EXECUTE FUNCTION {function}();\n"
            )
        }
        Database::Mysql => format!(
            "CREATE TRIGGER {name} BEFORE UPDATE ON {table} FOR EACH ROW\nBEGIN\n    IF NOT ({old} <=> {new}) AND NOT (\n        \
             {edges}\n    ) THEN\n        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '{subject} has no such transition';\n    END IF;\nEND;\n"
        ),
    }
}
