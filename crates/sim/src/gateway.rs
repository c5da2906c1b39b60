//! A gateway with its own book. It keeps its promises (one capture per order, a void is final, a
//! refund once per name) and nothing more: what it says may come late, twice or never.

mod port;

pub(crate) use port::{Line, NAME};

use crate::Mutation;
use crate::sight::Sight;
use crate::world::World;
use domain::payments::Outcome;
use domain::{PaymentId, RefundId, Won};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The gateway's record of one payment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) captured: i64,
    pub(crate) refunded: i64,
    /// A final no, given by the gateway or asked for by us.
    pub(crate) is_refused: bool,
    pub(crate) is_voided: bool,
}

#[derive(Default)]
struct Book {
    payments: BTreeMap<PaymentId, Entry>,
    refunds: BTreeSet<(RefundId, u32)>,
}

#[derive(Default)]
pub(crate) struct Gateway(Mutex<Book>);

impl Gateway {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn entries(&self) -> BTreeMap<PaymentId, Entry> {
        self.book().payments.clone()
    }

    /// What became of a payment; unknown when it never heard of it, as it may be on its way.
    fn ask(&self, payment: PaymentId) -> Outcome {
        match self.book().payments.get(&payment) {
            None => Outcome::Unknown,
            Some(entry) if entry.is_refused => {
                Outcome::NotCaptured { reason: "REFUSED".to_owned() }
            }
            Some(entry) => Outcome::Captured {
                amount: Won::new(entry.captured).expect("captures are prices, which are in range"),
            },
        }
    }
}

impl World {
    /// A request to charge has arrived. The second one of a payment is answered like the first.
    fn hear_capture(&self, payment: PaymentId, amount: Won) -> Outcome {
        self.check_intent(payment);
        let (swarm, chance) = (&self.swarm, &self.chance);
        let mut book = self.gateway.book();
        if let Some(known) = book.payments.get(&payment) {
            self.saw(if known.is_voided {
                Sight::HeardAfterVoid
            } else {
                Sight::CaptureAskedTwice
            });
        }
        book.payments.entry(payment).or_insert_with(|| {
            if chance.happens(swarm.gateway_declines) {
                return Entry { is_refused: true, ..Entry::default() };
            }
            let short = i64::from(chance.happens(swarm.wrong_amount));
            Entry { captured: amount.get() - short, ..Entry::default() }
        });
        drop(book);
        self.gateway.ask(payment)
    }

    /// I12: whatever reaches the gateway was stored before.
    fn check_intent(&self, payment: PaymentId) {
        let sql = "select 1 from payments where id = $1 and requested_at is not null";
        let is_known = !self.store.look(sql, Some(payment.uuid())).is_empty();
        self.ensure(is_known, "I12", || format!("the gateway hears of {payment}, the store not"));
    }

    /// Makes sure that a payment will never be captured, unless it already was.
    fn hear_void(&self, payment: PaymentId) -> Outcome {
        self.saw(Sight::Voided);
        if self.mutation == Mutation::VoidIsAssumed {
            return Outcome::NotCaptured { reason: "VOIDED".to_owned() };
        }
        let voided = Entry { is_refused: true, is_voided: true, ..Entry::default() };
        self.gateway.book().payments.entry(payment).or_insert(voided);
        self.gateway.ask(payment)
    }

    /// Pays back, once per name of a refund.
    fn hear_refund(&self, payment: PaymentId, name: (RefundId, u32), amount: Won) {
        let mut book = self.gateway.book();
        if !book.refunds.insert(name) {
            self.saw(Sight::RefundAskedTwice);
            return;
        }
        let entry = book.payments.entry(payment).or_default();
        entry.refunded += amount.get();
        let entry = entry.clone();
        drop(book);
        let is_within = entry.refunded <= entry.captured;
        self.ensure(is_within, "I7", || format!("the gateway gave back too much: {entry:?}"));
    }
}
