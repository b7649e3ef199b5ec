async fn pay<T: Provider>(
    __call: ::idempotent_runtime::__private::Call<(State<App<T>>, Json<Card>)>,
) -> ::idempotent_runtime::__private::Response {
    #[tracing::instrument]
    #[allow(clippy::unused_async)]
    async fn pay<T: Provider>(
        #[allow(unused_variables)]
        State(app): State<App<T>>,
        Json(card): Json<Card>,
    ) -> Response {
        app.charge(card).await
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::pay"),
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::pay"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Header(
            "x-request-id",
            ::idempotent_runtime::__private::Need::Optional,
        ),
        fingerprint: ::idempotent_runtime::__private::Print::Bytes,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::Success,
    };
    ::idempotent_runtime::__private::leased(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (State(app), Json(card)) = __args;
                ::idempotent_runtime::__private::Terms::for_duration(app.ttl)
                    .lease_duration(app.lease)
                    .engine(&(app.engine))
            },
            |__args| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    pay::<T>(__0, __1).await,
                )
            }),
        )
        .await
}
