//! Calls that outlive their process.

use std::path::PathBuf;

use futures_util::future::BoxFuture;

use super::*;

/// A folder for a journal, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("calls_{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn journal(&self) -> FileJournal {
        FileJournal::open(self.0.join("calls.jsonl"), Duration::from_secs(3_600)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[tokio::test]
async fn a_restarted_client_goes_on_with_the_same_key() {
    let folder = Folder::new();
    let down = Server::that_answers([given(503)]);
    let client = down.client().retries(RetryPolicy::default().attempts(1)).journal(folder.journal());
    let given_up = unknown(client.post(ORDERS).id("invoice 42").body("book")).await;
    drop(client);

    let up = Server::that_answers([CREATED, REPLAY]);
    let client = up.client().journal(folder.journal());
    new(client.post(ORDERS).id("invoice 42").body("book")).await;
    replayed(client.post(ORDERS).id("invoice 42").body("book")).await;
    drop(client);
    let client = up.client().journal(folder.journal());
    replayed(client.post(ORDERS).id("invoice 42").body("book")).await;
    replayed(client.post(ORDERS).id("invoice 43").body("book")).await;

    let keys = up.keys();
    assert_eq!(keys[..3], [given_up.key.clone(), given_up.key.clone(), given_up.key.clone()]);
    assert_ne!(keys[3], given_up.key);
}

#[tokio::test]
async fn an_id_belongs_to_one_request() {
    let folder = Folder::new();
    let server = Server::that_answers([CREATED]);
    let client = server.client().journal(folder.journal());
    new(client.post(ORDERS).id("invoice 42").body("book").bearer_auth("old token")).await;
    for other in [
        client.post(ORDERS).body("lamp"),
        client.put(ORDERS).body("book"),
        client.post("http://shop.example/refunds").body("book"),
        client.post(ORDERS).body("book").key("another-key"),
    ] {
        let error = other.id("invoice 42").send().await.unwrap_err();
        assert!(matches!(error, CallError::OtherRequest { .. }), "{error}");
    }
    new(client.post("https://moved.example/orders").id("invoice 42").body("book").bearer_auth("new token")).await;
    assert_eq!(server.keys().len(), 2);
}

#[tokio::test]
async fn an_id_without_a_journal_is_an_error() {
    let server = Server::that_answers([CREATED]);
    let error = server.client().post(ORDERS).id("invoice 42").send().await.unwrap_err();
    assert!(error.to_string().contains("`.journal(…)`"), "{error}");
    assert!(server.keys().is_empty());
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_sent() {
    #[derive(Debug)]
    struct Full;
    impl Journal for Full {
        fn begin<'a>(&'a self, _: &'a str, _: Entry) -> BoxFuture<'a, Result<Option<Entry>, JournalError>> {
            Box::pin(async { Err("the disk is full".into()) })
        }

        fn finish<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
            Box::pin(async { Ok(()) })
        }
    }
    let server = Server::that_answers([CREATED]);
    let error = server.client().journal(Full).post(ORDERS).id("invoice 42").send().await.unwrap_err();
    assert!(matches!(error, CallError::Journal(_)), "{error}");
    assert!(server.keys().is_empty());
}
