//! What always holds, and what happens sometimes: without the second, the first might hold because nothing happens.

use stateright::Property;

use crate::client::OnCrash;
use crate::event::{By, Event, Request, Token, Why};
use crate::protocol::{Protocol, Transactions};
use crate::row::Standing;

pub(crate) const ONE_COMMIT: &str = "an effect in a transaction commits once in the life of a record";
pub(crate) const LIMITED: &str = "effects are no more than attempts until somebody decides";
pub(crate) const NO_STALE_COMPLETION: &str = "no stale holder completes";
pub(crate) const NO_STALE_WRITE: &str = "no stale holder releases or renews";
pub(crate) const TERMINAL: &str = "what is completed stays until it expires";
pub(crate) const LIVE: &str = "a live lease is its holder's alone";
pub(crate) const HELD: &str = "a held claim waits for its holder or for a decision";
pub(crate) const OWN_ANSWER: &str = "only who asked the same gets the answer";
pub(crate) const NO_OLD_ANSWER: &str = "an expired answer is not given";
pub(crate) const ONE_REQUEST: &str = "a key runs for one request until it expires";
pub(crate) const ONE_HOLDER: &str = "no two clients pass the fence";
pub(crate) const TOKENS_GROW: &str = "tokens grow while a row stands";
pub(crate) const SWEPT_IF_OVER: &str = "a sweep deletes only what is over";
pub(crate) const TRUE_REFUSALS: &str = "a refusal says what is so";

pub(crate) const REPLAY: &str = "an answer is replayed";
pub(crate) const REUSED: &str = "another request under the key is refused";
pub(crate) const IN_USE: &str = "a request is told that the first still runs";
pub(crate) const NOT_STORED: &str = "a request is told that the answer was not stored";
pub(crate) const EXPIRED: &str = "an expired key runs anew";
pub(crate) const SWEPT: &str = "a swept key runs anew";
pub(crate) const FOR_ANOTHER: &str = "an expired key runs for another request";
pub(crate) const OVERTAKEN: &str = "a transaction that was overtaken is rolled back";
pub(crate) const RELEASED: &str = "a released key runs again";
pub(crate) const REVIVED: &str = "a lapsed lease is revived and completes";
pub(crate) const FENCED: &str = "a zombie's completion is refused";
pub(crate) const TAKEN_OVER: &str = "an abandoned claim is taken over";
pub(crate) const FORGOTTEN: &str = "a claim that was abandoned and has expired is taken by another request";
pub(crate) const TWICE: &str = "two effects happen in one life";
pub(crate) const UNKNOWN: &str = "a request is told that the outcome is unknown";
pub(crate) const DECIDED: &str = "somebody decides";
pub(crate) const TOO_LATE: &str = "a decision comes too late";

type P = Property<Protocol>;

pub(crate) fn of(protocol: &Protocol) -> Vec<P> {
    let mut properties = always();
    properties.extend(sometimes());
    if protocol.has_transactions() && protocol.transactions == Transactions::Guard {
        properties.push(P::sometimes(OVERTAKEN, |_, s| s.event == Event::Overtaken));
    }
    let on_crash: Vec<_> = protocol.on_crash().collect();
    if !on_crash.is_empty() {
        properties.extend(leased());
    }
    if on_crash.iter().any(|on_crash| *on_crash != OnCrash::Hold) {
        properties.push(P::sometimes(FORGOTTEN, |_, s| {
            matches!(s.event, Event::Claimed { found: Standing::Forgotten, request: Request::Another, .. })
        }));
        // Otherwise both are over at once.
        if protocol.lease < protocol.ttl {
            properties.push(P::sometimes(TAKEN_OVER, |_, s| {
                matches!(s.event, Event::Claimed { found: Standing::Abandoned, .. })
            }));
        }
    }
    if on_crash.contains(&OnCrash::Retry) {
        properties.push(P::sometimes(TWICE, |_, s| s.truth.performed > 1));
    }
    if on_crash.into_iter().any(OnCrash::may_hold) {
        properties.extend(held());
    }
    properties
}

fn always() -> Vec<P> {
    vec![
        P::always(ONE_COMMIT, |_, s| s.truth.committed <= 1),
        P::always(LIMITED, |p, s| p.most_effects().is_none_or(|most| s.truth.performed <= most)),
        P::always(NO_STALE_COMPLETION, |_, s| !matches!(s.event, Event::Completed { by: By::Stale, .. })),
        P::always(NO_STALE_WRITE, |_, s| s.event != Event::WrittenByStale),
        P::always(TERMINAL, |_, s| s.violated != Some(Standing::Completed)),
        P::always(LIVE, |_, s| s.violated != Some(Standing::Live)),
        P::always(HELD, |_, s| s.violated != Some(Standing::Held)),
        P::always(OWN_ANSWER, |_, s| !matches!(s.event, Event::Replayed { request: Request::Another, .. })),
        P::always(NO_OLD_ANSWER, |_, s| !matches!(s.event, Event::Replayed { found: Standing::Expired, .. })),
        P::always(ONE_REQUEST, |_, s| match s.event {
            Event::Claimed { found, request: Request::Another, .. } => found.is_free(),
            _ => true,
        }),
        P::always(ONE_HOLDER, |p, s| p.holders(s) <= 1),
        P::always(TOKENS_GROW, |_, s| !matches!(s.event, Event::Claimed { token: Token::Repeated, .. })),
        P::always(SWEPT_IF_OVER, |_, s| match s.event {
            Event::Swept { found } => found.is_free(),
            _ => true,
        }),
        P::always(TRUE_REFUSALS, |_, s| match s.event {
            Event::Refused { found, why: Why::Reused } => !found.is_free(),
            Event::Refused { found, why: Why::InUse } => found == Standing::Live,
            Event::Refused { found, why: Why::OutcomeUnknown } => found == Standing::Held,
            Event::Refused { found, why: Why::NotStored } => found == Standing::Completed,
            _ => true,
        }),
    ]
}

fn sometimes() -> Vec<P> {
    vec![
        P::sometimes(REPLAY, |_, s| matches!(s.event, Event::Replayed { .. })),
        P::sometimes(REUSED, |_, s| matches!(s.event, Event::Refused { why: Why::Reused, .. })),
        P::sometimes(EXPIRED, |_, s| matches!(s.event, Event::Claimed { found: Standing::Expired, .. })),
        P::sometimes(SWEPT, |_, s| matches!(s.event, Event::Claimed { found: Standing::Swept, .. })),
        P::sometimes(FOR_ANOTHER, |_, s| {
            matches!(s.event, Event::Claimed { found: Standing::Expired, request: Request::Another, .. })
        }),
    ]
}

fn leased() -> Vec<P> {
    vec![
        P::sometimes(IN_USE, |_, s| matches!(s.event, Event::Refused { why: Why::InUse, .. })),
        P::sometimes(NOT_STORED, |_, s| matches!(s.event, Event::Refused { why: Why::NotStored, .. })),
        P::sometimes(RELEASED, |_, s| matches!(s.event, Event::Claimed { found: Standing::Released, .. })),
        P::sometimes(REVIVED, |_, s| matches!(s.event, Event::Completed { revived: true, .. })),
        P::sometimes(FENCED, |_, s| s.event == Event::Fenced),
    ]
}

fn held() -> Vec<P> {
    vec![
        P::sometimes(UNKNOWN, |_, s| matches!(s.event, Event::Refused { why: Why::OutcomeUnknown, .. })),
        P::sometimes(DECIDED, |_, s| s.event == Event::Resolved),
        P::sometimes(TOO_LATE, |_, s| s.event == Event::Unresolved),
    ]
}
