async fn pay(user: User, State(app): State<App>, #[steps] steps: &mut Steps<Db>) -> Result<Json<Order>, ApiError> {
    steps.run("charge", async |key| app.charge(key).await).await
}
