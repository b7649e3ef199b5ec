//! Requests to handlers of each mode.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use futures_util::FutureExt;
use http::{Request, StatusCode};
use idempotent_runtime::{Error, Steps, transaction};
use tests::wire::Wire;

use super::Row;
use super::app::{Service, effects, key};
use super::database::{Database, Db};

/// What the handlers cost; `None` if there is no server.
pub(crate) async fn requests() -> Option<Vec<Row>> {
    let database = Arc::new(Database::fresh().await?);
    let (pool, wire) = database.counted().await;
    let service = Service::over(database, pool, |builder| builder).await;
    let service =
        service.on_tx(|conn, _| write(conn).boxed()).on_stepped(|steps, body| take_steps(steps, body).boxed());
    // Which prepares the statements.
    of_requests(&service, &wire).await;
    Some(of_requests(&service, &wire).await)
}

/// The body of a handler: one statement.
async fn write(conn: &mut Db) -> Response {
    diesel::insert_into(effects::table).values(effects::what.eq("order")).execute(conn).await.unwrap();
    StatusCode::CREATED.into_response()
}

/// Takes as many steps as the body has letters: `t` is one in a transaction, and any other one outside.
async fn take_steps(steps: &mut Steps<Db>, body: Bytes) -> Result<Response, Error> {
    for (position, letter) in body.iter().enumerate() {
        let name = format!("step {position}");
        match letter {
            b't' => steps.tx(&name, async |_| Ok::<_, Error>(position)).await?,
            _ => steps.run(&name, async |_| Ok::<_, Error>(position)).await?,
        };
    }
    Ok(StatusCode::CREATED.into_response())
}

async fn of_requests(service: &Service, wire: &Wire) -> Vec<Row> {
    let bare = async {
        let conn = &mut *service.conn().await;
        conn.transaction(async |conn| Ok::<_, diesel::result::Error>(write(conn).await)).await.unwrap()
    };
    let ours = async {
        let conn = &mut *service.conn().await;
        transaction(conn, async |conn| Ok::<_, diesel::result::Error>(write(conn).await)).await.unwrap()
    };
    let (bare, ours) = (wire.of(bare).await.0, wire.of(ours).await.0);
    let (unclaimed, answer) = wire.of(service.send(Request::get("/tx").body(Body::empty()).unwrap())).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let mut rows = vec![("bare handler", bare), ("transaction of ours", ours), ("transactional: no key", unclaimed)];
    let modes = [
        ("/tx", ["transactional: fresh key", "transactional: replay", "transactional: conflict"]),
        ("/leased", ["leased: fresh key", "leased: replay", "leased: conflict"]),
    ];
    for (mode, [fresh, replay, conflict]) in modes {
        let key = key();
        for (name, body, expected) in
            [(fresh, "a", (201, false)), (replay, "a", (201, true)), (conflict, "b", (409, false))]
        {
            let (counts, answer) = wire.of(service.post(mode, &key, body)).await;
            assert_eq!((answer.status, answer.replayed()), expected, "{answer:?}");
            rows.push((name, counts));
        }
    }
    for (name, two, three) in [("one more step in a transaction", "tt", "ttt"), ("one more step outside", "rr", "rrr")]
    {
        let steps = async |steps: &'static str| {
            let (counts, answer) = wire.of(service.post("/stepped", &key(), steps)).await;
            assert_eq!(answer.status, 201, "{answer:?}");
            counts
        };
        let two = steps(two).await;
        rows.push((name, steps(three).await - two));
    }
    rows
}
