pub(crate) async fn run_job(job: &Job, Limits { most, .. }: Limits) -> Result<Report, JobError> {
    job.run(most).await
}
