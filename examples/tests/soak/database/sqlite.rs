//! A file for each program.

use std::path::PathBuf;

use super::Database;
use crate::folder::Folder;

/// The folder of the files.
#[derive(Debug)]
pub(crate) struct Chosen {
    folder: PathBuf,
}

impl Database for Chosen {
    const NAME: &'static str = "sqlite";

    fn start(folder: &Folder) -> Option<Self> {
        Some(Self { folder: folder.path().to_owned() })
    }

    fn url(&self, program: &str) -> String {
        self.folder.join(program).with_extension("db").to_str().expect("a path in UTF-8").to_owned()
    }
}
