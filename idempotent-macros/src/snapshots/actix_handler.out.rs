async fn create_order(
    __call: ::idempotent_runtime::__private::actix::Call<
        (User, Data<App>, Json<NewOrder>),
    >,
) -> ::idempotent_runtime::__private::actix::Response {
    #[allow(clippy::unused_async)]
    async fn create_order(
        #[allow(unused_variables)]
        user: User,
        app: Data<App>,
        conn: &mut Db,
        new: Json<NewOrder>,
    ) -> Result<HttpResponse, ApiError> {
        app.orders.insert(conn, user, new.into_inner()).await
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
    ::idempotent_runtime::__private::actix::extractor::<User>();
    ::idempotent_runtime::__private::actix::extractor::<Data<App>>();
    ::idempotent_runtime::__private::actix::extractor::<Json<NewOrder>>();
    let _ = ::idempotent_runtime::__private::connection::<Db>();
    ::idempotent_runtime::__private::actix::transactional::<
        Db,
        _,
        _,
    >(
            __call,
            &__POLICY,
            |__args| {
                #[allow(unused_variables)]
                let (user, app, new) = __args;
                ::idempotent_runtime::__private::Terms::for_millis(259200000i64)
                    .scope(&(user.id))
            },
            |__request, __args, __conn| ::idempotent_runtime::__private::actix::boxed(async move {
                let (__0, __1, __2) = __args;
                ::idempotent_runtime::__private::actix::respond(
                    create_order(__0, __1, __conn, __2).await,
                    &__request,
                )
            }),
        )
        .await
}
