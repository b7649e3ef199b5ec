//! What can be asked, and how it is answered.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Json, Router, middleware};
use examples::db::{Db, Pool};
use examples::problem::Problem;
use examples::server;
use examples::user::User;
use idempotent_runtime::idempotent;

use crate::post::{Author, Likes, Post};

/// The routes.
pub(crate) fn router(pool: Pool) -> Router {
    let reads = Router::new()
        .route("/posts/{id}/likes", get(count))
        .route("/authors/{name}", get(author))
        .layer(middleware::from_fn(server::to_the_end));
    let writes = Router::new().route("/posts/{id}/likes", axum::routing::post(like).delete(unlike));
    reads.merge(writes).with_state(pool)
}

/// Likes a post. The row, the point and the answer are one transaction.
#[idempotent(key = header(optional), ttl = "72h", scope = user.name)]
async fn like(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Json<Likes>, Problem> {
    let post = Post::find(conn, id).await?;
    post.set_like(conn, &user.name).await?;
    reward(conn, &user.name, &post).await?;
    Ok(Json(post.likes(conn).await?))
}

/// Takes a like back, if there is one. The author keeps the point.
#[idempotent(key = header(optional), ttl = "72h", scope = user.name)]
async fn unlike(user: User, Path(id): Path<i64>, #[tx] conn: &mut Db) -> Result<Json<Likes>, Problem> {
    let post = Post::find(conn, id).await?;
    post.unset_like(conn, &user.name).await?;
    Ok(Json(post.likes(conn).await?))
}

/// Gives the author a point for a user who likes the post: once for ever. On the connection of a handler's transaction
/// it is part of that, and so is its record.
#[idempotent(name = "likes.reward", key = (user, post.id), ttl = "forever")]
async fn reward(#[tx] conn: &mut Db, user: &str, post: &Post) -> Result<(), Problem> {
    post.reward_author(conn).await?;
    Ok(())
}

async fn count(Path(id): Path<i64>, State(pool): State<Pool>) -> Result<Json<Likes>, Problem> {
    let mut conn = pool.get().await?;
    let post = Post::find(&mut conn, id).await?;
    Ok(Json(post.likes(&mut conn).await?))
}

async fn author(Path(name): Path<String>, State(pool): State<Pool>) -> Result<Json<Author>, Problem> {
    let mut conn = pool.get().await?;
    Author::find(&mut conn, &name).await.map(Json)
}
