//! What was measured: as a file for programs, and as tables for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::rounds::{Spread, Timings};

/// A ratio of the report: its name, the side, and what it is measured against.
const RATIOS: [(&str, &str, &str); 14] = [
    ("transactional", "transactional", "bare"),
    ("leased", "leased", "bare"),
    ("replay_of_transactional", "replay of transactional", "select"),
    ("replay_of_leased", "replay of leased", "select"),
    ("conflict_of_transactional", "conflict of transactional", "select"),
    ("conflict_of_leased", "conflict of leased", "select"),
    ("transition", "transition", "transition by hand"),
    ("transition_of_two_sources", "transition of two sources", "transition by hand"),
    ("rival_by_hand", "by hand", "bare"),
    ("rival_redis_lock", "Redis lock", "bare"),
    ("rival_axum_idempotent", "axum-idempotent", "bare"),
    ("rival_by_hand_replay", "replay by hand", "select"),
    ("rival_redis_lock_replay", "replay of Redis lock", "select"),
    ("rival_axum_idempotent_replay", "replay of axum-idempotent", "select"),
];

/// The figures of one database: for each name and number of clients a ratio, and how far it spread.
#[derive(Debug, Default)]
pub(crate) struct DatabaseReport {
    ratios: BTreeMap<&'static str, BTreeMap<usize, Spread>>,
    micros: BTreeMap<String, BTreeMap<usize, Spread>>,
    rows: Option<(u64, u64)>,
}

impl DatabaseReport {
    pub(crate) fn protocol(&mut self, clients: usize, timings: &Timings, more_steps: f64) {
        for (name, side, to) in RATIOS {
            self.set(name, clients, timings.ratio(side, to));
        }
        self.set("steps", clients, timings.ratio_each("more steps", "one step", more_steps, "bare"));
        // The dearer of the two modes speaks for both.
        for (name, of) in [
            ("replay", ["replay_of_transactional", "replay_of_leased"]),
            ("conflict", ["conflict_of_transactional", "conflict_of_leased"]),
        ] {
            self.set_worst(name, clients, &of);
        }
        for side in timings.sides() {
            self.micros
                .entry(side.to_owned())
                .or_default()
                .extend(timings.micros(side).map(|micros| (clients, micros)));
        }
    }

    pub(crate) fn rows_of(&mut self, few: u64, many: u64) {
        self.rows = Some((few, many));
    }

    pub(crate) fn rows(&mut self, clients: usize, timings: &Timings) {
        for (name, many, few) in [
            ("rows_transactional", "transactional of many", "transactional of few"),
            ("rows_leased", "leased of many", "leased of few"),
            ("rows_repeat", "repeat of many", "repeat of few"),
        ] {
            self.set(name, clients, timings.ratio(many, few));
        }
        self.set_worst("rows", clients, &["rows_transactional", "rows_leased", "rows_repeat"]);
    }

    fn set(&mut self, name: &'static str, clients: usize, ratio: Option<Spread>) {
        if let Some(ratio) = ratio {
            self.ratios.entry(name).or_default().insert(clients, ratio);
        }
    }

    fn set_worst(&mut self, name: &'static str, clients: usize, of: &[&'static str]) {
        let ratios = of.iter().filter_map(|name| self.ratios.get(name)?.get(&clients)).copied();
        let worst = ratios.max_by(|one, other| one.median.total_cmp(&other.median));
        self.set(name, clients, worst);
    }

    /// The medians of the ratios by name and clients; beside them how they spread, and the times.
    pub(crate) fn json(&self) -> Value {
        let by_clients = |figures: &BTreeMap<usize, Spread>, of: fn(Spread) -> Value| {
            Value::Object(figures.iter().map(|(clients, spread)| (clients.to_string(), of(*spread))).collect())
        };
        let mut members = Map::new();
        for (name, figures) in &self.ratios {
            members.insert((*name).to_owned(), by_clients(figures, |spread| spread.json()["median"].clone()));
        }
        let spread = self.ratios.iter().map(|(name, figures)| ((*name).to_owned(), by_clients(figures, Spread::json)));
        members.insert("spread".to_owned(), Value::Object(spread.collect()));
        let micros = self.micros.iter().map(|(name, figures)| (name.clone(), by_clients(figures, Spread::json)));
        members.insert("micros".to_owned(), Value::Object(micros.collect()));
        if let Some((few, many)) = self.rows {
            members.insert("rows_compared".to_owned(), json!({ "few": few, "many": many }));
        }
        Value::Object(members)
    }

    /// A line for each ratio, a column for each number of clients.
    pub(crate) fn table(&self, database: &str) -> String {
        let mut table = String::new();
        let _ = writeln!(table, "\n{database:<32}{:>22}{:>22}{:>22}", "1 client", "8 clients", "32 clients");
        for (name, figures) in &self.ratios {
            let _ = write!(table, "{name:<32}");
            for Spread { low, median, high } in figures.values() {
                let _ = write!(table, "{:>22}", format!("{median:.2} ({low:.2}–{high:.2})"));
            }
            table.push('\n');
        }
        if let Some((few, many)) = self.rows {
            let _ = writeln!(table, "(rows: {many} against {few})");
        }
        table
    }
}
