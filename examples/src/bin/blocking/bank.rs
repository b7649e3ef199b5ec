//! A bank that knows its keys: a folder, with a file for each transfer that is named for its key.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

use examples::start::StartError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::payout::Payout;

/// The most that the bank transfers at once.
const LIMIT: i64 = 10_000_000;

/// The bank.
#[derive(Debug)]
pub(crate) struct Bank {
    folder: PathBuf,
    /// Whether the program dies when something was transferred.
    crash: bool,
}

/// What the bank says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Reply {
    Sent { transfer: String },
    Rejected { reason: String },
}

/// A transfer, as the bank keeps it.
#[derive(Serialize, Deserialize)]
struct Transfer {
    id: String,
    account: String,
    amount: i64,
}

impl Bank {
    pub(crate) fn open(folder: PathBuf, crash: bool) -> Result<Self, StartError> {
        let opened = fs::create_dir_all(folder.join("transfers"));
        opened.map_err(|error| {
            StartError::setting("BANK", &folder.to_string_lossy(), format!("cannot be used ({error}); name a folder"))
        })?;
        Ok(Self { folder, crash })
    }

    /// Transfers once for each key, and says the same for it ever after.
    pub(crate) fn transfer(&self, key: &str, payout: &Payout) -> io::Result<Reply> {
        let mut asked = OpenOptions::new().create(true).append(true).open(self.folder.join("asked"))?;
        asked.write_all(format!("{key}\n").as_bytes())?;
        if payout.amount > LIMIT {
            return Ok(Reply::Rejected { reason: format!("nobody may transfer more than {LIMIT}") });
        }
        let id = format!("tr_{}", Uuid::new_v4().simple());
        let Payout { account, amount } = payout;
        let transfer = Transfer { id, account: account.clone(), amount: *amount };
        let (draft, kept) = (self.folder.join(&transfer.id), self.folder.join("transfers").join(key));
        fs::write(&draft, serde_json::to_vec(&transfer)?)?;
        // Whole or not at all, and never over one that is there.
        let linked = fs::hard_link(&draft, &kept);
        fs::remove_file(&draft)?;
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if self.crash {
            std::process::abort();
        }
        let kept: Transfer = serde_json::from_slice(&fs::read(&kept)?)?;
        Ok(Reply::Sent { transfer: kept.id })
    }
}
