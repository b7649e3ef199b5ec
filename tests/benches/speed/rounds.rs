//! Measuring several sides in turns, so that what the machine does meanwhile is met by each alike.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

/// How many clients call at once.
pub(crate) const CLIENTS: [usize; 3] = [1, 8, 32];

/// One call by the client of this number.
pub(crate) type Call = Arc<dyn Fn(usize) -> BoxFuture<'static, ()> + Send + Sync>;

/// What is measured, under its name.
pub(crate) struct Side {
    pub(crate) name: &'static str,
    call: Call,
}

impl Side {
    pub(crate) fn new<F: Future<Output = ()> + Send + 'static>(
        name: &'static str,
        call: impl Fn(usize) -> F + Send + Sync + 'static,
    ) -> Self {
        Self { name, call: Arc::new(move |client| Box::pin(call(client))) }
    }
}

/// Microseconds a call, of each side in each round; many clients share the time.
#[derive(Debug, Default)]
pub(crate) struct Timings(BTreeMap<&'static str, Vec<f64>>);

/// A median with the quartiles around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

/// Measures the sides in turns: A B C A B C …, each for about `slice`, and each round from another one on.
pub(crate) async fn measure(sides: &[Side], clients: usize, rounds: usize, slice: Duration) -> Timings {
    let mut counts = Vec::new();
    for side in sides {
        // Prepares the statements of every connection, and says how many calls fill a slice.
        run(&side.call, clients, 64.max(clients as u64 * 4)).await;
        let mut count = 64;
        let taken = loop {
            let taken = run(&side.call, clients, count).await;
            if taken > slice / 8 || count > 1 << 20 {
                break taken;
            }
            count *= 2;
        };
        let fitting = count as f64 * slice.as_secs_f64() / taken.as_secs_f64();
        counts.push((fitting as u64).max(clients as u64));
    }
    let mut timings = Timings::default();
    for round in 0..rounds {
        for turn in 0..sides.len() {
            let at = (turn + round) % sides.len();
            let taken = run(&sides[at].call, clients, counts[at]).await;
            let micros = taken.as_secs_f64() * 1e6 / counts[at] as f64;
            timings.0.entry(sides[at].name).or_default().push(micros);
        }
    }
    timings
}

/// Has so many clients make so many calls together.
async fn run(call: &Call, clients: usize, count: u64) -> Duration {
    let left = Arc::new(AtomicU64::new(count));
    let begun = Instant::now();
    let tasks = (0..clients).map(|client| {
        let (call, left) = (Arc::clone(call), Arc::clone(&left));
        tokio::spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                call(client).await;
                // As a connection does that waits for its next request: the scheduler looks after all the others.
                tokio::task::yield_now().await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("a call of the benchmark failed");
    }
    begun.elapsed()
}

impl Timings {
    /// What was measured.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Microseconds a call; `None` if it was not measured.
    pub(crate) fn micros(&self, side: &str) -> Option<Spread> {
        self.0.get(side).cloned().map(Spread::of)
    }

    /// How much longer one side takes than another, round by round; `None` if one was not measured.
    pub(crate) fn ratio(&self, side: &str, to: &str) -> Option<Spread> {
        let both = self.0.get(side)?.iter().zip(self.0.get(to)?);
        Some(Spread::of(both.map(|(side, to)| side / to).collect()))
    }

    /// How much longer a side takes than a smaller one for each of `more` things that it does more, against a third.
    pub(crate) fn ratio_each(&self, side: &str, smaller: &str, more: f64, to: &str) -> Option<Spread> {
        let both = self.0.get(side)?.iter().zip(self.0.get(smaller)?);
        Some(Spread::of(both.zip(self.0.get(to)?).map(|((side, smaller), to)| (side - smaller) / more / to).collect()))
    }
}

impl Spread {
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
        Self { low: at(0.25), median: at(0.5), high: at(0.75) }
    }

    /// Rounded, as it is written down.
    pub(crate) fn json(self) -> Value {
        json!({ "median": round(self.median), "low": round(self.low), "high": round(self.high) })
    }
}

/// A figure with no more digits than it deserves.
pub(crate) fn round(figure: f64) -> f64 {
    (figure * 1_000.0).round() / 1_000.0
}
