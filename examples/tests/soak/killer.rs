//! Who is killed, and when.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::chance::Chance;
use crate::database::{Chosen, Database as _};
use crate::program::Program;

/// How long everything runs before something is killed, in milliseconds.
const AT_LEAST: u64 = 20;
const AT_MOST: u64 = 400;
/// Each kill of this number is one of the database server, where there is one.
const DATABASE: u64 = 5;

/// What can be killed. In this order it is when it is over.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) orders: Program,
    pub(crate) charges: Program,
    pub(crate) database: Chosen,
}

/// The end of the killing: the clients then finish what they have begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct End(Arc<AtomicBool>);

impl End {
    pub(crate) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn declare(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Kills at moments that a seed decides.
#[derive(Debug)]
pub(crate) struct Killer {
    chance: Chance,
    kills: u64,
    end: End,
}

impl Killer {
    pub(crate) fn new(seed: u64, kills: u64) -> Self {
        Self { chance: Chance::new(seed, u64::MAX), kills, end: End::default() }
    }

    pub(crate) fn end(&self) -> End {
        self.end.clone()
    }

    /// Kills as often as it was told, or until somebody else declares the end.
    pub(crate) fn run(mut self, targets: &mut Targets) -> Killed {
        let mut killed = Killed::default();
        for number in 1..=self.kills {
            let moment = AT_LEAST + self.chance.below(AT_MOST - AT_LEAST + 1);
            let (count, program) = match self.chance.below(2) {
                0 => (&mut killed.orders, &mut targets.orders),
                _ => (&mut killed.charges, &mut targets.charges),
            };
            std::thread::sleep(Duration::from_millis(moment));
            if self.end.has_come() {
                break;
            }
            if number % DATABASE == 0 && targets.database.crash() {
                killed.database += 1;
            } else {
                program.crash();
                *count += 1;
            }
        }
        killed
    }
}

/// The end comes, whatever becomes of the killer.
impl Drop for Killer {
    fn drop(&mut self) {
        self.end.declare();
    }
}

/// How often something was killed.
#[derive(Debug, Default)]
pub(crate) struct Killed {
    orders: u64,
    charges: u64,
    database: u64,
}

impl Killed {
    /// Whether the database server was among the killed.
    pub(crate) fn with_database(&self) -> bool {
        self.database > 0
    }

    pub(crate) fn sum(&self) -> u64 {
        self.orders + self.charges + self.database
    }
}

impl fmt::Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { orders, charges, database } = self;
        write!(f, "{} kills (orders {orders}, charges {charges}, database {database})", self.sum())
    }
}
