/// Creates an order.
pub async fn create_order(
    __call: ::idempotent_runtime::__private::Call<(User, State<App>, Json<NewOrder>)>,
) -> ::idempotent_runtime::__private::Response {
    #[allow(clippy::unused_async)]
    async fn create_order(
        #[allow(unused_variables)]
        user: User,
        State(app): State<App>,
        conn: &mut Db,
        Json(mut new): Json<NewOrder>,
    ) -> Result<(StatusCode, Json<Order>), ApiError> {
        new.check()?;
        app.orders.insert(conn, new).await
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
        fingerprint: ::idempotent_runtime::__private::Print::Bytes,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::Default,
    };
    let _ = ::idempotent_runtime::__private::connection::<Db>();
    ::idempotent_runtime::__private::transactional::<
        Db,
        _,
        _,
    >(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (user, State(app), Json(new)) = __args;
                ::idempotent_runtime::__private::Terms::for_millis(259200000i64)
                    .scope(&(user.id))
            },
            |__args, __conn| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1, __2) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    create_order(__0, __1, __conn, __2).await,
                )
            }),
        )
        .await
}
