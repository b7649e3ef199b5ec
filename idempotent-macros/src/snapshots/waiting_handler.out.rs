#[cfg(feature = "orders")]
///The policy of [`create_order`], to be published.
pub(crate) const CREATE_ORDER: ::idempotent_runtime::RoutePolicy = ::idempotent_runtime::__private::route_policy(
    ::idempotent_runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::create_order"),
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::create_order"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Header(
            "idempotency-key",
            ::idempotent_runtime::__private::Need::ByMethod,
        ),
        fingerprint: ::idempotent_runtime::__private::Print::Json,
        in_flight: ::idempotent_runtime::__private::InFlight::Wait {
            millis: 5000u64,
        },
        keep: ::idempotent_runtime::__private::Keep::Default,
    },
    ::idempotent_runtime::__private::Kept::Millis(259200000i64),
);
#[cfg(feature = "orders")]
pub(crate) async fn create_order(
    __call: ::idempotent_runtime::__private::Call<(State<App>, Json<NewOrder>)>,
) -> ::idempotent_runtime::__private::Response {
    #[allow(clippy::unused_async)]
    async fn create_order(
        State(app): State<App>,
        Json(new): Json<NewOrder>,
    ) -> Json<Order> {
        Json(app.create(new).await)
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::create_order"),
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::create_order"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Header(
            "idempotency-key",
            ::idempotent_runtime::__private::Need::ByMethod,
        ),
        fingerprint: ::idempotent_runtime::__private::Print::Json,
        in_flight: ::idempotent_runtime::__private::InFlight::Wait {
            millis: 5000u64,
        },
        keep: ::idempotent_runtime::__private::Keep::Default,
    };
    ::idempotent_runtime::__private::leased(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (State(app), Json(new)) = __args;
                ::idempotent_runtime::__private::Terms::for_millis(259200000i64)
            },
            |__args| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    create_order(__0, __1).await,
                )
            }),
        )
        .await
}
