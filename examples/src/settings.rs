//! The environment variables that the programs read. An empty one counts as missing.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderValue;

use crate::cors;
use crate::db;
use crate::start::StartError;

/// How long answers are kept by the handlers: no lease may be longer.
const LONGEST_LEASE: Duration = Duration::from_secs(72 * 3600);
/// How long an unfinished payment is believed, unless `LEASE` says otherwise.
const DEFAULT_LEASE: Duration = Duration::from_secs(30);

/// `LISTEN`: the address to serve on; port 0 picks a free one.
pub fn listen(default: &str) -> Result<String, StartError> {
    Ok(read("LISTEN")?.unwrap_or_else(|| default.to_owned()))
}

/// `DATABASE_URL`: where to store; where that is a file, the default is one of this name beside the program.
pub fn database_url(default_file: &str) -> Result<String, StartError> {
    read("DATABASE_URL")?.map_or_else(|| db::default_url(default_file), Ok)
}

/// `CHARGES_URL`: the payment provider; without one, `orders` starts its own.
pub fn charges_url() -> Result<Option<String>, StartError> {
    read("CHARGES_URL")
}

/// `LEASE`: how long an unfinished payment is believed before another request may go on with it.
pub fn lease() -> Result<Duration, StartError> {
    let Some(text) = read("LEASE")? else { return Ok(DEFAULT_LEASE) };
    match duration(&text) {
        Some(lease) if !lease.is_zero() && lease <= LONGEST_LEASE => Ok(lease),
        Some(_) => Err(StartError::setting("LEASE", &text, "is out of range; write `1ms` to `72h`")),
        None => Err(StartError::setting("LEASE", &text, "is no duration; write a number and `ms`, `s`, `m` or `h`")),
    }
}

/// `BANK`: the folder in which the bank of `blocking` keeps its transfers; the default is one beside the program.
pub fn bank() -> Result<PathBuf, StartError> {
    match read("BANK")? {
        Some(folder) => Ok(folder.into()),
        None => Ok(std::env::current_exe()
            .map_err(|error| StartError::setting("BANK", "", error.to_string()))?
            .with_file_name("bank")),
    }
}

/// `CRASH=transfer`: `blocking` dies when the bank has transferred.
pub fn crash() -> Result<bool, StartError> {
    match read("CRASH")?.as_deref() {
        None => Ok(false),
        Some("transfer") => Ok(true),
        Some(other) => Err(StartError::setting("CRASH", other, "is no place to die at; write `transfer`")),
    }
}

/// `CORS_ORIGIN`: whose pages may call the service from a browser; without one, nobody's.
pub fn cors_origin() -> Result<Option<HeaderValue>, StartError> {
    let Some(text) = read("CORS_ORIGIN")? else { return Ok(None) };
    let origin = cors::origin(&text);
    origin.map(Some).ok_or_else(|| {
        StartError::setting("CORS_ORIGIN", &text, "is no origin; write `https://shop.example`, without a path")
    })
}

/// `REDIS_URL`: the Redis that keeps one-time tokens; without one, the database does.
pub fn redis() -> Result<Option<redis::Client>, StartError> {
    let Some(url) = read("REDIS_URL")? else { return Ok(None) };
    redis::Client::open(url.as_str())
        .map(Some)
        .map_err(|error| StartError::setting("REDIS_URL", &url, format!("{error}; write `redis://HOST:PORT`")))
}

fn read(name: &'static str) -> Result<Option<String>, StartError> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    match value.into_string() {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(value) => Err(StartError::setting(name, &value.to_string_lossy(), "is not UTF-8")),
    }
}

/// Reads `500ms`, `30s`, `5m`, `72h`.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|digit: char| !digit.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let millis: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(millis).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Some(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        assert_eq!(duration("72h"), Some(LONGEST_LEASE));
        for nonsense in ["", "30", "s", "-1s", "1.5s", "30 s", "1d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(duration(nonsense), None, "{nonsense:?}");
        }
    }
}
