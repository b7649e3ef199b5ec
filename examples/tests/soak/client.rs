//! A client: it creates an order, pays it, and begins again.

use serde_json::json;

use crate::call::{Answer, Call, Caller, Fault};
use crate::chance::Chance;
use crate::killer::End;

/// How a card behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    Good,
    /// The provider fails once.
    Flaky,
    Declined,
}

impl Card {
    fn draw(chance: &mut Chance) -> Self {
        match chance.below(10) {
            0 => Self::Flaky,
            1 => Self::Declined,
            _ => Self::Good,
        }
    }

    fn token(self) -> &'static str {
        match self {
            Self::Good => "tok_ok",
            Self::Flaky => "tok_flaky",
            Self::Declined => "tok_declined",
        }
    }
}

/// An order, from its creation to its payment.
#[derive(Debug)]
pub(crate) struct Purchase {
    /// No two purchases have the same.
    pub(crate) amount: u64,
    pub(crate) card: Card,
    pub(crate) created: (Call, Answer),
    pub(crate) paid: (Call, Answer),
}

/// A client of `orders`, and what it has seen.
#[derive(Debug)]
pub(crate) struct Client {
    seed: u64,
    number: u64,
    chance: Chance,
    caller: Caller,
    end: End,
    pub(crate) purchases: Vec<Purchase>,
    /// Why it stopped before the end.
    pub(crate) fault: Option<Fault>,
}

impl Client {
    pub(crate) fn new(seed: u64, number: u64, caller: Caller, end: End) -> Self {
        let chance = Chance::new(seed, number);
        Self { seed, number, chance, caller, end, purchases: Vec::new(), fault: None }
    }

    /// The user that it is: nobody else has orders of this one.
    pub(crate) fn user(&self) -> String {
        format!("client-{}", self.number)
    }

    /// Buys until the end comes, and finishes what it has begun then.
    pub(crate) async fn run(mut self) -> Self {
        while !self.end.has_come() {
            match self.purchase().await {
                Ok(purchase) => self.purchases.push(purchase),
                Err(fault) => {
                    self.fault = Some(fault);
                    self.end.declare();
                }
            }
        }
        self
    }

    async fn purchase(&mut self) -> Result<Purchase, Fault> {
        let nth = self.purchases.len() as u64 + 1;
        let amount = (self.number + 1) * 1_000_000 + nth;
        let card = Card::draw(&mut self.chance);
        let call = |verb: &str, path: String, body| {
            let key = format!("soak-{}-{}-{nth}-{verb}", self.seed, self.number);
            Call { user: self.user(), path, key, body }
        };

        let create = call("create", "/orders".into(), json!({ "item": "book", "amount": amount, "currency": "usd" }));
        let (created, _) = self.caller.call(&create).await?;
        let location = created.location.clone().ok_or_else(|| {
            Fault::Unexpected(format!("unexpected: no `Location` for the key {}: {created:?}", create.key))
        })?;
        let pay = call("pay", format!("{location}/pay"), json!({ "card": card.token() }));
        let (paid, _) = self.caller.call(&pay).await?;
        Ok(Purchase { amount, card, created: (create, created), paid: (pay, paid) })
    }
}
