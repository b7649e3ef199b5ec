async fn run_job(#[steps] steps: &mut Steps<Db>, job: Job) -> Result<Report, JobError> {
    steps.run("work", async |key| job.work(key).await).await
}
