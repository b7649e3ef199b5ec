#[tracing::instrument]
async fn pay<T: Provider>(State(app): State<App<T>>, Json(card): Json<Card>) -> Response {
    app.charge(card).await
}
