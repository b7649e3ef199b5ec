async fn run_job(job: Job) -> Result<Report, JobError> {
    #[allow(clippy::unused_async)]
    async fn run_job(
        steps: &mut Steps<Db>,
        #[allow(unused_variables)]
        job: Job,
    ) -> Result<Report, JobError> {
        steps.run("work", async |key| job.work(key).await).await
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: "jobs.run",
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::run_job"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Expression,
        fingerprint: ::idempotent_runtime::__private::Print::Nothing,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::Default,
    };
    let __codec = ::idempotent_runtime::__private::plain::codec::<
        Result<Report, JobError>,
    >();
    match ::idempotent_runtime::__private::plain::open_stepped(
            __codec,
            &__POLICY,
            {
                #[allow(unused_variables)]
                {
                    let job = &job;
                    ::idempotent_runtime::__private::Terms::for_millis(604800000i64)
                        .key(&(job.id))
                        .arguments(&(job))
                }
            },
        )
        .await
    {
        ::idempotent_runtime::__private::plain::Opened::Done(__result) => __result,
        ::idempotent_runtime::__private::plain::Opened::Run(__span) => {
            let (__span, mut __steps) = __span.split();
            let __result = __span.catch(run_job(&mut __steps, job)).await;
            ::idempotent_runtime::__private::plain::close_leased(
                    __codec,
                    __span,
                    __result,
                )
                .await
        }
    }
}
