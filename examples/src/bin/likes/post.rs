//! Posts, who likes them, and who wrote them.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use examples::db::Db;
use examples::problem::Problem;
use serde::Serialize;

use crate::schema::{authors, likes, posts};

/// A post.
#[derive(Debug, Queryable, Selectable)]
pub(crate) struct Post {
    pub(crate) id: i64,
    author: String,
}

/// How many users like a post.
#[derive(Debug, Serialize)]
pub(crate) struct Likes {
    post: i64,
    likes: i64,
}

impl Post {
    pub(crate) async fn find(conn: &mut Db, id: i64) -> Result<Self, Problem> {
        let post = posts::table.find(id).select(Self::as_select()).first(conn).await;
        post.optional()?.ok_or(Problem::NotFound)
    }

    /// Sees to it that the user likes the post.
    pub(crate) async fn set_like(&self, conn: &mut Db, user: &str) -> QueryResult<()> {
        let row = (likes::post_id.eq(self.id), likes::user.eq(user));
        diesel::insert_into(likes::table).values(row).on_conflict_do_nothing().execute(conn).await.map(drop)
    }

    /// Sees to it that the user does not.
    pub(crate) async fn unset_like(&self, conn: &mut Db, user: &str) -> QueryResult<()> {
        diesel::delete(likes::table.find((self.id, user))).execute(conn).await.map(drop)
    }

    pub(crate) async fn likes(&self, conn: &mut Db) -> QueryResult<Likes> {
        let count = likes::table.filter(likes::post_id.eq(self.id)).count().get_result(conn).await?;
        Ok(Likes { post: self.id, likes: count })
    }

    /// Another point, by a sum that the database does: two at once are two.
    pub(crate) async fn reward_author(&self, conn: &mut Db) -> QueryResult<()> {
        let more = diesel::update(authors::table.find(&self.author)).set(authors::points.eq(authors::points + 1));
        more.execute(conn).await.map(drop)
    }
}

/// Who writes posts.
#[derive(Debug, Serialize, Queryable, Selectable)]
pub(crate) struct Author {
    name: String,
    points: i64,
}

impl Author {
    pub(crate) async fn find(conn: &mut Db, name: &str) -> Result<Self, Problem> {
        let author = authors::table.find(name).select(Self::as_select()).first(conn).await;
        author.optional()?.ok_or(Problem::NotFound)
    }
}
