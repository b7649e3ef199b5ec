pub(crate) async fn run_job(job: &Job, __1: Limits) -> Result<Report, JobError> {
    #[allow(clippy::unused_async)]
    async fn run_job(
        #[allow(unused_variables)]
        job: &Job,
        Limits { most, .. }: Limits,
    ) -> Result<Report, JobError> {
        job.run(most).await
    }
    static __POLICY: ::reexported::runtime::__private::Policy = ::reexported::runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::run_job"),
        place: ::reexported::runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::run_job"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::reexported::runtime::__private::KeySource::Expression,
        fingerprint: ::reexported::runtime::__private::Print::Nothing,
        in_flight: ::reexported::runtime::__private::InFlight::Reject,
        keep: ::reexported::runtime::__private::Keep::Default,
    };
    let __codec = ::reexported::runtime::__private::plain::codec::<
        Result<Report, JobError>,
    >();
    match ::reexported::runtime::__private::plain::open_leased(
            __codec,
            &__POLICY,
            {
                #[allow(unused_variables)]
                {
                    let job = &job;
                    let Limits { most, .. } = &__1;
                    ::reexported::runtime::__private::Terms::for_millis(604800000i64)
                        .lease_millis(300000i64)
                        .key(&(job.id))
                }
            },
        )
        .await
    {
        ::reexported::runtime::__private::plain::Opened::Done(__result) => __result,
        ::reexported::runtime::__private::plain::Opened::Run(__span) => {
            let __result = __span.catch(run_job(job, __1)).await;
            ::reexported::runtime::__private::plain::close_leased(
                    __codec,
                    __span,
                    __result,
                )
                .await
        }
    }
}
