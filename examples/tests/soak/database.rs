//! The database that the features choose.

#[cfg(feature = "mysql")]
#[path = "database/mysql.rs"]
mod backend;
#[cfg(feature = "postgres")]
#[path = "database/postgres.rs"]
mod backend;
#[cfg(feature = "sqlite")]
#[path = "database/sqlite.rs"]
mod backend;

pub(crate) use backend::Chosen;

use crate::folder::Folder;

/// What the run needs of a database.
pub(crate) trait Database: Sized {
    const NAME: &'static str;

    /// Starts what there is to start. `None`, said aloud, if it is not installed.
    fn start(folder: &Folder) -> Option<Self>;

    /// The `DATABASE_URL` of a program.
    fn url(&self, program: &str) -> String;

    /// Kills the server and starts it again; false if there is none.
    fn crash(&mut self) -> bool {
        false
    }
}
