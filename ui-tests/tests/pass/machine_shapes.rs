//! The shapes of machines that work.
#![deny(warnings)]

use ui_tests::StateMachine;

diesel::table! {
    /// Text for an id, and columns of other names in SQL.
    sagas (code) {
        code -> Text,
        #[sql_name = "type"]
        kind -> Nullable<Text>,
    }
}

mod inner {
    use ui_tests::StateMachine;

    /// Seen by its parent; terminal from the first state on.
    #[derive(StateMachine, Debug, Clone)]
    #[state_machine(table = super::sagas, column = kind, id = code)]
    #[state_machine(initial = Done, terminal = Done, transitions(touch: Open => Open))]
    pub(super) enum Inner {
        #[state(external)]
        Open,
        Done,
    }
}

/// Raw names, and numbers.
#[allow(non_camel_case_types)]
#[derive(StateMachine, Debug, Clone, Copy, PartialEq, Eq)]
#[state_machine(
    table = sagas, column = kind, id = code,
    initial = r#fn | Step2,
    rename_all = "camelCase",
    transitions(
        r#type: r#fn => Step2,
        type_: Step2 => r#fn,
        gen: { any - Step2 => Step2, Step2 => OnHold, },
        await: Step2 | OnHold => Step2 | OnHold,
    )
)]
enum Raw {
    r#fn = 1,
    Step2 = 2,
    OnHold = 4,
}

fn main() {
    /// In a function.
    #[derive(StateMachine, Debug, Clone)]
    #[state_machine(table = sagas, column = kind, id = code, initial = A, transitions(go: A => B))]
    enum Local {
        A,
        B,
    }

    assert_eq!(Local::go().name(), "go");
    assert_eq!(inner::Inner::touch().name(), "touch");
    assert_eq!(Raw::r#fn.name(), "fn");
    assert_eq!(Raw::STATES, [Raw::r#fn, Raw::Step2, Raw::OnHold]);
    assert_eq!(Raw::GRAPH.states[0].variant, "fn");
    let words: Vec<_> = Raw::GRAPH.events.iter().map(|event| event.ident).collect();
    assert_eq!(words, ["type", "type_", "gen", "await"]);
    let _ = (Raw::r#type(), Raw::type_(), Raw::r#gen(), Raw::r#await());
    assert_eq!(Raw::GRAPH.edges.iter().filter(|edge| edge.chosen).count(), 4);
}
