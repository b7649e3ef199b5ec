//! The statements of a machine, in the words of each database.

use std::fmt::Write as _;

use super::{IdType, StateMachine, TableName};
use crate::database::Database;
use crate::store::statement::Bind;

/// The names of a machine, quoted for one database.
pub(crate) struct Sql {
    database: Database,
    table: String,
    state: String,
    id: String,
    version: Option<String>,
    entered: Option<String>,
    key: Option<String>,
    history: Option<(String, String)>,
    ids_are_bytes: bool,
}

/// What a guarded update sets and asks for.
pub(crate) struct Update<'u> {
    pub(crate) to: &'u str,
    pub(crate) ids: &'u [Bind],
    /// The stored names of which the row must have one.
    pub(crate) from: Vec<&'u str>,
    pub(crate) version: Option<i64>,
    pub(crate) key: Key<'u>,
}

/// What an update does with the key of a `via` state.
#[derive(Clone, Copy)]
pub(crate) enum Key<'u> {
    /// It goes, with the attempt that it belonged to.
    Leave,
    /// Stores this one.
    Set(&'u str),
    /// Asks for this one.
    Ask(&'u str),
}

/// What the history remembers of a transition, besides the row and its states.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    pub(crate) actor: Option<String>,
    pub(crate) reason: Option<String>,
    /// JSON.
    pub(crate) metadata: Option<String>,
}

pub(crate) type Text = (String, Vec<Bind>);

impl Sql {
    pub(crate) fn of<M: StateMachine>(database: Database) -> Self {
        let (columns, tables) = (M::COLUMNS, M::tables());
        let quote = |name: &str| database.quote(name);
        Self {
            database,
            table: tables.table.quoted(database),
            state: quote(columns.state),
            id: quote(columns.id),
            version: columns.version.map(quote),
            entered: columns.entered.map(quote),
            key: columns.key.map(quote),
            history: tables.history.map(|history| (history.quoted(database), quote(columns.history_id))),
            ids_are_bytes: M::IdType::BYTES,
        }
    }

    /// The columns of a [`FoundRow`](crate::store::FoundRow).
    fn found(&self) -> String {
        let (state, now) = (&self.state, self.database.now());
        let version = self.version.as_deref().unwrap_or("NULL");
        let key = self.key.as_deref().unwrap_or("NULL");
        let number = |column: &str| match self.database {
            Database::Sqlite | Database::Postgres => format!("CAST({column} AS BIGINT)"),
            Database::Mysql => format!("CAST({column} AS SIGNED)"),
        };
        let text = match self.database {
            Database::Sqlite | Database::Postgres => "TEXT",
            Database::Mysql => "CHAR",
        };
        let id = self.id_text();
        let age = match &self.entered {
            Some(entered) => format!("{now} - {entered}"),
            None => "NULL".to_owned(),
        };
        format!("{id}, {state}, {}, CAST({key} AS {text}), {}", number(version), number(&age))
    }

    /// The id as text, as [`RowName`](super::RowName) writes it.
    fn id_text(&self) -> String {
        let id = &self.id;
        match (self.ids_are_bytes, self.database) {
            (false, Database::Sqlite | Database::Postgres) => format!("CAST({id} AS TEXT)"),
            (false, Database::Mysql) => format!("CAST({id} AS CHAR)"),
            (true, Database::Postgres) => format!("encode({id}, 'hex')"),
            (true, Database::Sqlite | Database::Mysql) => format!("lower(hex({id}))"),
        }
    }

    /// Takes the lock that a transaction of `SQLite` needs before it reads what it will write. Other databases lock the
    /// rows that they read.
    pub(crate) fn lock_all(&self) -> Option<Text> {
        let Self { table, state, .. } = self;
        (self.database == Database::Sqlite)
            .then(|| (format!("UPDATE {table} SET {state} = {state} WHERE 0"), Vec::new()))
    }

    /// Reads rows and locks them, in the order of their ids.
    pub(crate) fn lock(&self, ids: &[Bind]) -> Text {
        let Self { table, id, database, .. } = self;
        let mut binds = Vec::new();
        let these = list(ids.iter().cloned(), &mut binds);
        let order = if ids.len() > 1 { format!(" ORDER BY {id}") } else { String::new() };
        let text =
            format!("SELECT {} FROM {table} WHERE {id} IN ({these}){order}{}", self.found(), database.for_update());
        (text, binds)
    }

    /// Reads the whole of a row and locks it.
    pub(crate) fn whole(&self, id: &Bind) -> Text {
        let Self { table, id: column, database, .. } = self;
        (format!("SELECT * FROM {table} WHERE {column} = ?1{}", database.for_update()), vec![id.clone()])
    }

    /// Moves rows that are in the states that are asked for, and no others.
    pub(crate) fn update(&self, update: &Update<'_>) -> Text {
        let Self { table, state, id, .. } = self;
        let Update { to, ids, from, version, key } = update;
        let mut binds = vec![text(to)];
        let mut sql = format!("UPDATE {table} SET {state} = ?1");
        if let Some(column) = &self.version {
            let _ = write!(sql, ", {column} = {column} + 1");
        }
        if let Some(column) = &self.entered {
            let _ = write!(sql, ", {column} = {}", self.database.now());
        }
        match (&self.key, key) {
            (Some(column), Key::Set(key)) => {
                let _ = write!(sql, ", {column} = {}", bind(text(key), &mut binds));
            }
            // It belongs to an attempt, and goes with it: nobody may go on with the key of an older one.
            (Some(column), Key::Leave | Key::Ask(_)) => {
                let _ = write!(sql, ", {column} = NULL");
            }
            (None, _) => {}
        }
        let these = list(ids.iter().cloned(), &mut binds);
        let states = list(from.iter().map(|name| text(name)), &mut binds);
        let _ = write!(sql, " WHERE {id} IN ({these}) AND {} IN ({states})", self.database.exact(state));
        if let (Some(column), Some(version)) = (&self.version, version) {
            let _ = write!(sql, " AND {column} = {}", bind(Bind::Int(*version), &mut binds));
        }
        if let (Some(column), Key::Ask(key)) = (&self.key, key) {
            let _ = write!(sql, " AND {} = {}", self.database.exact(column), bind(text(key), &mut binds));
        }
        (sql, binds)
    }

    /// Goes on with what a key began: the row stays where it is, and its time in the state begins anew.
    /// It is no transition: neither the version nor the history sees it.
    pub(crate) fn stay(&self, row: &Bind, stored: &str, key: &str) -> Option<Text> {
        let Self { table, state, id, database, .. } = self;
        let (entered, column) = (self.entered.as_ref()?, database.exact(self.key.as_ref()?));
        let (now, state) = (database.now(), database.exact(state));
        let text_of =
            format!("UPDATE {table} SET {entered} = {now} WHERE {id} = ?1 AND {state} = ?2 AND {column} = ?3");
        Some((text_of, vec![row.clone(), text(stored), text(key)]))
    }

    /// Appends to the history: for each row the state that it left, if any.
    pub(crate) fn append(&self, event: &str, rows: &[(Bind, Option<&str>)], to: &str, notes: &Notes) -> Option<Text> {
        let (history, id) = self.history.as_ref()?;
        let quote = |name: &str| self.database.quote(name);
        let Notes { actor, reason, metadata } = notes;
        let note = |note: &Option<String>| note.as_deref().map_or(Bind::NoText, text);
        let mut binds = vec![text(event), text(to), note(actor), note(reason), note(metadata)];
        let mut sql = format!("INSERT INTO {history} ({id}");
        for column in ["event", "source", "target", "actor", "reason", "metadata", "at"] {
            let _ = write!(sql, ", {}", quote(column));
        }
        sql.push_str(") VALUES ");
        for (n, (row, from)) in rows.iter().enumerate() {
            let row = bind(row.clone(), &mut binds);
            let from = bind(from.map_or(Bind::NoText, text), &mut binds);
            let comma = if n == 0 { "" } else { ", " };
            let _ = write!(sql, "{comma}({row}, ?1, {from}, ?2, ?3, ?4, ?5, {})", self.database.now());
        }
        Some((sql, binds))
    }

    /// Whether a row has been in a state before: one row if it has.
    pub(crate) fn passed(&self, row: &Bind, to: &[&str]) -> Option<Text> {
        let (history, id) = self.history.as_ref()?;
        let target = self.database.quote("target");
        let mut binds = vec![row.clone()];
        let targets = list(to.iter().map(|name| text(name)), &mut binds);
        let nothing = match self.database {
            Database::Postgres => ["NULL::text", "NULL::text", "NULL::bigint", "NULL::text", "NULL::bigint"],
            Database::Sqlite | Database::Mysql => ["NULL"; 5],
        };
        let nothing = nothing.join(", ");
        // Not by a snapshot that may be older than the row that was just locked.
        let locked = if self.database == Database::Mysql { " LOCK IN SHARE MODE" } else { "" };
        let text =
            format!("SELECT {nothing} FROM {history} WHERE {id} = ?1 AND {target} IN ({targets}) LIMIT 1{locked}");
        Some((text, binds))
    }

    /// The history of a row, from its beginning: event, target, time, source.
    #[cfg(feature = "testkit")]
    pub(crate) fn story(&self, row: &Bind) -> Option<Text> {
        let (history, id) = self.history.as_ref()?;
        let quote = |name: &str| self.database.quote(name);
        let (event, target, at, source) = (quote("event"), quote("target"), quote("at"), quote("source"));
        let text = format!(
            "SELECT {event}, {target}, {at}, {source}, {at} FROM {history} WHERE {id} = ?1 ORDER BY {}",
            quote("id")
        );
        Some((text, vec![row.clone()]))
    }

    /// Rows that have been in one of these states for long: at most `limit`, the oldest first. Not locked.
    pub(crate) fn aged(&self, from: &[&str], age: i64, limit: i64) -> Option<Text> {
        let Self { table, state, .. } = self;
        let entered = self.entered.as_ref()?;
        let mut binds = vec![Bind::Int(age), Bind::Int(limit)];
        let states = list(from.iter().map(|name| text(name)), &mut binds);
        let (found, now) = (self.found(), self.database.now());
        // By the column too, which an index may serve.
        let also = match self.database {
            Database::Sqlite | Database::Postgres => String::new(),
            Database::Mysql => format!(" AND {} IN ({states})", self.database.exact(state)),
        };
        Some((
            format!(
                "SELECT {found} FROM {table} WHERE {state} IN ({states}){also} AND {entered} <= {now} - ?1 \
                 ORDER BY {entered} LIMIT ?2"
            ),
            binds,
        ))
    }

    /// Every value of the column, byte by byte, and how often it is there.
    pub(crate) fn counts(&self) -> Text {
        let Self { table, state, .. } = self;
        let exact = self.database.exact(state);
        let none = match self.database {
            Database::Postgres => "NULL::text",
            Database::Sqlite | Database::Mysql => "NULL",
        };
        let number = match self.database {
            Database::Postgres => "NULL::bigint",
            Database::Sqlite | Database::Mysql => "NULL",
        };
        (format!("SELECT {none}, {exact}, COUNT(*), {none}, {number} FROM {table} GROUP BY {exact}"), Vec::new())
    }

    /// The CHECK constraints of the table, as the database writes them.
    pub(crate) fn constraints(database: Database, table: &TableName) -> Text {
        let TableName { schema, name } = table;
        match database {
            Database::Sqlite => (
                "SELECT NULL, sql, NULL, NULL, NULL FROM sqlite_master WHERE type = 'table' AND name = ?1".to_owned(),
                vec![text(name)],
            ),
            Database::Postgres => (
                "SELECT NULL::text, pg_get_constraintdef(c.oid), NULL::bigint, NULL::text, NULL::bigint \
                 FROM pg_constraint AS c WHERE c.contype = 'c' AND c.conrelid = to_regclass(?1)"
                    .to_owned(),
                vec![Bind::Text(table.quoted(database))],
            ),
            Database::Mysql => (
                "SELECT NULL, CAST(c.CHECK_CLAUSE AS CHAR), NULL, NULL, NULL FROM information_schema.CHECK_CONSTRAINTS AS c \
                 JOIN information_schema.TABLE_CONSTRAINTS AS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA \
                 AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME WHERE t.TABLE_NAME = ?1 AND t.TABLE_SCHEMA = COALESCE(?2, DATABASE())"
                    .to_owned(),
                vec![text(name), schema.as_deref().map_or(Bind::NoText, text)],
            ),
        }
    }
}

impl TableName {
    /// The name, quoted.
    pub(crate) fn quoted(&self, database: Database) -> String {
        let name = database.quote(&self.name);
        match &self.schema {
            Some(schema) => format!("{}.{name}", database.quote(schema)),
            None => name,
        }
    }
}

fn text(value: &str) -> Bind {
    Bind::Text(value.to_owned())
}

/// Adds a value; gives its place in the text.
fn bind(value: Bind, binds: &mut Vec<Bind>) -> String {
    binds.push(value);
    format!("?{}", binds.len())
}

fn list(values: impl Iterator<Item = Bind>, binds: &mut Vec<Bind>) -> String {
    values.map(|value| bind(value, binds)).collect::<Vec<_>>().join(", ")
}
