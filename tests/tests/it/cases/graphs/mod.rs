//! Machines of real shops and payment systems: each is written as its project writes it, and held against a table of
//! its edges, in the graph, in a diagram, and at rows of a real database.

mod killbill;
mod medusa;
mod rapyd;
mod saleor;
mod solidus;
mod spree;
mod sylius;
mod vendure;

use std::collections::BTreeSet;

use diesel::internal::derives::as_expression::Bound;
use diesel::prelude::*;
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Nullable, Text};
use diesel::{deserialize::FromSqlRow, expression::AsExpression};
use diesel_async::{AsyncConnectionCore, RunQueryDsl};
use idempotent_runtime::testkit::{Proof, prove};
use idempotent_runtime::{EventOf, LoadRow, Moved, StateMachine, Transition, TransitionError};
use serde::{Serialize, de::DeserializeOwned};

use super::database::Db;
use super::machines::{Bench, line, schema};
use schema::orders;

/// In the place of a guard: what the function comes to says which of the targets it is.
const OUTCOME: &str = "outcome";

/// A machine as its project has it.
struct Facts {
    states: &'static [&'static str],
    initial: &'static [&'static str],
    /// Event, source, target, and guard if there is one; of those that are tried one after the other the first first.
    edges: &'static [Fact],
}

type Fact = (&'static str, &'static str, &'static str, &'static str);

type Backend = <Db as AsyncConnectionCore>::Backend;

/// What a machine can do without its name.
trait Machine:
    StateMachine<IdType = BigInt, Row: LoadRow<Db>>
    + Copy
    + PartialEq
    + Serialize
    + DeserializeOwned
    + AsExpression<Nullable<Text>, Expression = Bound<Nullable<Text>, Self>>
    + ToSql<Nullable<Text>, Backend>
    + FromSqlRow<Text, Backend>
{
}

impl<M> Machine for M where
    M: StateMachine<IdType = BigInt, Row: LoadRow<Db>>
        + Copy
        + PartialEq
        + Serialize
        + DeserializeOwned
        + AsExpression<Nullable<Text>, Expression = Bound<Nullable<Text>, M>>
        + ToSql<Nullable<Text>, Backend>
        + FromSqlRow<Text, Backend>
{
}

/// What guards look at: the nth guard of the facts holds if the nth bit is set.
#[derive(QueryableByName)]
#[diesel(table_name = orders)]
struct Row {
    amount: i64,
}

impl Row {
    fn holds(&self, guard: u32) -> bool {
        self.amount >> guard & 1 == 1
    }
}

type Names = BTreeSet<String>;

/// What comes of an event at a row.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Moved(String),
    Already,
    Conflict { needs: Names, allowed: Names, guard: Option<String> },
    Undecided { targets: Names },
}

fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> Names {
    names.into_iter().map(str::to_owned).collect()
}

/// How the program writes a guard of the facts.
fn guard_name(guard: &str) -> Option<String> {
    (!["", OUTCOME].contains(&guard)).then(|| format!("Row::{guard}"))
}

impl Facts {
    fn events(&self) -> BTreeSet<&'static str> {
        self.edges.iter().map(|(event, ..)| *event).collect()
    }

    fn guards(&self) -> Vec<&'static str> {
        let mut guards = Vec::new();
        for (.., guard) in self.edges.iter().filter(|(.., guard)| guard_name(guard).is_some()) {
            if !guards.contains(guard) {
                guards.push(guard);
            }
        }
        guards
    }

    fn leaving(&self, state: &str, event: &str) -> Vec<Fact> {
        self.edges.iter().copied().filter(|(name, from, ..)| *name == event && *from == state).collect()
    }

    fn is_chosen(&self, state: &str, event: &str) -> bool {
        self.leaving(state, event).iter().any(|(.., guard)| *guard == OUTCOME)
    }

    /// What an event must come to, at a row whose guards are these bits, with one target or any.
    fn outcome(&self, state: &str, event: &str, amount: i64, target: Option<&str>) -> Outcome {
        let wanted = |(name, _, to, _): &Fact| *name == event && target.is_none_or(|target| *to == target);
        let edges: Vec<Fact> = self.edges.iter().copied().filter(wanted).collect();
        let leaving: Vec<Fact> = edges.iter().copied().filter(|(_, from, ..)| *from == state).collect();
        let targets = |edges: &[Fact]| names(edges.iter().map(|(_, _, to, _)| *to));
        if target.is_none() && self.is_chosen(state, event) {
            return Outcome::Undecided { targets: targets(&leaving) };
        }
        let holds = |guard: &str| match self.guards().iter().position(|name| *name == guard) {
            Some(n) => amount >> n & 1 == 1,
            None => true,
        };
        if let Some((_, _, to, _)) = leaving.iter().find(|(.., guard)| holds(guard)) {
            return Outcome::Moved((*to).to_owned());
        }
        if leaving.is_empty() && edges.iter().any(|(_, _, to, _)| *to == state) {
            return Outcome::Already;
        }
        Outcome::Conflict {
            needs: names(edges.iter().map(|(_, from, ..)| *from)),
            allowed: names(self.edges.iter().filter(|(_, from, ..)| *from == state).map(|(event, ..)| *event)),
            guard: leaving.last().and_then(|(.., guard)| guard_name(guard)),
        }
    }

    /// The targets to be tried: none, and where the outcome chooses, each.
    fn targets(&self, event: &str) -> Vec<Option<&'static str>> {
        let chosen = self.edges.iter().filter(|(name, .., guard)| *name == event && *guard == OUTCOME);
        let targets: BTreeSet<_> = chosen.map(|(_, _, to, _)| Some(*to)).collect();
        std::iter::once(None).chain(targets).collect()
    }

    /// The bits of guards to be tried: every one, where there are any.
    fn amounts(&self, state: &str, event: &str) -> std::ops::Range<i64> {
        let guarded = self.leaving(state, event).iter().any(|(.., guard)| guard_name(guard).is_some());
        if guarded { 0..1 << self.guards().len() } else { 0..1 }
    }

    /// What `prove` must count if every guard's bit is that of one amount.
    fn proof(&self, amount: i64) -> Proof {
        let mut proof = Proof::default();
        for (state, event) in self.pairs() {
            let targets: Vec<_> = match self.is_chosen(state, event) {
                true => self.leaving(state, event).iter().map(|(_, _, to, _)| Some(*to)).collect(),
                false => vec![None],
            };
            for target in targets {
                proof.pairs += 1;
                *match self.outcome(state, event, amount, target) {
                    Outcome::Moved(_) => &mut proof.applied,
                    Outcome::Already => &mut proof.already,
                    Outcome::Conflict { .. } | Outcome::Undecided { .. } => &mut proof.conflicts,
                } += 1;
            }
        }
        proof
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.states.iter().flat_map(|state| self.events().into_iter().map(|event| (*state, event)))
    }
}

/// Holds a machine against the facts.
async fn check<M: Machine>(facts: &Facts) {
    check_declared::<M>(facts);
    check_drawn::<M>(facts);
    let Some(bench) = Bench::new().await else { return };
    check_kept::<M>(facts, &mut *bench.conn().await).await;
    for amount in [0, (1 << facts.guards().len()) - 1] {
        let insert = async |conn: &mut Db, state: M| insert(conn, state, amount).await;
        assert_eq!(prove::<M, _, _>(&mut *bench.conn().await, insert).await, facts.proof(amount));
    }
    for (state, event) in facts.pairs() {
        for target in facts.targets(event) {
            for amount in facts.amounts(state, event) {
                check_fired::<M>(facts, &bench, (state, event, target), amount).await;
            }
        }
    }
}

/// The graph has the states and the edges, and no others.
fn check_declared<M: Machine>(facts: &Facts) {
    let graph = M::GRAPH;
    let name = |state: usize| graph.states[state].name;
    assert_eq!(graph.states.iter().map(|state| state.name).collect::<Vec<_>>(), facts.states);
    let initial = graph.states.iter().filter(|state| state.initial).map(|state| state.name);
    assert_eq!(names(initial), names(facts.initial.iter().copied()));
    let declared = graph.edges.iter().map(|edge| {
        (graph.events[edge.event].name, name(edge.from), name(edge.to), edge.guard.map(str::to_owned), edge.chosen)
    });
    let known =
        facts.edges.iter().map(|(event, from, to, guard)| (*event, *from, *to, guard_name(guard), *guard == OUTCOME));
    assert_eq!(declared.collect::<BTreeSet<_>>(), known.collect::<BTreeSet<_>>());
    assert_eq!(graph.edges.len(), facts.edges.len());
    assert_eq!(M::events().into_iter().collect::<BTreeSet<_>>(), facts.events());
}

/// The diagram has a line for each edge, and no others.
fn check_drawn<M: Machine>(facts: &Facts) {
    let text = M::mermaid();
    let mut lines = text.lines().map(str::trim);
    assert_eq!(lines.next(), Some("stateDiagram-v2"));
    let mut called: Vec<(&str, &str)> = Vec::new();
    let mut arrows: Vec<(&str, &str, &str)> = Vec::new();
    for line in lines {
        if let Some(state) = line.strip_prefix("state ") {
            let (name, id) = state.split_once(" as ").unwrap();
            called.push((id, name.trim_matches('"')));
            continue;
        }
        let (from, rest) = line.split_once(" --> ").unwrap();
        let (to, label) = rest.split_once(": ").unwrap_or((rest, ""));
        arrows.push((from, to, label));
    }
    let name = |id| called.iter().find(|(called, _)| *called == id).map_or(id, |(_, name)| *name);
    let mut drawn = Vec::new();
    for (from, to, label) in arrows {
        let (event, guard) = match label.strip_suffix(']').and_then(|label| label.split_once(" [")) {
            // A diagram shows a path without its colons, which would end the label.
            Some((event, guard)) => (event.to_owned(), guard.split('.').next_back()),
            None if label.is_empty() && ![from, to].contains(&"[*]") => (format!("to_{}", name(to)), None),
            None => (label.to_owned(), None),
        };
        drawn.push((event, name(from).to_owned(), name(to).to_owned(), guard));
    }
    let mut known = Vec::new();
    for (event, from, to, guard) in facts.edges {
        let guard = guard_name(guard).map(|_| *guard);
        known.push(((*event).to_owned(), (*from).to_owned(), (*to).to_owned(), guard));
    }
    for state in facts.states {
        let (star, state) = ("[*]".to_owned(), (*state).to_owned());
        if facts.initial.contains(&&*state) {
            known.push((String::new(), star.clone(), state.clone(), None));
        }
        if !facts.edges.iter().any(|(_, from, to, _)| *from == state && *to != state) {
            known.push((String::new(), state, star, None));
        }
    }
    drawn.sort();
    known.sort();
    assert_eq!(drawn, known);
}

/// A state is the same after it was shown, sent and stored.
async fn check_kept<M: Machine>(facts: &Facts, conn: &mut Db) {
    for (state, name) in M::STATES.iter().zip(facts.states) {
        assert_eq!(state.to_string(), *name);
        assert_eq!(name.parse::<M>().unwrap(), *state);
        assert_eq!(serde_json::to_value(state).unwrap(), *name);
        assert_eq!(serde_json::from_str::<M>(&serde_json::to_string(state).unwrap()).unwrap(), *state);
        let id = insert(conn, *state, 0).await.unwrap();
        let row = orders::table.find(id);
        assert_eq!(row.select(orders::status).first::<Option<String>>(conn).await.unwrap().as_deref(), Some(*name));
        assert_eq!(row.select(orders::status.assume_not_null()).first::<M>(conn).await.unwrap(), *state);
    }
}

async fn insert<M: Machine>(conn: &mut Db, state: M, amount: i64) -> QueryResult<i64> {
    let row = (orders::status.eq(state), orders::version.eq(0), orders::entered_at.eq(0), orders::amount.eq(amount));
    super::database::inserted!(conn, orders::table, row, orders::id).await
}

/// An event at a state comes to what the facts say: its answer, the row, and the history.
async fn check_fired<M: Machine>(
    facts: &Facts,
    bench: &Bench,
    (state, event, target): (&str, &str, Option<&str>),
    amount: i64,
) {
    let conn = &mut *bench.conn().await;
    let id = insert(conn, state.parse::<M>().unwrap(), amount).await.unwrap();
    let fire = EventOf::<M>::named(event).unwrap().of(id);
    let fire = match target {
        Some(target) => fire.to(&target.parse().unwrap()),
        None => fire,
    };
    let fired = fire.execute(conn).await;
    let told = format!("`{event}` at `{state}`, to {target:?}, with the guards {amount:b}: {fired:?}");
    let came = match fired {
        Ok(Transition::Applied(Moved { from, to })) => {
            assert_eq!(from.name(), state, "{told}");
            Outcome::Moved(to.to_string())
        }
        Ok(Transition::AlreadyApplied) => Outcome::Already,
        Err(TransitionError::Conflict { actual, needs, allowed, passed, guard, .. }) => {
            assert_eq!((&*actual, passed), (state, false), "{told}");
            let guard = guard.map(str::to_owned);
            Outcome::Conflict { needs: names(needs), allowed: names(allowed), guard }
        }
        Err(TransitionError::Undecided { actual, targets, chosen, .. }) => {
            assert_eq!((&*actual, chosen), (state, None), "{told}");
            Outcome::Undecided { targets: names(targets) }
        }
        Err(error) => panic!("{told}: {error}"),
    };
    let (stays, story) = match &came {
        Outcome::Moved(to) => (&**to, vec![line(event, state, to)]),
        _ => (state, Vec::new()),
    };
    assert_eq!(bench.status(id).await.as_deref(), Some(stays), "{told}");
    assert_eq!(bench.story(id).await, story, "{told}");
    assert_eq!(came, facts.outcome(state, event, amount, target), "{told}");
}
