//! What is left when everything has ended, and whether it is what must be left.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde_json::Value;

use crate::call::{Answer, Call, Caller, Fault};
use crate::client::{Card, Client, Purchase};

/// The count, and everything that is wrong.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    calls: usize,
    tries: u64,
    orders: usize,
    charges: usize,
    double_charges: usize,
    lost_answers: usize,
    /// Payments whose answer was given while the database was down, and which ended with their program before it was up
    /// again: nothing was stored, and the repeat runs. It must come to the same answer, which is then stored.
    run_again: usize,
    stuck_keys: usize,
    pub(crate) faults: Vec<String>,
}

impl Verdict {
    /// Asks both programs what they know, and repeats every call that was answered.
    pub(crate) async fn of(caller: &Caller, clients: &[Client], killed_database: bool) -> Self {
        let mut verdict = Self { tries: caller.tries(), ..Self::default() };
        let charges = verdict.note(caller.charges().await).unwrap_or_default();
        verdict.charges = charges.len();
        let charges = by_amount(charges);
        let mut explained = HashSet::new();
        for client in clients {
            verdict.calls += 2 * client.purchases.len();
            if let Some(fault) = &client.fault {
                verdict.note::<()>(Err(fault.clone()));
            }
            let orders = verdict.note(caller.orders(&client.user()).await).unwrap_or_default();
            verdict.orders += orders.len();
            // A client that gave up may have left one more.
            let most = client.purchases.len() + usize::from(client.fault.is_some());
            if orders.len() > most {
                verdict.fault(format!("{} has {} orders for {most} keys", client.user(), orders.len()));
            }
            let orders = by_amount(orders);
            for purchase in &client.purchases {
                verdict.check_order(purchase, orders.get(&purchase.amount).map_or(&[], Vec::as_slice));
                verdict.check_charges(purchase, charges.get(&purchase.amount).map_or(&[], Vec::as_slice));
                explained.insert(purchase.amount);
                // Only what runs under a lease is answered before its answer is stored, and only without a database.
                verdict.check_answer(caller, &purchase.created, false).await;
                verdict.check_answer(caller, &purchase.paid, killed_database).await;
            }
        }
        for amount in charges.keys().filter(|amount| !explained.contains(*amount)) {
            if clients.iter().all(|client| client.fault.is_none()) {
                verdict.fault(format!("a charge of {amount} belongs to no order"));
            }
        }
        verdict
    }

    /// One order, in the state that its payment's answer tells.
    fn check_order(&mut self, purchase: &Purchase, orders: &[Value]) {
        let Purchase { card, created: (create, created), paid: (pay, paid), .. } = purchase;
        let [order] = orders else {
            return self.fault(format!("{} orders for the key {}: {orders:?}", orders.len(), create.key));
        };
        if created.status != 201 || created.json()["id"] != order["id"] {
            self.fault(format!("the key {} was answered with {created:?}, but made {order}", create.key));
        }
        let (status, state) = if *card == Card::Declined { (402, "created") } else { (200, "paid") };
        if paid.status != status {
            self.fault(format!("the key {} was answered with {paid:?} instead of {status}", pay.key));
        }
        if order["status"] != state {
            self.fault(format!("the order of the key {} is {order} instead of `{state}`", pay.key));
        }
        if *card != Card::Declined && paid.json() != *order {
            self.fault(format!("the key {} was answered with {paid:?}, but the order is {order}", pay.key));
        }
    }

    /// One charge, the one that the order names; none for a card that was declined.
    fn check_charges(&mut self, purchase: &Purchase, charges: &[Value]) {
        let (pay, paid) = &purchase.paid;
        let expected = usize::from(purchase.card != Card::Declined);
        if charges.len() > expected {
            self.double_charges += charges.len() - expected;
            self.fault(format!("{} charges instead of {expected} for the key {}: {charges:?}", charges.len(), pay.key));
        } else if charges.len() < expected {
            self.fault(format!("no charge for the key {}, which was answered with {paid:?}", pay.key));
        } else if charges.iter().any(|charge| charge["id"] != paid.json()["charge"]) {
            self.fault(format!("the charge of the key {} is {charges:?}, but its order says {paid:?}", pay.key));
        }
    }

    /// What a client has seen is stored for good.
    async fn check_answer(&mut self, caller: &Caller, (call, answer): &(Call, Answer), may_run_again: bool) {
        let mut may_run_again = may_run_again;
        loop {
            match caller.call(call).await {
                Ok((again, true)) if again == *answer => return,
                Ok((again, false)) if again == *answer && may_run_again => {
                    self.run_again += 1;
                    may_run_again = false;
                }
                Ok((again, is_replayed)) => {
                    self.lost_answers += 1;
                    let how = if is_replayed { "replayed" } else { "not replayed" };
                    let key = &call.key;
                    return self.fault(format!(
                        "lost: the key {key} was answered with {answer:?}, later with {again:?}, {how}"
                    ));
                }
                Err(fault) => {
                    self.note::<()>(Err(fault));
                    return;
                }
            }
        }
    }

    /// Remembers what went wrong.
    fn note<T>(&mut self, outcome: Result<T, Fault>) -> Option<T> {
        match outcome {
            Ok(value) => return Some(value),
            Err(Fault::Stuck(fault)) => {
                self.stuck_keys += 1;
                self.fault(fault);
            }
            Err(Fault::Unexpected(fault)) => self.fault(fault),
        }
        None
    }

    fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, tries, orders, charges, double_charges, lost_answers, run_again, stuck_keys, faults: _ } =
            self;
        write!(
            f,
            "{calls} calls in {tries} tries, {orders} orders, {charges} charges, {double_charges} double charges, \
             {lost_answers} lost answers, {run_again} run again, {stuck_keys} stuck keys"
        )
    }
}

fn by_amount(rows: Vec<Value>) -> HashMap<u64, Vec<Value>> {
    let mut sorted: HashMap<u64, Vec<Value>> = HashMap::new();
    for row in rows {
        sorted.entry(row["amount"].as_u64().unwrap_or_default()).or_default().push(row);
    }
    sorted
}
