//! A gateway with its own book. It keeps its promises (one capture per order, a void is final)
//! and nothing more: what it says may come late, twice or never.

use domain::payments::Outcome;
use domain::{PaymentId, Won};
use std::collections::{BTreeMap, BTreeSet};

/// What the gateway is going to decide when it hears of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Approve,
    Decline,
    /// Captures one won less: a bug of theirs, or a tampered page.
    ApproveWrongAmount,
}

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
pub(crate) struct Gateway {
    book: BTreeMap<PaymentId, Entry>,
    refunds: BTreeSet<u64>,
}

impl Gateway {
    pub(crate) fn book(&self) -> &BTreeMap<PaymentId, Entry> {
        &self.book
    }

    pub(crate) fn entry(&self, payment: PaymentId) -> Entry {
        self.book.get(&payment).cloned().unwrap_or_default()
    }

    pub(crate) fn has_heard_of(&self, payment: PaymentId) -> bool {
        self.book.contains_key(&payment)
    }

    /// Captures, once: the second request of a payment is answered like the first.
    pub(crate) fn capture(&mut self, payment: PaymentId, amount: Won, verdict: Verdict) -> Outcome {
        self.book.entry(payment).or_insert_with(|| match verdict {
            Verdict::Approve => Entry { captured: amount.get(), ..Entry::default() },
            Verdict::ApproveWrongAmount => Entry { captured: amount.get() - 1, ..Entry::default() },
            Verdict::Decline => Entry { is_refused: true, ..Entry::default() },
        });
        self.ask(payment)
    }

    /// What became of a payment; unknown when it never heard of it, as it may be on its way.
    pub(crate) fn ask(&self, payment: PaymentId) -> Outcome {
        match self.book.get(&payment) {
            None => Outcome::Unknown,
            Some(entry) if entry.is_refused => {
                Outcome::NotCaptured { reason: "REFUSED".to_owned() }
            }
            Some(entry) => Outcome::Captured {
                amount: Won::new(entry.captured).expect("captures are prices, which are in range"),
            },
        }
    }

    /// Makes sure that a payment will never be captured, unless it already was.
    pub(crate) fn void(&mut self, payment: PaymentId) -> Outcome {
        self.book.entry(payment).or_insert_with(|| Entry {
            is_refused: true,
            is_voided: true,
            ..Entry::default()
        });
        self.ask(payment)
    }

    /// Pays back, once per name of a refund.
    pub(crate) fn refund(&mut self, name: u64, payment: PaymentId, amount: Won) {
        if self.refunds.insert(name) {
            self.book.entry(payment).or_default().refunded += amount.get();
        }
    }
}
