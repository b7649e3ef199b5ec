//! Rows as the statements return them, the same on every database.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use http::StatusCode;
use uuid::Uuid;

use crate::answer::{Answer, read_headers};
use crate::claim::{Address, Fence, Row, StepRow, Unresolved};
use crate::fingerprint::Fingerprint;
use crate::key::Key;
use crate::record::{Record, State};
use crate::vault::{Part, Unreadable, Vault};

/// The types of a [`LookRow`], in the order of [`super::sql::COLUMNS`].
pub(crate) type LookSql =
    (BigInt, Binary, BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>, Nullable<Binary>, Nullable<Binary>);
/// now, fingerprint, state, held, lease, expiry, status, headers, body.
pub(crate) type LookRow = (i64, Vec<u8>, i64, i64, i64, i64, Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>);

/// The types of a [`ClaimRow`].
pub(crate) type ClaimSql = (
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    BigInt,
    Nullable<Binary>,
    Nullable<BigInt>,
    Nullable<BigInt>,
    Nullable<BigInt>,
    Nullable<BigInt>,
    Nullable<BigInt>,
    Nullable<Binary>,
    Nullable<Binary>,
);
/// kind, token, generation, attempts, then a [`LookRow`] whose columns are NULL unless the kind is [`FOUND`].
pub(crate) type ClaimRow = (
    i64,
    i64,
    i64,
    i64,
    i64,
    Option<Vec<u8>>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<Vec<u8>>,
    Option<Vec<u8>>,
);
/// The types of a [`WonRow`].
pub(crate) type WonSql = (BigInt, BigInt, BigInt);
/// token, generation, attempts.
pub(crate) type WonRow = (i64, i64, i64);
/// The types of a [`RecordedRow`].
pub(crate) type StepSql = (Text, Binary);
/// name, value.
pub(crate) type RecordedRow = (String, Vec<u8>);
/// The types of an [`UnresolvedRow`].
pub(crate) type UnresolvedSql = (Text, Text, Text, Binary, BigInt, BigInt, BigInt, BigInt, Nullable<Binary>);
/// operation, scope, key, owner, token, generation, attempts, creation, arguments.
pub(crate) type UnresolvedRow = (String, String, String, Vec<u8>, i64, i64, i64, i64, Option<Vec<u8>>);

/// The types of a [`FoundRow`].
pub(crate) type FoundSql = (Nullable<Text>, Nullable<Text>, Nullable<BigInt>, Nullable<Text>, Nullable<BigInt>);
/// A row of a machine: id, state, a number, key, age.
pub(crate) type FoundRow = (Option<String>, Option<String>, Option<i64>, Option<String>, Option<i64>);

/// A [`ClaimRow`]: there was a row, and it may not be claimed.
pub(crate) const FOUND: i64 = 0;
/// A [`ClaimRow`]: the claim is ours, under this token.
pub(crate) const WON: i64 = 1;

pub(crate) const COMPLETED: i64 = 1;
pub(crate) const RELEASED: i64 = 2;

/// Reads a row that the look returned.
pub(crate) fn read_look(address: &Address, row: LookRow) -> Row {
    let (now, fingerprint, state, held, lease_until, expires_at, status, headers, body) = row;
    let (answer, unreadable) = match body {
        Some(body) => match read_answer(address, status.unwrap_or(0), headers.unwrap_or_default(), body) {
            Ok(answer) => (answer, false),
            Err(Unreadable) => (None, true),
        },
        None => (None, false),
    };
    let state = match state {
        COMPLETED => State::Completed,
        RELEASED => State::Released,
        // An unknown state is not ours to run over.
        _ => State::Claimed,
    };
    Row {
        now,
        record: Record {
            fingerprint: Fingerprint::from_stored(&fingerprint),
            state,
            held: held != 0,
            lease_until,
            expires_at,
            replayable: answer.is_some() || unreadable,
        },
        answer,
        unreadable,
    }
}

/// Reads a stored answer; `None` for one that somebody else wrote. Its headers tell whether it is sealed: a body may
/// begin with any byte.
fn read_answer(address: &Address, status: i64, headers: Vec<u8>, body: Vec<u8>) -> Result<Option<Answer>, Unreadable> {
    let (sealed, vault) = (Vault::is_sealed(&headers), &address.vault);
    let headers = vault.open(address, Part::Headers, headers.into())?;
    let body = match sealed {
        true => vault.open(address, Part::Body(status), body.into())?,
        false => body.into(),
    };
    let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
    Ok(status.zip(read_headers(&headers)).map(|(status, headers)| Answer::new(status, headers, body)))
}

/// Reads the row of a [`FOUND`] claim; `None` for one that carries none.
pub(crate) fn read_found(address: &Address, row: ClaimRow) -> Option<Row> {
    let (_, _, _, _, now, fingerprint, state, held, lease_until, expires_at, status, headers, body) = row;
    Some(read_look(address, (now, fingerprint?, state?, held?, lease_until?, expires_at?, status, headers, body)))
}

/// Reads a recorded step.
pub(crate) fn read_step((name, value): RecordedRow) -> StepRow {
    StepRow { name, value: value.into() }
}

/// Reads an unresolved claim, without the keys of an engine; `None` if somebody else wrote it.
pub(crate) fn read_unresolved(namespace: &str, row: UnresolvedRow) -> Option<Unresolved> {
    let (operation, scope, key, owner, token, generation, attempt, created_at, arguments) = row;
    Some(Unresolved {
        address: Address {
            namespace: namespace.to_owned(),
            operation,
            scope,
            key: Key::of_stored(key),
            vault: Vault::default(),
        },
        fence: Fence { owner: Uuid::from_slice(&owner).ok()?, token, generation, attempt },
        created_at,
        arguments: arguments.map(Into::into),
    })
}
