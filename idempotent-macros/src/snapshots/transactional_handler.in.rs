/// Creates an order.
pub async fn create_order(
    user: User,
    State(app): State<App>,
    #[tx] conn: &mut Db,
    Json(mut new): Json<NewOrder>,
) -> Result<(StatusCode, Json<Order>), ApiError> {
    new.check()?;
    app.orders.insert(conn, new).await
}
