//! The machine: everything that was said of it, checked.

use proc_macro2::Ident;
use syn::Visibility;

use super::args::Args;
use super::checks::check_graph;
use super::events::check_events;
use super::expiry::Expiry;
use super::graph::Graph;
use super::states::States;
use super::variants::Variant;
use crate::errors::Errors;

/// Everything that an expansion needs.
pub(super) struct Machine<'m> {
    pub(super) visibility: &'m Visibility,
    pub(super) ident: &'m Ident,
    pub(super) args: &'m Args,
    pub(super) states: States<'m>,
    pub(super) graph: Graph<'m>,
    pub(super) expiry: Option<Expiry>,
    /// Whether it has no mistake. One with mistakes is expanded for show, without a graph.
    pub(super) sound: bool,
}

impl<'m> Machine<'m> {
    /// Checks everything, so that one compile shows every mistake.
    pub(super) fn check(
        visibility: &'m Visibility,
        ident: &'m Ident,
        args: &'m Args,
        variants: &'m [Variant],
        errors: &mut Errors,
    ) -> Self {
        check_required(args, variants, errors);
        check_columns(args, errors);
        let states = States::check(variants, args, errors);
        let mut graph = Graph::resolve(&args.transitions, &states, errors);
        check_events(&mut graph, &states, args, errors);
        check_graph(&graph, &states, args, errors);
        let expiry = Expiry::check(args, &graph, &states, errors);
        Self { visibility, ident, args, states, graph, expiry, sound: errors.is_empty() }
    }
}

fn check_required(args: &Args, variants: &[Variant], errors: &mut Errors) {
    let name =
        |n: usize, otherwise: &str| variants.get(n).map_or(otherwise.to_owned(), |state| state.ident.to_string());
    let (first, second) = (name(0, "Created"), name(1, "Paid"));
    let transitions = format!("`transitions(advance: {first} => {second}, …)`");
    let mut missing = |message: String| errors.push(syn::Error::new(args.span(), message));
    if !args.has_attribute() {
        missing(format!(
            "missing `#[state_machine(…)]`; write `#[state_machine(table = crate::schema::orders, column = status, id = id, initial = {first}, transitions(advance: {first} => {second}, …))]` on the enum"
        ));
        return;
    }
    for (argument, way_out) in [
        ("table", "`table = crate::schema::orders`, the diesel table that the machine is kept in"),
        ("column", "`column = status`, the column that holds the state"),
        ("id", "`id = id`, the column that names a row"),
        ("transitions", &transitions),
    ] {
        if !args.is_meant(argument) {
            missing(format!("missing `{argument}` argument; write {way_out}"));
        }
    }
}

/// What columns are there for, one by one.
fn check_columns(args: &Args, errors: &mut Errors) {
    let Args { column, id, version, entered, key, history_id, .. } = args;
    if let Some(history_id) = history_id
        && !args.is_meant("history")
    {
        errors.at(
            history_id,
            "`history_id` is a column of the history, and there is none; write `history = crate::schema::order_history`, or remove `history_id`",
        );
    }
    let columns = [("column", column), ("id", id), ("version", version), ("entered", entered), ("key", key)];
    for (n, (argument, column)) in columns.iter().enumerate() {
        let same = columns[..n].iter().find(|(_, other)| column.is_some() && *other == *column);
        if let Some((first, _)) = same {
            errors.at(
                column,
                format_args!(
                    "`{argument}` needs a column of its own, and this one is the `{first}`; write another one"
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;

    /// What `see` sees of a machine with the states A to D, terminal T, and one for unknown names.
    fn with_machine<R>(arguments: &str, see: impl FnOnce(&Machine<'_>, &Errors) -> R) -> R {
        let item = format!(
            "#[state_machine(table = orders, column = status, id = id, entered = at, initial = A, {arguments})]
            enum Order {{ A, B, C, D, #[state(terminal)] T, #[state(other)] Unknown(String) }}"
        );
        let item: syn::ItemEnum = syn::parse_str(&item).unwrap();
        let mut errors = Errors::default();
        let args = Args::parse(&item.attrs, &mut errors);
        let variants: Vec<_> = item.variants.into_iter().map(|variant| Variant::parse(variant, &mut errors)).collect();
        let machine = Machine::check(&item.vis, &item.ident, &args, &variants, &mut errors);
        see(&machine, &errors)
    }

    /// The edges of a machine without mistakes, those with `?` that the outcome chooses.
    fn edges(transitions: &str) -> String {
        with_machine(&format!("transitions({transitions})"), |machine, errors| {
            assert!(errors.is_empty(), "{}", errors.to_token_stream());
            let name = |state: usize| machine.states.ident(state).to_string();
            let edge = |edge: &crate::state_machine::graph::Edge<'_>| {
                format!("{}{}{}", name(edge.from), if edge.chosen { "?" } else { "" }, name(edge.to))
            };
            machine.graph.edges.iter().map(edge).collect::<Vec<_>>().join(" ")
        })
    }

    fn mistakes(arguments: &str) -> String {
        with_machine(arguments, |_, errors| errors.to_token_stream().to_string())
    }

    const REST: &str = "rest: A => B | C | D | T";

    #[test]
    fn any_is_every_state_but_the_terminal_ones_and_the_target() {
        assert_eq!(edges(&format!("{REST}, x: any => T")), "A?B A?C A?D A?T AT BT CT DT");
        assert_eq!(edges(&format!("{REST}, x: any => B")), "A?B A?C A?D A?T AB CB DB");
    }

    #[test]
    fn any_is_without_the_states_that_are_taken_out() {
        assert_eq!(edges(&format!("{REST}, x: any - A - C => B")), "A?B A?C A?D A?T DB");
        assert_eq!(edges(&format!("{REST}, x: any - T => B")), "A?B A?C A?D A?T AB CB DB");
    }

    #[test]
    fn of_several_targets_any_leaves_out_the_state_itself() {
        assert_eq!(edges(&format!("{REST}, x: any - C - D => A | B")), "A?B A?C A?D A?T AB BA");
        assert_eq!(edges(&format!("{REST}, x: any - C - D => A | B | C")), "A?B A?C A?D A?T A?B A?C B?A B?C");
    }

    #[test]
    fn an_arrow_is_read_by_its_sources_and_then_by_its_targets() {
        assert_eq!(edges(&format!("{REST}, x: {{ B | A => D | C, D => D }}")), "A?B A?C A?D A?T B?D B?C A?D A?C DD");
    }

    #[test]
    fn edges_without_a_name_are_one_event_for_each_target() {
        let events = |machine: &Machine<'_>, _: &Errors| {
            machine.graph.events.iter().map(|event| event.name.clone()).collect::<Vec<_>>()
        };
        let events = with_machine("transitions(A => B, A => C, go: C => D, C => B, D => T)", events);
        assert_eq!(events, ["to_b", "to_c", "go", "to_t"]);
    }

    #[test]
    fn what_expires_leaves_every_state_with_a_free_edge() {
        let arguments = "row = Row, expires(after = \"1m\", to = D), \
            transitions(A => D, B => D if late, choose: C => D | T, stay: D => D, rest: A => B | C)";
        let expiry = with_machine(arguments, |machine, errors| {
            assert!(errors.is_empty(), "{}", errors.to_token_stream());
            machine.expiry.as_ref().map(|expiry| (expiry.after_ms, expiry.to, expiry.from.clone()))
        });
        assert_eq!(expiry, Some((60_000, 3, vec![0])));
    }

    #[test]
    fn a_mistake_hides_no_other_and_causes_none() {
        let said = mistakes("transitions(go: A => B, go: B => C, end: T => D)");
        assert_eq!(said.matches("declared more than once").count(), 2);
        assert!(said.contains("nothing leaves `T`") && said.contains("state `T` is never entered"), "{said}");
        let said = mistakes("transitions(go: A => Bee)");
        assert!(said.contains("unknown state `Bee`") && !said.contains("never entered"), "{said}");
    }
}
