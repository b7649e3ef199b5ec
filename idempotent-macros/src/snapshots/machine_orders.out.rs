const _: () = {
    #[automatically_derived]
    #[allow(deprecated)]
    impl ::idempotent_runtime::__private::StateMachine for OrderStatus {
        type IdType = <crate::schema::orders::columns::id as ::idempotent_runtime::__private::diesel::Expression>::SqlType;
        type Row = ::idempotent_runtime::__private::NoRow;
        const GRAPH: &'static ::idempotent_runtime::__private::Graph = &::idempotent_runtime::__private::Graph {
            name: "OrderStatus",
            states: &[
                ::idempotent_runtime::__private::GraphState {
                    variant: "Created",
                    name: "created",
                    aliases: &[],
                    initial: true,
                    terminal: false,
                },
                ::idempotent_runtime::__private::GraphState {
                    variant: "Paid",
                    name: "paid in full",
                    aliases: &["paid", "PAID"],
                    initial: false,
                    terminal: false,
                },
                ::idempotent_runtime::__private::GraphState {
                    variant: "Cancelled",
                    name: "cancelled",
                    aliases: &[],
                    initial: false,
                    terminal: true,
                },
            ],
            events: &[
                ::idempotent_runtime::__private::GraphEvent {
                    ident: "pay",
                    name: "pay",
                    named: true,
                },
                ::idempotent_runtime::__private::GraphEvent {
                    ident: "cancel",
                    name: "cancel",
                    named: true,
                },
                ::idempotent_runtime::__private::GraphEvent {
                    ident: "touch",
                    name: "touch",
                    named: true,
                },
            ],
            edges: &[
                ::idempotent_runtime::__private::GraphEdge {
                    event: 0,
                    from: 0,
                    to: 1,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::idempotent_runtime::__private::GraphEdge {
                    event: 1,
                    from: 0,
                    to: 2,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::idempotent_runtime::__private::GraphEdge {
                    event: 1,
                    from: 1,
                    to: 2,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::idempotent_runtime::__private::GraphEdge {
                    event: 2,
                    from: 1,
                    to: 1,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
            ],
            expiry: ::core::option::Option::Some(::idempotent_runtime::__private::Expiry {
                after_ms: 1800000,
                to: 2,
                from: &[0],
            }),
        };
        const STATES: &'static [Self] = &[Self::Created, Self::Paid, Self::Cancelled];
        const COLUMNS: &'static ::idempotent_runtime::__private::Columns = &::idempotent_runtime::__private::Columns {
            state: ::idempotent_runtime::__private::state_column(
                &{ crate::schema::orders::columns::status },
            ),
            id: <crate::schema::orders::columns::id as ::idempotent_runtime::__private::diesel::Column>::NAME,
            version: ::core::option::Option::Some(
                ::idempotent_runtime::__private::number_column(
                    &{ crate::schema::orders::columns::version },
                ),
            ),
            entered: ::core::option::Option::Some(
                ::idempotent_runtime::__private::number_column(
                    &{ crate::schema::orders::columns::entered_at },
                ),
            ),
            key: ::core::option::Option::Some(
                ::idempotent_runtime::__private::state_column(
                    &{ crate::schema::orders::columns::charge_key },
                ),
            ),
            history: true,
            history_id: <crate::schema::order_history::columns::order_id as ::idempotent_runtime::__private::diesel::Column>::NAME,
        };
        fn tables() -> ::idempotent_runtime::__private::Tables {
            ::idempotent_runtime::__private::Tables {
                table: ::idempotent_runtime::__private::TableName::of(
                    &crate::schema::orders::table,
                    "orders",
                ),
                history: ::core::option::Option::Some(
                    ::idempotent_runtime::__private::TableName::of(
                        &crate::schema::order_history::table,
                        "order_history",
                    ),
                ),
            }
        }
        fn name(&self) -> &::core::primitive::str {
            match self {
                Self::Created => "created",
                Self::Paid => "paid in full",
                Self::Cancelled => "cancelled",
            }
        }
        fn of_other(_: &::core::primitive::str) -> ::core::option::Option<Self> {
            ::core::option::Option::None
        }
        fn passes(
            _: ::core::primitive::usize,
            _: &Self::Row,
        ) -> ::core::primitive::bool {
            true
        }
    }
    #[allow(
        dead_code,
        non_snake_case,
        unreachable_pub,
        clippy::double_must_use,
        clippy::new_ret_no_self,
        clippy::should_implement_trait,
        clippy::wrong_self_convention
    )]
    impl OrderStatus {
        /// The event `pay`: `created` → `paid in full`.
        #[must_use]
        pub const fn pay() -> ::idempotent_runtime::__private::EventOf<Self> {
            ::idempotent_runtime::__private::EventOf::new(0)
        }
        /// The event `cancel`: `created` or `paid in full` → `cancelled`.
        #[must_use]
        pub const fn cancel() -> ::idempotent_runtime::__private::EventOf<Self> {
            ::idempotent_runtime::__private::EventOf::new(1)
        }
        /// The event `touch`: `paid in full` → `paid in full`.
        #[must_use]
        pub const fn touch() -> ::idempotent_runtime::__private::EventOf<Self> {
            ::idempotent_runtime::__private::EventOf::new(2)
        }
    }
    const _: [&::core::primitive::str; 7] = [
        <crate::schema::order_history::columns::event as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::source as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::target as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::actor as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::reason as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::metadata as ::idempotent_runtime::__private::diesel::Column>::NAME,
        <crate::schema::order_history::columns::at as ::idempotent_runtime::__private::diesel::Column>::NAME,
    ];
    ::idempotent_runtime::__private::state_machine_impls!(OrderStatus);
};
