//! A database for one test, gone when the test is over.

use uuid::Uuid;

#[cfg(feature = "sqlite")]
pub(crate) use sqlite::Database;

#[cfg(not(feature = "sqlite"))]
pub(crate) use server::Database;

/// A number that a query gives.
pub(crate) async fn number(database: &Database, sql: &str) -> i64 {
    numbers(database, sql).await[0]
}

/// The column `number` of what a query gives.
pub(crate) async fn numbers(database: &Database, sql: &str) -> Vec<i64> {
    use diesel_async::RunQueryDsl as _;

    #[derive(diesel::QueryableByName)]
    struct Row {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        number: i64,
    }
    let pool = examples::db::open(&database.url()).await.expect("the database");
    let mut conn = pool.get().await.expect("a connection");
    let rows = diesel::sql_query(format!("SELECT {sql}")).load::<Row>(&mut conn).await;
    rows.unwrap_or_else(|error| panic!("{sql}: {error}")).into_iter().map(|row| row.number).collect()
}

/// Carries out a statement.
pub(crate) async fn execute(database: &Database, sql: &str) {
    use diesel_async::SimpleAsyncConnection as _;

    let pool = examples::db::open(&database.url()).await.expect("the database");
    let mut conn = pool.get().await.expect("a connection");
    conn.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn unique_name() -> String {
    format!("blackbox_{}", Uuid::new_v4().simple())
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::path::PathBuf;

    /// A folder for the database's files.
    #[derive(Debug)]
    pub(crate) struct Database {
        folder: PathBuf,
    }

    impl Database {
        pub(crate) fn new() -> Self {
            let folder = std::env::temp_dir().join(super::unique_name());
            std::fs::create_dir(&folder).expect("a folder for the database");
            Self { folder }
        }

        pub(crate) fn url(&self) -> String {
            self.folder.join("data.db").to_str().expect("a path in UTF-8").to_owned()
        }
    }

    impl Drop for Database {
        fn drop(&mut self) {
            if let Err(error) = std::fs::remove_dir_all(&self.folder) {
                eprintln!("{} stays: {error}", self.folder.display());
            }
        }
    }
}

#[cfg(not(feature = "sqlite"))]
mod server {
    use diesel_async::{AsyncConnection as _, SimpleAsyncConnection as _};
    use examples::db::Db;
    use reqwest::Url;

    /// What differs between servers.
    struct Kind {
        variable: &'static str,
        such_as: &'static str,
        drop: fn(&str) -> String,
    }

    #[cfg(feature = "postgres")]
    const KIND: Kind = Kind {
        variable: "TEST_POSTGRES_URL",
        such_as: "a PostgreSQL server, such as postgres://postgres@localhost/postgres",
        drop: |name| format!("DROP DATABASE {name} WITH (FORCE)"),
    };
    #[cfg(feature = "mysql")]
    const KIND: Kind = Kind {
        variable: "TEST_MYSQL_URL",
        such_as: "a MySQL or MariaDB server, such as mysql://root@localhost/mysql",
        // With that of the provider inside `orders`.
        drop: |name| format!("DROP DATABASE {name}; DROP DATABASE IF EXISTS {name}_charges"),
    };

    /// A database on the server of `TEST_POSTGRES_URL` or `TEST_MYSQL_URL`.
    #[derive(Debug)]
    pub(crate) struct Database {
        server: Url,
        name: String,
    }

    impl Database {
        pub(crate) fn new() -> Self {
            let Kind { variable, such_as, .. } = KIND;
            let server = std::env::var(variable).unwrap_or_else(|_| {
                panic!("{variable} is not set; these tests create databases, and need the URL of {such_as}")
            });
            let server = Url::parse(&server).unwrap_or_else(|error| panic!("{variable} is no URL: {error}"));
            let name = super::unique_name();
            run(&server, format!("CREATE DATABASE {name}"));
            Self { server, name }
        }

        pub(crate) fn url(&self) -> String {
            let mut url = self.server.clone();
            url.set_path(&self.name);
            url.into()
        }
    }

    impl Drop for Database {
        fn drop(&mut self) {
            run(&self.server, (KIND.drop)(&self.name));
        }
    }

    /// Runs a statement from wherever we are: on a thread with a runtime of its own.
    fn run(server: &Url, sql: String) {
        let server = server.to_string();
        let ran = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let mut conn = Db::establish(&server).await.unwrap_or_else(|error| panic!("{server}: {error}"));
                conn.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            });
        });
        ran.join().expect("a statement on the server");
    }
}
