async fn pay(
    __call: ::idempotent_runtime::__private::Call<(User, State<App>)>,
) -> ::idempotent_runtime::__private::Response {
    #[allow(clippy::unused_async)]
    async fn pay(
        #[allow(unused_variables)]
        user: User,
        #[allow(unused_variables)]
        State(app): State<App>,
        steps: &mut Steps<Db>,
    ) -> Result<Json<Order>, ApiError> {
        steps.run("charge", async |key| app.charge(key).await).await
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::pay"),
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::pay"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Header(
            "idempotency-key",
            ::idempotent_runtime::__private::Need::Always,
        ),
        fingerprint: ::idempotent_runtime::__private::Print::Bytes,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::Default,
    };
    ::idempotent_runtime::__private::stepped(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (user, State(app)) = __args;
                ::idempotent_runtime::__private::Terms::for_millis(259200000i64)
                    .hold()
                    .lease_duration(app.lease)
                    .max_attempts(3)
                    .scope(&(user.id))
            },
            |__args, __steps| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    pay(__0, __1, __steps).await,
                )
            }),
        )
        .await
}
