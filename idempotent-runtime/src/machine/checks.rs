//! What a transition asks, held against the graph while the user's crate is compiled.

#![allow(clippy::missing_panics_doc, reason = "to panic is what a check is for: the compiler shows it")]

use super::ask::{Ask, Sources};
use super::graph::Graph;
use super::message::{Message, same};

const fn has_state(graph: &Graph, variant: &str) -> bool {
    let mut n = 0;
    while n < graph.states.len() {
        if same(graph.states[n].variant, variant) {
            return true;
        }
        n += 1;
    }
    false
}

/// Refuses a state that the machine does not have.
#[track_caller]
pub const fn check_state(graph: &Graph, variant: &str) {
    // A machine with mistakes of its own has said so.
    if has_state(graph, variant) || graph.states.is_empty() {
        return;
    }
    let mut message = Message::new();
    message.push("machine `").push(graph.name).push("` has no state `").push(variant).push("`; expected one of ");
    let mut n = 0;
    while n < graph.states.len() {
        message.item(graph.states[n].variant);
        n += 1;
    }
    panic!("{}", message.text());
}

/// Refuses an event that the machine does not have.
#[track_caller]
pub const fn check_event(graph: &Graph, event: &str) {
    if graph.states.is_empty() {
        return;
    }
    let mut n = 0;
    while n < graph.events.len() {
        if same(graph.events[n].ident, event) {
            return;
        }
        n += 1;
    }
    let mut message = Message::new();
    message.push("machine `").push(graph.name).push("` has no event `").push(event).push("`; expected one of ");
    let mut n = 0;
    while n < graph.events.len() {
        message.item(graph.events[n].ident);
        n += 1;
    }
    panic!("{}", message.text());
}

/// Refuses an edge that the graph does not have: `to` must be reached from every named source.
#[track_caller]
pub const fn check_edge(graph: &Graph, from: Sources, to: &str) {
    if !has_state(graph, to) {
        return;
    }
    let mut any = false;
    let mut n = 0;
    while n < graph.states.len() {
        let variant = graph.states[n].variant;
        if from.admit(graph, n) {
            let edges = count_edges(graph, n, to);
            any |= edges > 0;
            if edges == 0 && matches!(from, Sources::Of(_)) {
                refuse_edge(graph, n, to);
            }
            if edges > 1 {
                let mut message = Message::new();
                message.push("several events lead from `").push(variant).push("` to `").push(to);
                message.push("`; write `event = …` with one of ");
                push_events(&mut message, graph, n, to);
                panic!("{}", message.text());
            }
        }
        n += 1;
    }
    if !any && !matches!(from, Sources::Of(_)) {
        let mut message = Message::new();
        message
            .push("machine `")
            .push(graph.name)
            .push("` has no edge to `")
            .push(to)
            .push("` from any of these states");
        panic!("{}", message.text());
    }
}

/// The events that lead from a state to another.
const fn count_edges(graph: &Graph, from: usize, to: &str) -> usize {
    let mut found = 0;
    let mut n = 0;
    while n < graph.edges.len() {
        let edge = &graph.edges[n];
        if edge.from == from && same(graph.states[edge.to].variant, to) {
            found += 1;
        }
        n += 1;
    }
    found
}

const fn push_events(message: &mut Message, graph: &Graph, from: usize, to: &str) {
    let mut n = 0;
    while n < graph.edges.len() {
        let edge = &graph.edges[n];
        if edge.from == from && same(graph.states[edge.to].variant, to) {
            message.item(graph.events[edge.event].ident);
        }
        n += 1;
    }
}

#[track_caller]
const fn refuse_edge(graph: &Graph, from: usize, to: &str) -> ! {
    let mut message = Message::new();
    let variant = graph.states[from].variant;
    message.push("machine `").push(graph.name).push("` has no edge `").push(variant).push(" => ").push(to);
    message.push("`; from `").push(variant).push("` it allows ");
    let mut none = true;
    let mut n = 0;
    while n < graph.edges.len() {
        let edge = &graph.edges[n];
        if edge.from == from {
            none = false;
            message.item(graph.states[edge.to].variant);
        }
        n += 1;
    }
    if none {
        message.push("nothing");
    }
    panic!("{}", message.text());
}

/// Refuses a transition whose outcome must choose, and says nothing of it; and one that says so without a choice.
#[track_caller]
pub const fn check_outcome(graph: &Graph, ask: &Ask, says: bool) {
    let chosen = ask.is_chosen(graph);
    if chosen && !says {
        let mut message = Message::new();
        message.push("the outcome chooses between ");
        let mut n = 0;
        while n < graph.edges.len() {
            let edge = &graph.edges[n];
            if ask.admits(graph, edge) {
                message.item(graph.states[edge.to].variant);
            }
            n += 1;
        }
        message.push("; write `outcome = |value| …` with the state that a value leads to");
        panic!("{}", message.text());
    }
    assert!(chosen || !says || graph.states.is_empty(), "the graph leaves the outcome no choice; remove `outcome`");
}

/// Refuses what needs a column that the machine does not declare.
#[track_caller]
pub const fn check_needs(declared: bool, what: &str, fix: &str) {
    if !declared {
        let mut message = Message::new();
        message.push(what).push(" needs ").push(fix);
        panic!("{}", message.text());
    }
}
