//! Each mode against the same handler without it, and against what else a user might pick.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;
use tokio::sync::Mutex;

use super::shop::{Shop, Used, fresh_key, order_of, post_to, send};
use super::{database, hand, lights, lock, memory};
use crate::options::Options;
use crate::report::DatabaseReport;
use crate::rounds::{CLIENTS, Side, measure};

/// How many keys are replayed in turns.
const USED: usize = 1_000;
/// How many steps the longer of two handlers has more than the shorter.
const MORE_STEPS: u32 = 4;

/// The sides that others might pick.
const RIVALS: [&str; 6] =
    ["by hand", "replay by hand", "Redis lock", "replay of Redis lock", "axum-idempotent", "replay of axum-idempotent"];

/// Measures one database; `None` if there is no server.
pub(crate) async fn protocol(options: &Options) -> Option<DatabaseReport> {
    let mut report = DatabaseReport::default();
    for clients in CLIENTS {
        // A database of its own each time: none starts with the rows of the one before.
        let shop = Shop::open(database_connections(clients)).await?;
        let sides = sides(options, &shop, clients).await?;
        let timings = measure(&sides, clients, options.rounds(), options.slice()).await;
        report.protocol(clients, &timings, f64::from(MORE_STEPS));
        eprintln!("  {} at {clients} client(s): measured", database::NAME);
    }
    Some(report)
}

/// One connection for each client; for `SQLite`, which has one writer at a time, no more than a few.
fn database_connections(clients: usize) -> usize {
    if database::NAME == "sqlite" { clients.min(4) } else { clients }
}

async fn sides(options: &Options, shop: &Shop, clients: usize) -> Option<Vec<Side>> {
    let (body, other) = (order_of(1_024, 1), order_of(1_024, 2));
    let mut sides = Vec::new();
    for (name, path) in [
        ("bare", "/bare"),
        ("transactional", "/transactional"),
        ("leased", "/leased"),
        ("one step", "/steps/1"),
        ("more steps", "/steps/5"),
    ] {
        if !options.side(name) {
            continue;
        }
        let (shop, body) = (shop.clone(), body.clone());
        sides.push(Side::new(name, move |_| {
            let (shop, body) = (shop.clone(), body.clone());
            async move {
                shop.send(post_to(path, &fresh_key(), body), StatusCode::CREATED).await;
            }
        }));
    }

    if options.side("select") {
        sides.push(select(shop, &body).await);
    }
    for (name, path, again) in [
        ("replay of transactional", "/transactional", true),
        ("replay of leased", "/leased", true),
        ("conflict of transactional", "/transactional", false),
        ("conflict of leased", "/leased", false),
    ] {
        if !options.side(name) {
            continue;
        }
        let used = used(shop, path, body.clone()).await;
        let shop = shop.clone();
        let (body, status) =
            if again { (body.clone(), StatusCode::CREATED) } else { (other.clone(), StatusCode::CONFLICT) };
        sides.push(Side::new(name, move |_| {
            let (shop, used, body) = (shop.clone(), Arc::clone(&used), body.clone());
            async move {
                shop.send(post_to(path, used.next(), body), status).await;
            }
        }));
    }

    lights::make(&shop.pool, clients).await;
    for (name, how) in [("transition", 0), ("transition of two sources", 1), ("transition by hand", 2)] {
        let pool = shop.pool.clone();
        sides.push(Side::new(name, move |client| {
            let pool = pool.clone();
            let id = i64::try_from(client).unwrap_or(0) + 1;
            async move {
                match how {
                    0 => lights::moved(&pool, id).await,
                    1 => lights::moved_from_either(&pool, id).await,
                    _ => lights::moved_by_hand(&pool, id).await,
                }
            }
        }));
    }
    if RIVALS.iter().any(|name| options.side(name)) {
        sides.extend(rivals(shop, clients).await?);
    }
    sides.retain(|side| options.side(side.name));
    Some(sides)
}

async fn select(shop: &Shop, body: &axum::body::Bytes) -> Side {
    let ids: Arc<Vec<i64>> = Arc::new({
        let mut ids = Vec::new();
        for _ in 0..USED {
            let placed = shop.send(post_to("/bare", "", body.clone()), StatusCode::CREATED).await;
            let placed: super::shop::Order = serde_json::from_slice(&placed).expect("an order");
            ids.push(placed.id);
        }
        ids
    });
    let next = Arc::new(AtomicU64::new(0));
    let (reader, body) = (shop.clone(), body.clone());
    Side::new("select", move |_| {
        let (shop, ids, body) = (reader.clone(), Arc::clone(&ids), body.clone());
        let at = usize::try_from(next.fetch_add(7_919, Ordering::Relaxed)).unwrap_or(0) % ids.len();
        async move {
            shop.send(post_to(&format!("/orders/{}", ids[at]), &fresh_key(), body), StatusCode::OK).await;
        }
    })
}

/// Keys of calls that ended.
async fn used(shop: &Shop, path: &'static str, body: axum::body::Bytes) -> Arc<Used> {
    let mut keys = Vec::new();
    for _ in 0..USED {
        let key = fresh_key();
        shop.send(post_to(path, &key, body.clone()), StatusCode::CREATED).await;
        keys.push(key);
    }
    Used::new(keys)
}

/// What a user might pick instead, each doing as much of the job as it can.
async fn rivals(shop: &Shop, clients: usize) -> Option<Vec<Side>> {
    let body = order_of(1_024, 1);
    let mut sides = Vec::new();
    let by_hand = ("by hand", "replay by hand", "/hand", hand::router(shop).await);
    let by_lock = ("Redis lock", "replay of Redis lock", "/lock", lock::router(shop).await?);
    for (fresh, replay, path, router) in [by_hand, by_lock] {
        let (to, order) = (router.clone(), body.clone());
        sides.push(Side::new(fresh, move |_| {
            let (router, body) = (to.clone(), order.clone());
            async move {
                send(&router, post_to(path, &fresh_key(), body), StatusCode::CREATED).await;
            }
        }));
        let mut keys = Vec::new();
        for _ in 0..USED {
            keys.push(fresh_key());
            send(&router, post_to(path, &keys[keys.len() - 1], body.clone()), StatusCode::CREATED).await;
        }
        let (used, body) = (Used::new(keys), body.clone());
        sides.push(Side::new(replay, move |_| {
            let (router, used, body) = (router.clone(), Arc::clone(&used), body.clone());
            async move {
                send(&router, post_to(path, used.next(), body), StatusCode::CREATED).await;
            }
        }));
    }

    let router = memory::router(shop);
    // The session of each client, and how many orders it has.
    let sessions: Arc<Vec<Mutex<(String, u64)>>> = Arc::new((0..clients).map(|_| Mutex::default()).collect());
    let (to, order) = (router.clone(), body.clone());
    sides.push(Side::new("axum-idempotent", move |client| {
        let (router, body, sessions) = (to.clone(), order.clone(), Arc::clone(&sessions));
        async move {
            let mut session = sessions[client].lock().await;
            if session.1 % memory::ORDERS_OF_A_SESSION == 0 {
                session.0 = memory::session(&router).await;
            }
            session.1 += 1;
            let mut request = post_to("/memory", &fresh_key(), body);
            request.headers_mut().insert("cookie", session.0.parse().expect("a cookie"));
            send(&router, request, StatusCode::CREATED).await;
        }
    }));
    let mut used = Vec::new();
    while used.len() < USED {
        let session = memory::session(&router).await;
        for _ in 0..memory::ORDERS_OF_A_SESSION {
            let key = fresh_key();
            let mut request = post_to("/memory", &key, body.clone());
            request.headers_mut().insert("cookie", session.parse().expect("a cookie"));
            send(&router, request, StatusCode::CREATED).await;
            used.push(format!("{session} {key}"));
        }
    }
    let used = Used::new(used);
    sides.push(Side::new("replay of axum-idempotent", move |_| {
        let (router, body, used) = (router.clone(), body.clone(), Arc::clone(&used));
        async move {
            let (session, key) = used.next().rsplit_once(' ').expect("a session and a key");
            let mut request = post_to("/memory", key, body);
            request.headers_mut().insert("cookie", session.parse().expect("a cookie"));
            send(&router, request, StatusCode::CREATED).await;
        }
    }));
    Some(sides)
}
