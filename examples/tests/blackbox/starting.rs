//! A program that cannot start says why, and what to write instead; it does not panic.

use crate::ask::{Ask, new_key};
use crate::database::Database;
use crate::program::Setup;

#[track_caller]
fn assert_fails(setup: &Setup, words: &[&str]) {
    let (code, said) = setup.fail();
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in {said}");
    }
}

#[test]
fn a_bad_address_is_refused() {
    let (database, other) = (Database::new(), Database::new());
    for setup in [Setup::orders(&database), Setup::charges(&other)] {
        for bad in ["nonsense", "127.0.0.1:99999", "203.0.113.1:80"] {
            assert_fails(&setup.clone().env("LISTEN", bad), &["LISTEN", bad, "HOST:PORT"]);
        }
    }
}

#[test]
fn an_address_in_use_is_refused() {
    let (database, other) = (Database::new(), Database::new());
    let orders = Setup::orders(&database).start();
    assert_fails(&Setup::orders(&other).env("LISTEN", orders.address()), &["LISTEN", orders.address()]);
}

#[test]
fn a_bad_lease_is_refused() {
    let database = Database::new();
    for bad in ["30", "soon", "-1s", "1.5s", "0s", "73h", "99999999999999999999s"] {
        assert_fails(&Setup::orders(&database).env("LEASE", bad), &["LEASE", bad, "write"]);
    }
}

#[test]
fn a_bad_origin_is_refused() {
    let database = Database::new();
    for bad in ["*", "shop.example", "https://shop.example/"] {
        assert_fails(&Setup::orders(&database).env("CORS_ORIGIN", bad), &["CORS_ORIGIN", bad, "write"]);
    }
}

#[test]
fn a_bad_redis_is_refused() {
    let database = Database::new();
    for bad in ["localhost", "http://localhost:6379"] {
        assert_fails(&Setup::checkout(&database).env("REDIS_URL", bad), &["REDIS_URL", bad, "redis://HOST:PORT"]);
    }
}

#[test]
fn a_bad_provider_is_refused() {
    let database = Database::new();
    for bad in ["nonsense", "https://localhost:1", "localhost:3001"] {
        assert_fails(&Setup::orders(&database).env("CHARGES_URL", bad), &["CHARGES_URL", bad, "http://HOST:PORT"]);
    }
}

#[tokio::test]
async fn two_programs_may_start_at_once_on_an_empty_database() {
    for _ in 0..3 {
        let database = Database::new();
        let setup = Setup::orders(&database);
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(|| setup.start());
            let other = scope.spawn(|| setup.start());
            (one.join().expect("it starts"), other.join().expect("it starts"))
        });
        let key = new_key();
        Ask::order().key(&key).send(&one).await.expect(201);
        Ask::order().key(&key).send(&other).await.expect(201).replayed();
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{Ask, Database, Setup, assert_fails, new_key};

    #[test]
    fn an_unwritable_database_is_refused() {
        let folder = std::env::temp_dir();
        for url in ["/proc/no/such/folder/orders.db", folder.to_str().expect("a path in UTF-8")] {
            for setup in Setup::all(url) {
                assert_fails(&setup, &["database", "unable to open"]);
            }
        }
    }

    #[test]
    fn a_file_that_is_no_database_is_refused() {
        let database = Database::new();
        std::fs::write(database.url(), "a letter to my bank, much longer than the header of a database".repeat(20))
            .expect("a file");
        for setup in Setup::all(&database.url()) {
            assert_fails(&setup, &["file is not a database"]);
        }
    }

    #[test]
    fn another_databases_url_is_refused() {
        for setup in Setup::all("postgres://localhost/orders") {
            assert_fails(&setup, &["DATABASE_URL", "--no-default-features --features postgres"]);
        }
        for setup in Setup::all("mysql://localhost/orders") {
            assert_fails(&setup, &["DATABASE_URL", "--no-default-features --features mysql"]);
        }
        for url in ["http://localhost", ":memory:", "sqlite://"] {
            for setup in Setup::all(url) {
                assert_fails(&setup, &["DATABASE_URL", url]);
            }
        }
    }

    #[tokio::test]
    async fn a_path_and_a_url_name_the_same_file() {
        let database = Database::new();
        let (setup, key) = (Setup::orders(&database), new_key());
        let orders = setup.start();
        Ask::order().key(&key).send(&orders).await.expect(201);
        drop(orders);
        let orders = setup.env("DATABASE_URL", format!("sqlite://{}", database.url())).start();
        Ask::order().key(&key).send(&orders).await.expect(201).replayed();
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{Setup, assert_fails};

    #[test]
    fn an_unreachable_database_is_refused() {
        for setup in Setup::all("postgres://127.0.0.1:1/orders") {
            assert_fails(&setup, &["database", "to server"]);
        }
    }

    #[test]
    fn a_missing_database_is_refused() {
        for setup in Setup::all("") {
            assert_fails(&setup, &["DATABASE_URL", "postgres://USER:PASSWORD@HOST/DATABASE"]);
        }
    }

    #[test]
    fn another_databases_url_is_refused() {
        for url in ["orders.db", "sqlite://orders.db"] {
            for setup in Setup::all(url) {
                assert_fails(&setup, &["DATABASE_URL", "--features sqlite"]);
            }
        }
        for setup in Setup::all("mysql://localhost/orders") {
            assert_fails(&setup, &["DATABASE_URL", "--no-default-features --features mysql"]);
        }
        for setup in Setup::all("http://localhost") {
            assert_fails(&setup, &["DATABASE_URL", "http://localhost"]);
        }
    }
}

#[cfg(feature = "mysql")]
mod mysql {
    use super::{Database, Setup, assert_fails};

    #[test]
    fn an_unreachable_database_is_refused() {
        for setup in Setup::all("mysql://127.0.0.1:1/orders") {
            // And why, in the words of either driver.
            assert_fails(&setup, &["the database cannot be used: "]);
        }
    }

    #[test]
    fn a_missing_database_is_refused() {
        for setup in Setup::all("") {
            assert_fails(&setup, &["DATABASE_URL", "mysql://USER:PASSWORD@HOST/DATABASE"]);
        }
        for url in ["mysql://localhost", "mysql://localhost/", "mysql://localhost/?pool_min=1"] {
            for setup in Setup::all(url) {
                assert_fails(&setup, &["DATABASE_URL", url, "names no database"]);
            }
        }
    }

    #[test]
    fn a_database_that_is_not_there_is_refused() {
        let database = Database::new();
        let missing = format!("{}_missing", database.url());
        for setup in Setup::all(&missing) {
            assert_fails(&setup, &["database", "Unknown database"]);
        }
    }

    #[test]
    fn another_databases_url_is_refused() {
        for url in ["orders.db", "sqlite://orders.db"] {
            for setup in Setup::all(url) {
                assert_fails(&setup, &["DATABASE_URL", "--features sqlite"]);
            }
        }
        for setup in Setup::all("postgres://localhost/orders") {
            assert_fails(&setup, &["DATABASE_URL", "--no-default-features --features postgres"]);
        }
        for setup in Setup::all("http://localhost") {
            assert_fails(&setup, &["DATABASE_URL", "http://localhost"]);
        }
    }
}
