//! What the toolkit costs when a service is compiled: a crate with it, against the same crate without.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::options::Options;
use crate::rounds::{Spread, round};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// How many handlers the large crate has.
const HANDLERS: usize = 200;

/// A service that is generated.
struct Service {
    folder: PathBuf,
    annotated: bool,
}

impl Service {
    /// Writes a service of one handler.
    fn new(annotated: bool) -> Result<Self, String> {
        let name = if annotated { "annotated" } else { "bare" };
        let folder = Path::new(WORKSPACE).join("target/bench/compile").join(name);
        let _ = fs::remove_dir_all(&folder);
        let service = Self { folder, annotated };
        let toolkit = if annotated {
            format!(
                "idempotent-runtime = {{ path = \"{}\", default-features = false, features = [\"axum\", \"deadpool\", \"postgres\"] }}\n",
                Path::new(WORKSPACE).join("idempotent-runtime").display()
            )
        } else {
            String::new()
        };
        service.put(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                 axum = {{ version = \"0.8\", default-features = false, features = [\"http1\", \"json\", \"tokio\"] }}\n\
                 diesel = {{ version = \"2.3\", default-features = false, features = [\"postgres_backend\"] }}\n\
                 diesel-async = {{ version = \"0.9\", features = [\"deadpool\", \"postgres\"] }}\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n\
                 tokio = {{ version = \"1\", features = [\"macros\", \"net\", \"rt-multi-thread\"] }}\n{toolkit}"
            ),
        )?;
        let lock = fs::read_to_string(Path::new(WORKSPACE).join("Cargo.lock")).map_err(|error| error.to_string())?;
        service.put("Cargo.lock", &lock)?;
        service.write(1)?;
        Ok(service)
    }

    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes the service with so many handlers.
    fn write(&self, handlers: usize) -> Result<(), String> {
        let mut code = SERVICE.to_owned();
        for n in 0..handlers {
            let _ = if self.annotated {
                write!(
                    code,
                    "\n#[idempotent_runtime::idempotent(key = header, ttl = \"72h\")]\n\
                     async fn create_{n}(#[tx] conn: &mut Db, Json(order): Json<Order>) -> Result<Json<Order>, Failure> {{\n\
                     \x20   Ok(Json(place(conn, order).await?))\n}}\n"
                )
            } else {
                write!(
                    code,
                    "\nasync fn create_{n}(State(pool): State<Pool<Db>>, Json(order): Json<Order>) -> Result<Json<Order>, Failure> {{\n\
                     \x20   let mut conn = pool.get().await?;\n\
                     \x20   Ok(Json(conn.transaction(async |conn| place(conn, order).await).await?))\n}}\n"
                )
            };
        }
        code += "\nfn router() -> Router<Pool<Db>> {\n    Router::new()\n";
        for n in 0..handlers {
            let _ = writeln!(code, "        .route(\"/orders/{n}\", post(create_{n}))");
        }
        code += "}\n";
        self.put("src/main.rs", &code)
    }

    fn cargo(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new(env!("CARGO"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("RUSTC_BOOTSTRAP", "1")
            .args(args)
            .output()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    /// Builds everything, or what has changed; says how many seconds that took.
    fn build(&self) -> Result<f64, String> {
        let begun = Instant::now();
        self.cargo(&["build", "--quiet"])?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// The median of building this crate alone, with so many handlers.
    fn rebuild(&self, handlers: usize, rounds: usize) -> Result<f64, String> {
        self.write(handlers)?;
        self.build()?;
        let mut seconds = Vec::new();
        for _ in 0..rounds {
            // From nothing but the dependencies.
            self.cargo(&["clean", "--quiet", "--package", if self.annotated { "annotated" } else { "bare" }])?;
            seconds.push(self.build()?);
        }
        Ok(Spread::of(seconds).median)
    }

    /// Seconds that the compiler expands macros, and all that it takes, as it says itself, with so many handlers.
    fn passes(&self, handlers: usize) -> Result<(f64, f64), String> {
        self.write(handlers)?;
        self.cargo(&["clean", "--quiet", "--package", if self.annotated { "annotated" } else { "bare" }])?;
        let said = self.cargo(&["rustc", "--quiet", "--", "-Ztime-passes"])?;
        let of = |pass: &str| {
            let line = said.lines().find(|line| line.trim_end().ends_with(&format!("\t{pass}")));
            line.and_then(|line| line.trim().strip_prefix("time:")?.split(';').next()?.trim().parse::<f64>().ok())
        };
        let figure = of("macro_expand_crate").zip(of("total"));
        figure.ok_or_else(|| format!("the compiler did not say how long its passes took: {said}"))
    }
}

/// Measures builds of the `dev` profile.
pub(crate) fn compile(options: &Options) -> Result<Value, String> {
    let rounds = if options.quick { 1 } else { 3 };
    let (bare, annotated) = (Service::new(false)?, Service::new(true)?);
    let cold = (bare.build()?, annotated.build()?);
    let one = (bare.rebuild(1, rounds)?, annotated.rebuild(1, rounds)?);
    // Once: each takes a minute, and is of many handlers.
    let ((bare_macros, bare_total), (macros, total)) = (bare.passes(HANDLERS)?, annotated.passes(HANDLERS)?);
    let (per_handler, share) = ((total - bare_total) / HANDLERS as f64, (macros - bare_macros) / total);
    println!(
        "\ncompiled     without      with\neverything {:>7.1} s {:>7.1} s\none handler{:>7.2} s {:>7.2} s\n\
         {HANDLERS} handlers{:>6.2} s {:>7.2} s, {:.1} ms each; the compiler expands macros for {macros:.2} s of {total:.2} s, \
         {:.1} % more of them than without",
        cold.0,
        cold.1,
        one.0,
        one.1,
        bare_total,
        total,
        per_handler * 1e3,
        share * 100.0,
    );
    let pair = |(bare, annotated): (f64, f64)| json!({ "without": round(bare), "with": round(annotated) });
    Ok(json!({
        "cold_s": pair(cold),
        "one_handler_s": pair(one),
        "handlers": HANDLERS,
        "many_handlers_s": pair((bare_total, total)),
        "each_handler_ms": round(per_handler * 1e3),
        "macro_expansion_s": pair((bare_macros, macros)),
        "macro_share": round(share),
    }))
}

/// All of a service but its handlers.
const SERVICE: &str = r#"
#![allow(unused_imports)]

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use diesel::prelude::*;
use diesel_async::pooled_connection::AsyncDieselConnectionManager;
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use serde::{Deserialize, Serialize};

type Db = AsyncPgConnection;

diesel::table! {
    orders (id) {
        id -> BigInt,
        amount -> BigInt,
        note -> Text,
    }
}

#[derive(Serialize, Deserialize)]
struct Order {
    #[serde(default)]
    id: i64,
    amount: i64,
    note: String,
}

struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}

async fn place(conn: &mut Db, order: Order) -> Result<Order, diesel::result::Error> {
    let row = (orders::amount.eq(order.amount), orders::note.eq(&order.note));
    let id = diesel::insert_into(orders::table).values(row).returning(orders::id).get_result(conn).await?;
    Ok(Order { id, ..order })
}

#[tokio::main]
async fn main() {
    let pool = Pool::builder(AsyncDieselConnectionManager::new("postgres://localhost/orders")).build().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    axum::serve(listener, router().with_state(pool)).await.unwrap();
}
"#;
