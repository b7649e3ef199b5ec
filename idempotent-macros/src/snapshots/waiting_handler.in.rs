#[cfg(feature = "orders")]
pub(crate) async fn create_order(State(app): State<App>, Json(new): Json<NewOrder>) -> Json<Order> {
    Json(app.create(new).await)
}
