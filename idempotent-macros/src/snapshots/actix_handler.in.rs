async fn create_order(user: User, app: Data<App>, #[tx] conn: &mut Db, new: Json<NewOrder>) -> Result<HttpResponse, ApiError> {
    app.orders.insert(conn, user, new.into_inner()).await
}
