//! A journal in a file.

mod lines;
mod log;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};

use self::log::Log;
use super::journal::{Entry, Journal, JournalError};

/// A [`Journal`] in a file of JSON lines, to which one process at a time appends.
///
/// A line is on the disk before its call is sent. A line that a crash left half written is dropped when the file is
/// opened: its call was never sent. While the journal is open `PATH.lock` beside it is locked, and a second process that
/// opens it is refused. The lock is one of the operating system: a process that dies gives it back, and on some network
/// file systems it does not reach other machines.
///
/// ```no_run
/// use std::time::Duration;
/// use idempotent_runtime::client::{FileJournal, IdempotentClient};
///
/// # fn open() -> std::io::Result<()> {
/// let journal = FileJournal::open("calls.jsonl", Duration::from_secs(30 * 24 * 3600))?;
/// let client = IdempotentClient::new(reqwest::Client::new()).journal(journal);
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileJournal {
    log: Arc<Mutex<Log>>,
}

impl FileJournal {
    /// Opens a journal, or begins one. Unfinished calls are remembered for ever, and finished ones for `keep` after their
    /// end: a call that is made again under its id until then is answered with a replay, and later is a new one. Blocks
    /// while the file is read.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use idempotent_runtime::client::FileJournal;
    /// # let folder = std::env::temp_dir().join(uuid::Uuid::new_v4().to_string());
    /// # std::fs::create_dir(&folder)?;
    /// # let path = folder.join("calls.jsonl");
    /// let week = Duration::from_secs(7 * 24 * 3600);
    /// let journal = FileJournal::open(&path, week)?;
    /// assert!(FileJournal::open(&path, week).is_err(), "it is open");
    /// # drop(journal);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, keep: Duration) -> io::Result<Self> {
        Ok(Self { log: Arc::new(Mutex::new(Log::open(path.as_ref(), keep)?)) })
    }

    /// Works on the file on a thread that may block, to the end even if the caller is dropped.
    fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Log) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, JournalError>> {
        let log = Arc::clone(&self.log);
        let work = move || work(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
        async { Ok(tokio::task::spawn_blocking(work).await??) }.boxed()
    }
}

impl Journal for FileJournal {
    fn begin<'a>(&'a self, id: &'a str, entry: Entry) -> BoxFuture<'a, Result<Option<Entry>, JournalError>> {
        let id = id.to_owned();
        self.on_disk(move |log| log.begin(id, entry))
    }

    fn finish<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), JournalError>> {
        let id = id.to_owned();
        self.on_disk(move |log| log.finish(&id))
    }
}
