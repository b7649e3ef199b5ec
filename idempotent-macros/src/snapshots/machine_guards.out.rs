const _: () = {
    #[automatically_derived]
    #[allow(deprecated)]
    impl ::reexported::runtime::__private::StateMachine for CheckoutState {
        type IdType = <orders::columns::id as ::reexported::runtime::__private::diesel::Expression>::SqlType;
        type Row = Order;
        const GRAPH: &'static ::reexported::runtime::__private::Graph = &::reexported::runtime::__private::Graph {
            name: "CheckoutState",
            states: &[
                ::reexported::runtime::__private::GraphState {
                    variant: "Cart",
                    name: "cart",
                    aliases: &[],
                    initial: true,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Address",
                    name: "address",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Delivery",
                    name: "delivery",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Payment",
                    name: "payment",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Confirm",
                    name: "confirm",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Success",
                    name: "success",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Failed",
                    name: "failed",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Returned",
                    name: "returned",
                    aliases: &[],
                    initial: false,
                    terminal: true,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "TimedOut",
                    name: "timed-out",
                    aliases: &[],
                    initial: false,
                    terminal: false,
                },
                ::reexported::runtime::__private::GraphState {
                    variant: "Disputed",
                    name: "disputed",
                    aliases: &[],
                    initial: false,
                    terminal: true,
                },
            ],
            events: &[
                ::reexported::runtime::__private::GraphEvent {
                    ident: "next",
                    name: "next",
                    named: true,
                },
                ::reexported::runtime::__private::GraphEvent {
                    ident: "authorize",
                    name: "authorize",
                    named: true,
                },
                ::reexported::runtime::__private::GraphEvent {
                    ident: "void_success",
                    name: "OP_VOID/SUCCESS",
                    named: true,
                },
                ::reexported::runtime::__private::GraphEvent {
                    ident: "return",
                    name: "return",
                    named: true,
                },
                ::reexported::runtime::__private::GraphEvent {
                    ident: "settle",
                    name: "settle",
                    named: true,
                },
                ::reexported::runtime::__private::GraphEvent {
                    ident: "to_timed_out",
                    name: "to_timed-out",
                    named: false,
                },
            ],
            edges: &[
                ::reexported::runtime::__private::GraphEdge {
                    event: 0,
                    from: 0,
                    to: 1,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 0,
                    from: 2,
                    to: 3,
                    guard: ::core::option::Option::Some("Order::needs_payment"),
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 0,
                    from: 2,
                    to: 4,
                    guard: ::core::option::Option::Some("is_free::<{2}>"),
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 0,
                    from: 1,
                    to: 2,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 1,
                    from: 3,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 1,
                    from: 3,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 1,
                    from: 4,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 1,
                    from: 4,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 2,
                    from: 5,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 3,
                    from: 5,
                    to: 7,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 1,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 1,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 2,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 2,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 3,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 3,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 4,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 4,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 5,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 6,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 8,
                    to: 6,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 4,
                    from: 8,
                    to: 5,
                    guard: ::core::option::Option::None,
                    chosen: true,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 0,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 1,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 2,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 3,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 4,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
                ::reexported::runtime::__private::GraphEdge {
                    event: 5,
                    from: 5,
                    to: 8,
                    guard: ::core::option::Option::None,
                    chosen: false,
                },
            ],
            expiry: ::core::option::Option::Some(::reexported::runtime::__private::Expiry {
                after_ms: 3600000,
                to: 8,
                from: &[0, 1, 2, 3, 4, 5],
            }),
        };
        const STATES: &'static [Self] = &[
            Self::Cart,
            Self::Address,
            Self::Delivery,
            Self::Payment,
            Self::Confirm,
            Self::Success,
            Self::Failed,
            Self::Returned,
            Self::TimedOut,
            Self::Disputed,
        ];
        const COLUMNS: &'static ::reexported::runtime::__private::Columns = &::reexported::runtime::__private::Columns {
            state: ::reexported::runtime::__private::state_column(
                &{ orders::columns::status },
            ),
            id: <orders::columns::id as ::reexported::runtime::__private::diesel::Column>::NAME,
            version: ::core::option::Option::None,
            entered: ::core::option::Option::Some(
                ::reexported::runtime::__private::number_column(
                    &{ orders::columns::entered_at },
                ),
            ),
            key: ::core::option::Option::None,
            history: false,
            history_id: "row_id",
        };
        fn tables() -> ::reexported::runtime::__private::Tables {
            ::reexported::runtime::__private::Tables {
                table: ::reexported::runtime::__private::TableName::of(
                    &orders::table,
                    "orders",
                ),
                history: ::core::option::Option::None,
            }
        }
        fn name(&self) -> &::core::primitive::str {
            match self {
                Self::Cart => "cart",
                Self::Address => "address",
                Self::Delivery => "delivery",
                Self::Payment => "payment",
                Self::Confirm => "confirm",
                Self::Success => "success",
                Self::Failed => "failed",
                Self::Returned => "returned",
                Self::TimedOut => "timed-out",
                Self::Disputed => "disputed",
                Self::Unknown(__name) => {
                    ::core::convert::AsRef::<::core::primitive::str>::as_ref(__name)
                }
            }
        }
        fn of_other(__name: &::core::primitive::str) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(
                Self::Unknown(::core::convert::From::from(__name)),
            )
        }
        fn passes(
            __edge: ::core::primitive::usize,
            __row: &Self::Row,
        ) -> ::core::primitive::bool {
            match __edge {
                1 => {
                    let __guard: fn(&Self::Row) -> ::core::primitive::bool = Order::needs_payment;
                    __guard(__row)
                }
                2 => {
                    let __guard: fn(&Self::Row) -> ::core::primitive::bool = is_free::<
                        { 2 },
                    >;
                    __guard(__row)
                }
                _ => true,
            }
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
    impl CheckoutState {
        /// The event `next`: `cart` → `address`; `delivery` → `payment` if `Order::needs_payment`; `delivery` → `confirm` if `is_free::<{2}>`; `address` → `delivery`.
        #[must_use]
        pub(crate) const fn next() -> ::reexported::runtime::__private::EventOf<Self> {
            ::reexported::runtime::__private::EventOf::new(0)
        }
        /// The event `authorize`: `payment` or `confirm` → `success` or `failed`.
        #[must_use]
        pub(crate) const fn authorize() -> ::reexported::runtime::__private::EventOf<
            Self,
        > {
            ::reexported::runtime::__private::EventOf::new(1)
        }
        /// The event `OP_VOID/SUCCESS`: `success` → `failed`.
        #[must_use]
        pub(crate) const fn void_success() -> ::reexported::runtime::__private::EventOf<
            Self,
        > {
            ::reexported::runtime::__private::EventOf::new(2)
        }
        /// The event `return`: `success` → `returned`.
        #[must_use]
        pub(crate) const fn r#return() -> ::reexported::runtime::__private::EventOf<
            Self,
        > {
            ::reexported::runtime::__private::EventOf::new(3)
        }
        /// The event `settle`: `address` or `delivery` or `payment` or `confirm` or `timed-out` → `failed` or `success`; `success` → `failed`; `failed` → `success`.
        #[must_use]
        pub(crate) const fn settle() -> ::reexported::runtime::__private::EventOf<Self> {
            ::reexported::runtime::__private::EventOf::new(4)
        }
        /// The event `to_timed-out`: `cart` or `address` or `delivery` or `payment` or `confirm` or `success` → `timed-out`.
        #[must_use]
        pub(crate) const fn to_timed_out() -> ::reexported::runtime::__private::EventOf<
            Self,
        > {
            ::reexported::runtime::__private::EventOf::new(5)
        }
    }
    ::reexported::runtime::__private::state_machine_impls!(CheckoutState);
};
