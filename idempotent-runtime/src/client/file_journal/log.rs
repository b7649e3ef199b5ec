//! The file of a journal: appended to, and written anew when most of it is history.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs4::{FileExt, TryLockError};

use super::lines::{Line, Lines};
use crate::client::journal::Entry;

/// From how many lines on it is worth looking whether the file can be shorter.
const WORTHWHILE: usize = 1_000;

/// An open journal.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Locked for as long as it is open.
    _lock: File,
    known: BTreeMap<String, Line>,
    lines: usize,
    /// How many bytes are whole lines; what a failed write left behind them is cut off before the next one.
    length: u64,
    keep: Duration,
}

impl Log {
    pub(super) fn open(path: &Path, keep: Duration) -> io::Result<Self> {
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        open()?;
        // Where it is, whatever becomes of the working directory, and whichever link leads to it.
        let path = &fs::canonicalize(path)?;
        let lock = lock(&beside(path, ".lock"))?;
        // Again, since whoever had the lock may have put another file into its place.
        let file = open()?;
        let text = fs::read(path)?;
        let Lines { known, count, length } = Lines::read(&text).map_err(|error| {
            let text = format!("{} is no journal ({error}); mend the line, or begin another file", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        sync_folder(path)?;
        let length = u64::try_from(length).map_err(io::Error::other)?;
        let mut log = Self { path: path.to_owned(), file, _lock: lock, known, lines: count, length, keep };
        log.shorten(0)?;
        Ok(log)
    }

    /// Writes a new call down, to the disk; or says what is known of it. One that is made again is written down too: it may
    /// get no answer this time, and must not be forgotten then.
    pub(super) fn begin(&mut self, id: String, entry: Entry) -> io::Result<Option<Entry>> {
        let oldest = self.oldest();
        let known = self.known.get(&id).filter(|line| line.is_kept(oldest));
        let (line, answer) = match known {
            Some(line) if line.finished.is_none() || line.entry.fingerprint != entry.fingerprint => {
                return Ok(Some(line.entry.clone()));
            }
            Some(line) => (Line { finished: None, ..line.clone() }, Some(line.entry.clone())),
            None => (Line { id, entry, finished: None }, None),
        };
        self.append(&line)?;
        self.file.sync_data()?;
        self.known.insert(line.id.clone(), line);
        Ok(answer)
    }

    /// Writes down that a call has its answer.
    pub(super) fn finish(&mut self, id: &str) -> io::Result<()> {
        let Some(line) = self.known.get(id).filter(|line| line.finished.is_none()) else { return Ok(()) };
        let line = Line { finished: Some(now()), ..line.clone() };
        self.append(&line)?;
        self.known.insert(line.id.clone(), line);
        self.shorten(WORTHWHILE)
    }

    /// What finished before is forgotten.
    fn oldest(&self) -> u64 {
        now().saturating_sub(u64::try_from(self.keep.as_millis()).unwrap_or(u64::MAX))
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let text = line.text()?;
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&text)?;
        self.length += text.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Forgets what need not be known any longer. If that makes the file half as long, it is written anew, beside the old
    /// one, whose place it then takes.
    fn shorten(&mut self, from_lines: usize) -> io::Result<()> {
        if self.lines < from_lines {
            return Ok(());
        }
        let oldest = self.oldest();
        self.known.retain(|_, line| line.is_kept(oldest));
        if self.lines <= 2 * self.known.len() {
            return Ok(());
        }
        let mut text = Vec::new();
        for line in self.known.values() {
            text.extend(line.text()?);
        }
        let new = beside(&self.path, ".new");
        let mut file = File::create(&new)?;
        file.set_permissions(self.file.metadata()?.permissions())?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        (self.file, self.lines, self.length) = (file, self.known.len(), text.len() as u64);
        sync_folder(&self.path)
    }
}

/// Keeps every other process out until the file is closed.
fn lock(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    // `File::try_lock` of the standard library is younger than the oldest compiler that must build this.
    FileExt::try_lock(&file).map_err(|error| match error {
        TryLockError::WouldBlock => {
            let text = format!("{} is locked: another process has the journal open; give each its own", path.display());
            io::Error::new(io::ErrorKind::WouldBlock, text)
        }
        TryLockError::Error(error) => error,
    })?;
    Ok(file)
}

/// Makes the names in the file's folder durable, where folders can be opened.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    /// A folder, gone when the test is over.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("journal_{}", uuid::Uuid::new_v4()));
            fs::create_dir(&folder).unwrap();
            Self(folder)
        }

        fn journal(&self) -> PathBuf {
            self.0.join("calls.jsonl")
        }

        fn lines(&self) -> usize {
            fs::read_to_string(self.journal()).unwrap().lines().count()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn entry(key: &str) -> Entry {
        Entry { key: key.into(), fingerprint: "01".into() }
    }

    #[test]
    fn a_call_is_known_after_a_restart() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        assert_eq!(log.begin("invoice 42".into(), entry("first")).unwrap(), None);
        drop(log);
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        assert_eq!(log.begin("invoice 42".into(), entry("second")).unwrap(), Some(entry("first")));
        assert_eq!(log.begin("invoice 43".into(), entry("second")).unwrap(), None);
    }

    #[test]
    fn a_torn_line_is_dropped_and_written_over() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        log.begin("a".into(), entry("of a")).unwrap();
        drop(log);
        let mut file = OpenOptions::new().append(true).open(folder.journal()).unwrap();
        file.write_all(br#"{"id":"b","key":"a long torn key, longer than the next line"#).unwrap();
        drop(file);
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        assert_eq!(log.begin("b".into(), entry("of b")).unwrap(), None);
        drop(log);
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        assert_eq!(log.begin("a".into(), entry("other")).unwrap(), Some(entry("of a")));
        assert_eq!(log.begin("b".into(), entry("other")).unwrap(), Some(entry("of b")));
    }

    #[test]
    fn a_damaged_line_within_is_an_error_and_nothing_is_written() {
        let folder = Folder::new();
        fs::write(folder.journal(), "{}\n{}\n").unwrap();
        let error = Log::open(&folder.journal(), LONG).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("mend"), "{error}");
        assert_eq!(fs::read_to_string(folder.journal()).unwrap(), "{}\n{}\n");
    }

    #[test]
    fn one_at_a_time_has_it_open() {
        let folder = Folder::new();
        let log = Log::open(&folder.journal(), LONG).unwrap();
        let error = Log::open(&folder.journal(), LONG).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        drop(log);
        Log::open(&folder.journal(), LONG).unwrap();
    }

    #[test]
    fn a_finished_call_is_known_for_as_long_as_was_said() {
        for (keep, known) in [(LONG, Some(entry("first"))), (Duration::ZERO, None)] {
            let folder = Folder::new();
            let mut log = Log::open(&folder.journal(), keep).unwrap();
            log.begin("a".into(), entry("first")).unwrap();
            log.begin("unfinished".into(), entry("second")).unwrap();
            log.finish("a").unwrap();
            drop(log);
            // The clock has to go on by a millisecond.
            let finished = now();
            while now() == finished {}
            let mut log = Log::open(&folder.journal(), keep).unwrap();
            assert_eq!(log.begin("a".into(), entry("other")).unwrap(), known);
            assert_eq!(log.begin("unfinished".into(), entry("other")).unwrap(), Some(entry("second")));
        }
    }

    #[test]
    fn a_call_that_is_made_again_is_unfinished_again() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        log.begin("a".into(), entry("first")).unwrap();
        log.finish("a").unwrap();
        let other = Entry { fingerprint: "02".into(), ..entry("other") };
        assert_eq!(log.begin("a".into(), other).unwrap(), Some(entry("first")), "which reopens nothing");
        assert_eq!(folder.lines(), 2);
        assert_eq!(log.begin("a".into(), entry("second")).unwrap(), Some(entry("first")));
        drop(log);
        // It has had no answer since, so that no time is over.
        let mut log = Log::open(&folder.journal(), Duration::ZERO).unwrap();
        assert_eq!(log.begin("a".into(), entry("third")).unwrap(), Some(entry("first")));
    }

    #[test]
    fn a_call_whose_time_is_over_is_a_new_one_without_a_restart() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), Duration::ZERO).unwrap();
        log.begin("a".into(), entry("first")).unwrap();
        log.finish("a").unwrap();
        let finished = now();
        while now() == finished {}
        assert_eq!(log.begin("a".into(), entry("second")).unwrap(), None);
        assert_eq!(log.begin("a".into(), entry("third")).unwrap(), Some(entry("second")));
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_is_written_anew_where_it_is_and_as_private_as_it_was() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        fs::write(folder.journal(), "").unwrap();
        fs::set_permissions(folder.journal(), fs::Permissions::from_mode(0o600)).unwrap();
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(folder.journal(), &link).unwrap();
        let mut log = Log::open(&link, Duration::ZERO).unwrap();
        assert!(Log::open(&folder.journal(), LONG).is_err(), "one journal by two names");
        for call in 0..600 {
            log.begin(call.to_string(), entry("done")).unwrap();
            log.finish(&call.to_string()).unwrap();
        }
        drop(log);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(folder.lines() < 1_001);
        assert_eq!(fs::metadata(folder.journal()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn history_does_not_pile_up() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), Duration::ZERO).unwrap();
        log.begin("unfinished".into(), entry("kept")).unwrap();
        for call in 0..600 {
            log.begin(call.to_string(), entry("done")).unwrap();
            log.finish(&call.to_string()).unwrap();
        }
        assert!(folder.lines() < 1_001, "{}", folder.lines());
        drop(log);
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        assert_eq!(log.begin("unfinished".into(), entry("other")).unwrap(), Some(entry("kept")));
    }

    #[test]
    fn what_a_failed_write_left_is_cut_off() {
        let folder = Folder::new();
        let mut log = Log::open(&folder.journal(), LONG).unwrap();
        log.begin("a".into(), entry("of a")).unwrap();
        log.file
            .write_all(b"{\"id\":\"half a line, longer than any whole one that comes after it in this test\"")
            .unwrap();
        log.begin("b".into(), entry("of b")).unwrap();
        drop(log);
        assert_eq!(folder.lines(), 2);
        Log::open(&folder.journal(), LONG).unwrap();
    }
}
