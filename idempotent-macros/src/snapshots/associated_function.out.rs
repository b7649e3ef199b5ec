#[doc(hidden)]
#[allow(clippy::unused_async)]
async fn __inner_create(
    user: User,
    Json(new): Json<New>,
) -> Result<Json<Order>, ApiError> {
    Self::build(user, new)
}
async fn create(
    __call: ::idempotent_runtime::__private::Call<(User, Json<New>)>,
) -> ::idempotent_runtime::__private::Response {
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: "Api::create",
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::create"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Header(
            "idempotency-key",
            ::idempotent_runtime::__private::Need::ByMethod,
        ),
        fingerprint: ::idempotent_runtime::__private::Print::Bytes,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::By(|status| status.is_success()),
    };
    ::idempotent_runtime::__private::leased(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (user, Json(new)) = __args;
                ::idempotent_runtime::__private::Terms::for_millis(3600000i64)
            },
            |__args| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    Self::__inner_create(__0, __1).await,
                )
            }),
        )
        .await
}
