async fn create(user: User, Json(new): Json<New>) -> Result<Json<Order>, ApiError> {
    Self::build(user, new)
}
