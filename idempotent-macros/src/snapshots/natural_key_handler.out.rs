async fn like(
    __call: ::idempotent_runtime::__private::Call<(User, Post)>,
) -> ::idempotent_runtime::__private::Response {
    #[allow(clippy::unused_async)]
    async fn like(
        #[allow(unused_variables)]
        user: User,
        #[allow(unused_variables)]
        post: Post,
        conn: &mut Db,
    ) -> StatusCode {
        StatusCode::CREATED
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: "likes.add",
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::like"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Expression,
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
                let (user, post) = __args;
                ::idempotent_runtime::__private::Terms::forever()
                    .key(&((user.id, post.id)))
            },
            |__args, __conn| ::idempotent_runtime::__private::boxed(async move {
                let (__0, __1) = __args;
                ::idempotent_runtime::__private::IntoResponse::into_response(
                    like(__0, __1, __conn).await,
                )
            }),
        )
        .await
}
