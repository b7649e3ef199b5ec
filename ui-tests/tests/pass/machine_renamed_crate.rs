//! The runtime under another name, and behind a re-export.

extern crate idempotent_runtime as renamed_runtime;

mod reexports {
    pub mod runtime {
        pub use renamed_runtime::*;
    }
}

use renamed_runtime::StateMachine;
use ui_tests::schema::orders;

#[derive(StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid),
    crate = renamed_runtime,
)]
enum Renamed {
    Created,
    Paid,
}

#[derive(reexports::runtime::StateMachine, Debug, Clone, Copy)]
#[state_machine(
    table = orders, column = status, id = id,
    initial = Created,
    transitions(pay: Created => Paid),
    crate = crate::reexports::runtime,
)]
enum Reexported {
    Created,
    Paid,
}

fn main() {
    assert_eq!(Renamed::GRAPH.name, "Renamed");
    assert_eq!(Reexported::pay().name(), "pay");
}
