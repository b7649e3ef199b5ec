fn run_job(#[steps] steps: &mut Steps<PgConnection>, job: &Job) -> Result<Report, JobError> {
    steps.run("work", |key| job.work(key))
}
