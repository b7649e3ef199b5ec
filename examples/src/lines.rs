//! Programs that read lines of JSON, and answer in lines of JSON.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};

use serde::Serialize;

use crate::start::StartError;

/// What a program is to read: the file that its argument names, or else what is redirected to it, or else its sample.
pub fn input(sample: &'static str) -> Result<Box<dyn BufRead>, StartError> {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(path), None) => match File::open(&path) {
            Ok(file) => Ok(Box::new(BufReader::new(file))),
            Err(source) => {
                let what = format!("{} cannot be read; name a file with a JSON object in each line", path.display());
                Err(StartError::Lines { what, source })
            }
        },
        (None, _) if is_redirected() => Ok(Box::new(io::stdin().lock())),
        (None, _) => Ok(Box::new(sample.as_bytes())),
        (Some(_), Some(_)) => {
            let source = io::ErrorKind::InvalidInput.into();
            Err(StartError::Lines { what: "there is more than one argument; name one file, or none".into(), source })
        }
    }
}

/// Whether there is something to be read on stdin: a file or a pipe, and neither a terminal nor `/dev/null`.
fn is_redirected() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;

        if std::fs::metadata("/dev/stdin").is_ok_and(|stdin| stdin.file_type().is_char_device()) {
            return false;
        }
    }
    !io::stdin().is_terminal()
}

/// The next line, without its end; `None` at the end of the input. Bytes that are no UTF-8 are replaced.
pub fn next(input: &mut dyn BufRead) -> Result<Option<String>, StartError> {
    let mut line = Vec::new();
    let read = input.read_until(b'\n', &mut line);
    match read.map_err(|source| StartError::Lines { what: "the input cannot be read".into(), source })? {
        0 => Ok(None),
        _ => Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())),
    }
}

/// Writes a line, at once.
pub fn print(line: &impl Serialize) -> Result<(), StartError> {
    let written = serde_json::to_string(line).map_err(io::Error::other).and_then(|line| {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    });
    written.map_err(|source| StartError::Lines { what: "the output cannot be written".into(), source })
}
