//! Waiting for a first run to end (`in_flight = wait(…)`), without a connection.
//!
//! In this process one of the same requests at a time has the turn to claim their key and to run under it. The others
//! wait for the end of its turn, and so are woken at once. Whoever has the turn and finds that another process runs asks
//! again, after rests that grow. Another request under the key has a turn of its own, and learns that it is another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::claim::{Address, Claim, UNSEEN};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::record::Refusal;
use crate::terms::InFlight;

/// The rest between two looks at the run of another process, at first and at most.
const RESTS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(320));

/// How long a request waits, and for whom; none for one that does not wait.
#[derive(Debug)]
pub(crate) struct Patience(Option<Waits>);

#[derive(Debug)]
struct Waits {
    longest: Duration,
    caller: CancellationToken,
}

impl Patience {
    /// That of one call. When the guard is dropped, nobody waits for the answer any more.
    pub(crate) fn of(in_flight: InFlight) -> (Self, Option<DropGuard>) {
        let InFlight::Wait { millis } = in_flight else { return (Self(None), None) };
        let caller = CancellationToken::new();
        let waits = Waits { longest: Duration::from_millis(millis), caller: caller.clone() };
        (Self(Some(waits)), Some(caller.drop_guard()))
    }
}

/// Where the requests of an engine wait.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    seats: Arc<Semaphore>,
    turns: Mutex<Turns>,
}

/// Those of a key, one for each request that asks for something else.
type Turns = HashMap<Address, Vec<Arc<Taken>>>;

/// A turn that somebody has.
#[derive(Debug)]
struct Taken {
    asked: Fingerprint,
    /// Whether the claim was won, and not only asked for.
    runs: AtomicBool,
    over: CancellationToken,
}

impl Taken {
    /// What somebody is told who waits no longer: that it runs, or nothing, and then the record is asked.
    fn answer(&self) -> Result<Turn, Error> {
        if self.runs.load(Ordering::Acquire) { Err(UNSEEN.into()) } else { Ok(Turn(None)) }
    }
}

/// What became of the turn that was asked for.
enum Found {
    /// It was nobody's, and is taken now.
    Free(Arc<Taken>),
    /// The same request has it.
    Taken(Arc<Taken>),
}

impl WaitingRoom {
    pub(crate) fn new(seats: usize) -> Self {
        Self { seats: Arc::new(Semaphore::new(seats.min(Semaphore::MAX_PERMITS))), turns: Mutex::default() }
    }

    /// Takes the turn to claim a key; waits for it if another request of this process has it.
    ///
    /// An error is the answer. A turn of nobody's is for those that do not wait: they ask the record, and are answered
    /// by that.
    pub(crate) async fn enter(self: &Arc<Self>, claim: &Claim, patience: Patience) -> Result<Turn, Error> {
        let Some(Waits { longest, caller }) = patience.0 else { return Ok(Turn(None)) };
        let until = Instant::now() + longest;
        let mut seat = None;
        loop {
            let taken = match self.find(claim)? {
                Found::Free(taken) => {
                    let (room, address) = (Arc::clone(self), claim.address.clone());
                    let held = Held { room, address, taken, until, caller, seat, rest: RESTS.0 };
                    return Ok(Turn(Some(Box::new(held))));
                }
                Found::Taken(taken) => taken,
            };
            seat = seat.or_else(|| self.seat());
            if seat.is_none() {
                return taken.answer();
            }
            let over = caller.run_until_cancelled(taken.over.cancelled());
            match tokio::time::timeout_at(until, over).await {
                Ok(Some(())) => {}
                Ok(None) => return Err(UNSEEN.into()),
                Err(_) => return taken.answer(),
            }
        }
    }

    /// Takes the turn, or finds who has it; or that another request runs under this key.
    fn find(&self, claim: &Claim) -> Result<Found, Error> {
        let mut turns = self.turns();
        let turns = turns.entry(claim.address.clone()).or_default();
        check_mismatch(turns, claim.fingerprint)?;
        if let Some(taken) = turns.iter().find(|taken| taken.asked == claim.fingerprint) {
            return Ok(Found::Taken(Arc::clone(taken)));
        }
        let (runs, over) = (AtomicBool::new(false), CancellationToken::new());
        let taken = Arc::new(Taken { asked: claim.fingerprint, runs, over });
        turns.push(Arc::clone(&taken));
        Ok(Found::Free(taken))
    }

    fn seat(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.seats).try_acquire_owned().ok()
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a request under whose key another one runs here.
fn check_mismatch(turns: &[Arc<Taken>], asked: Fingerprint) -> Result<(), Error> {
    let another = |taken: &Arc<Taken>| taken.asked != asked && taken.runs.load(Ordering::Acquire);
    if turns.iter().any(another) { Err(Error::KeyReused) } else { Ok(()) }
}

/// The turn to claim a key and to run under it; nobody's where repeats do not wait. It is over when it is dropped: once
/// the answer is stored, or the key given back.
#[derive(Debug)]
pub(crate) struct Turn(Option<Box<Held>>);

#[derive(Debug)]
struct Held {
    room: Arc<WaitingRoom>,
    address: Address,
    taken: Arc<Taken>,
    until: Instant,
    caller: CancellationToken,
    seat: Option<OwnedSemaphorePermit>,
    rest: Duration,
}

impl Turn {
    /// The claim was won: this request waits no more.
    pub(crate) fn won(&mut self) {
        if let Some(held) = &mut self.0 {
            held.seat = None;
            held.taken.runs.store(true, Ordering::Release);
        }
    }

    /// Rests before the record, which has refused, is asked again. An error is the answer.
    pub(crate) async fn rest(&mut self, refusal: Refusal) -> Result<(), Error> {
        let (Refusal::InUse { .. }, Some(held)) = (refusal, &mut self.0) else { return Err(refusal.into()) };
        let turns = held.room.turns().get(&held.address).cloned().unwrap_or_default();
        check_mismatch(&turns, held.taken.asked)?;
        if held.seat.is_none() {
            held.seat = held.room.seat();
        }
        let left = held.until.saturating_duration_since(Instant::now());
        if held.seat.is_none() || left.is_zero() {
            return Err(refusal.into());
        }
        let rest = held.rest.min(left);
        held.rest = RESTS.1.min(held.rest * 2);
        let rested = held.caller.run_until_cancelled(tokio::time::sleep(rest)).await;
        rested.ok_or_else(|| refusal.into())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut turns = self.room.turns();
        if let Some(of_key) = turns.get_mut(&self.address) {
            of_key.retain(|taken| !Arc::ptr_eq(taken, &self.taken));
            if of_key.is_empty() {
                turns.remove(&self.address);
            }
        }
        drop(turns);
        self.taken.over.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::lifetime::{Term, Ttl};

    const LONG: InFlight = InFlight::Wait { millis: 600_000 };

    fn claim(key: &str, asked: u8) -> Claim {
        Claim {
            address: Address {
                namespace: String::new(),
                operation: String::new(),
                scope: String::new(),
                key: Key::natural(key).unwrap(),
                vault: crate::vault::Vault::default(),
            },
            fingerprint: Fingerprint::of_value(&[asked]),
            ttl: Ttl::FOREVER,
            lease: Term::default_for(Ttl::FOREVER),
            hold: false,
            max_attempts: 0,
            arguments: None,
            by: crate::claim::By::Key,
            known: false,
        }
    }

    fn is_turn(entered: &Result<Turn, Error>) -> bool {
        matches!(entered, Ok(Turn(Some(_))))
    }

    fn is_nobodys(entered: &Result<Turn, Error>) -> bool {
        matches!(entered, Ok(Turn(None)))
    }

    #[tokio::test]
    async fn one_request_has_the_turn_and_the_next_gets_it() {
        let room = Arc::new(WaitingRoom::new(8));
        let (patience, _first) = Patience::of(LONG);
        let turn = room.enter(&claim("k", 1), patience).await.unwrap();
        let (patience, _second) = Patience::of(LONG);
        let next = tokio::spawn({
            let room = Arc::clone(&room);
            async move { room.enter(&claim("k", 1), patience).await }
        });
        while room.seats.available_permits() == 8 {
            tokio::task::yield_now().await;
        }
        let (patience, _third) = Patience::of(LONG);
        assert!(is_turn(&room.enter(&claim("another", 1), patience).await), "another key is another turn");
        drop(turn);
        let mut next = next.await.unwrap();
        assert!(is_turn(&next));
        next.as_mut().unwrap().won();
        assert_eq!(room.seats.available_permits(), 8, "who runs waits no more");
        drop(next);
        assert!(room.turns().is_empty(), "nothing is left of a turn");
    }

    #[tokio::test]
    async fn another_request_has_a_turn_of_its_own_until_it_is_known_to_be_another() {
        let room = Arc::new(WaitingRoom::new(8));
        let (patience, _first) = Patience::of(LONG);
        let mut turn = room.enter(&claim("k", 1), patience).await.unwrap();
        let (patience, _other) = Patience::of(LONG);
        let mut other = room.enter(&claim("k", 2), patience).await.unwrap();
        turn.won();
        assert!(matches!(other.rest(UNSEEN).await, Err(Error::KeyReused)));
        let (patience, _third) = Patience::of(LONG);
        assert!(matches!(room.enter(&claim("k", 3), patience).await, Err(Error::KeyReused)));
        drop((turn, other));
        assert!(room.turns().is_empty());
    }

    #[tokio::test]
    async fn only_a_key_in_use_is_waited_for() {
        let room = Arc::new(WaitingRoom::new(8));
        let (patience, _guard) = Patience::of(LONG);
        let mut turn = room.enter(&claim("k", 1), patience).await.unwrap();
        assert!(turn.rest(UNSEEN).await.is_ok());
        assert!(matches!(turn.rest(Refusal::Reused).await, Err(Error::KeyReused)));
        assert!(matches!(turn.rest(Refusal::OutcomeUnknown).await, Err(Error::OutcomeUnknown)));
    }

    #[tokio::test]
    async fn without_a_seat_nobody_waits() {
        let room = Arc::new(WaitingRoom::new(0));
        let (patience, _first) = Patience::of(LONG);
        let mut turn = room.enter(&claim("k", 1), patience).await.unwrap();
        assert!(turn.rest(UNSEEN).await.is_err());
        let (patience, _second) = Patience::of(LONG);
        assert!(is_nobodys(&room.enter(&claim("k", 1), patience).await));
        turn.won();
        let (patience, _third) = Patience::of(LONG);
        assert!(matches!(room.enter(&claim("k", 1), patience).await, Err(Error::KeyInUse { .. })));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_when_its_time_is_over_or_its_caller_has_gone() {
        let room = Arc::new(WaitingRoom::new(8));
        let (patience, _first) = Patience::of(LONG);
        let mut turn = room.enter(&claim("k", 1), patience).await.unwrap();
        let (patience, _second) = Patience::of(InFlight::Wait { millis: 2_000 });
        let begun = Instant::now();
        assert!(is_nobodys(&room.enter(&claim("k", 1), patience).await), "the record may be free");
        turn.won();
        let (patience, _second) = Patience::of(InFlight::Wait { millis: 3_000 });
        assert!(matches!(room.enter(&claim("k", 1), patience).await, Err(Error::KeyInUse { .. })));
        assert_eq!(begun.elapsed().as_secs(), 5);
        let (patience, third) = Patience::of(LONG);
        drop(third);
        assert!(matches!(room.enter(&claim("k", 1), patience).await, Err(Error::KeyInUse { .. })));
        assert_eq!((begun.elapsed().as_secs(), room.seats.available_permits()), (5, 8));
        drop(turn);

        let (patience, caller) = Patience::of(InFlight::Wait { millis: 5_000 });
        let mut turn = room.enter(&claim("k", 1), patience).await.unwrap();
        let (begun, mut looks) = (Instant::now(), 0);
        while turn.rest(UNSEEN).await.is_ok() {
            looks += 1;
        }
        assert_eq!((begun.elapsed().as_secs(), looks), (5, 20), "and its last look is at the end");
        drop(caller);
        assert!(turn.rest(UNSEEN).await.is_err());
    }

    #[tokio::test]
    async fn who_does_not_wait_takes_no_turn() {
        let room = Arc::new(WaitingRoom::new(8));
        for _ in 0..2 {
            let (patience, _guard) = Patience::of(InFlight::Reject);
            let mut turn = room.enter(&claim("k", 1), patience).await;
            assert!(is_nobodys(&turn));
            assert!(turn.as_mut().unwrap().rest(UNSEEN).await.is_err());
            assert!(room.turns().is_empty());
        }
    }
}
