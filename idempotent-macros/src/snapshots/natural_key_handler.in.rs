async fn like(user: User, post: Post, #[tx] conn: &mut Db) -> StatusCode {
    StatusCode::CREATED
}
