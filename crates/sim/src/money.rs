//! What the store and the jobs do with money. Every outcome, whoever brings it, ends in
//! `settle`.

use crate::Mutation;
use crate::gateway::Verdict;
use crate::sight::Sight;
use crate::world::{Attempt, Event, Refund, World};
use domain::payments::{
    ASK_AFTER, Outcome, Payment, PaymentMethod, PaymentStatus, Settlement, VOID_AFTER, settle,
};
use domain::reservations::{Next, Reservation, ReservationStatus};
use domain::wallet::{LedgerKind, balance_after};
use domain::{PaymentId, Refusal, ReservationId, Timestamp, Won};
use std::time::Duration;

/// How long a confirm call waits for the gateway.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

impl World {
    /// The fan chose how to pay. An earlier choice that came to nothing is given up.
    pub(crate) fn request_payment(
        &mut self,
        booking: ReservationId,
        method: PaymentMethod,
    ) -> Result<PaymentId, Refusal> {
        let reservation = self.reservation_to_pay(booking);
        let next = reservation.give_payment_window(self.now)?;
        for attempt in self.attempts.values_mut() {
            if attempt.booking == booking && attempt.payment.status == PaymentStatus::Ready {
                attempt.payment = attempt.payment.canceled();
            }
        }
        self.apply_next(next);
        let id = PaymentId::new(self.next_id());
        let payment = Payment {
            id,
            method,
            status: PaymentStatus::Ready,
            amount: reservation.amount,
            captured: Won::ZERO,
            refunded: Won::ZERO,
            promised: Won::ZERO,
        };
        self.attempts.insert(id, Attempt { payment, booking, requested_at: self.now });
        Ok(id)
    }

    pub(crate) fn confirm_payment(&mut self, id: PaymentId, shown: Won) -> Result<(), Refusal> {
        let attempt = self.attempts[&id].clone();
        attempt.payment.check_confirm(shown)?;
        let reservation = self.reservation_to_pay(attempt.booking);
        self.note_moment_of_paying(reservation.hold_expires_at);
        let paying = reservation.start_paying(self.now)?;
        match attempt.payment.method {
            PaymentMethod::Wallet => {
                let fan = self.bookings[&attempt.booking].fan;
                self.move_wallet(fan, LedgerKind::Debit, shown)?;
                self.saw(Sight::PaidFromWallet);
                self.store_payment(attempt.payment.captured_from_wallet());
                self.apply_next(paying.confirm()?);
            }
            PaymentMethod::Card => {
                // The intent is stored before the gateway hears of it.
                self.store_payment(attempt.payment.requested());
                self.attempts.get_mut(&id).expect("it was just read").requested_at = self.now;
                self.apply(paying);
                self.call_gateway(id);
            }
        }
        Ok(())
    }

    fn reservation_to_pay(&self, id: ReservationId) -> Reservation {
        let reservation = self.bookings[&id].reservation.clone();
        let is_paying = reservation.status == ReservationStatus::Paying;
        if is_paying && self.mutation == Mutation::TwoPaymentsAtOnce {
            return Reservation { status: ReservationStatus::Held, ..reservation };
        }
        reservation
    }

    fn note_moment_of_paying(&mut self, until: Timestamp) {
        if self.now == until {
            self.saw(Sight::PayingAtExpiry);
        }
        if self.now.plus(Duration::from_millis(1)) == until {
            self.saw(Sight::PayingJustInTime);
        }
    }

    pub(crate) fn move_wallet(
        &mut self,
        fan: usize,
        kind: LedgerKind,
        amount: Won,
    ) -> Result<(), Refusal> {
        let wallet = &mut self.wallets[fan];
        wallet.balance = balance_after(wallet.balance, kind, amount)?;
        wallet.ledger_sum += kind.signed(amount);
        Ok(())
    }

    /// The network decides: the request may be late, doubled or lost.
    fn call_gateway(&mut self, id: PaymentId) {
        let verdict = match self.chance.below(10) {
            0 => Verdict::ApproveWrongAmount,
            1 | 2 => Verdict::Decline,
            _ => Verdict::Approve,
        };
        self.plan_in(CALL_TIMEOUT, Event::CallTimesOut(id));
        if self.chance.happens(8) {
            return;
        }
        let most = if self.chance.happens(15) { 400 } else { 3 };
        let pause = self.chance.seconds(0, most);
        self.plan_in(pause, Event::GatewayHears(id, verdict));
        if self.chance.happens(15) {
            let pause = pause + self.chance.seconds(0, 30);
            self.plan_in(pause, Event::GatewayHears(id, verdict));
        }
    }

    pub(crate) fn hear(&mut self, id: PaymentId, verdict: Verdict) {
        let amount = self.attempts[&id].payment.amount;
        if self.gateway.has_heard_of(id) {
            let was_voided = self.gateway.entry(id).is_voided;
            self.saw(if was_voided { Sight::HeardAfterVoid } else { Sight::CaptureAskedTwice });
        }
        let outcome = self.gateway.capture(id, amount, verdict);
        if self.chance.happens(85) {
            let most = if self.chance.happens(20) { 500 } else { 8 };
            let pause = self.chance.seconds(0, most);
            self.plan_in(pause, Event::AnswerArrives(id, outcome));
        }
        if self.chance.happens(30) {
            let pause = self.chance.seconds(0, 200);
            self.plan_in(pause, Event::Webhook(id));
        }
    }

    pub(crate) fn take_answer(&mut self, id: PaymentId, outcome: Outcome) {
        if !is_open(self.attempts[&id].payment.status) {
            self.saw(Sight::AnswerAfterSettled);
        }
        self.settle_payment(id, outcome);
    }

    pub(crate) fn time_out(&mut self, id: PaymentId) {
        let outcome = if self.mutation == Mutation::TimeoutIsFailure {
            Outcome::NotCaptured { reason: "TIMEOUT".to_owned() }
        } else {
            Outcome::Unknown
        };
        self.settle_payment(id, outcome);
    }

    /// A webhook proves nothing: it only makes us ask.
    pub(crate) fn take_webhook(&mut self, id: PaymentId) {
        if is_open(self.attempts[&id].payment.status) {
            self.saw(Sight::WebhookFirst);
        }
        let outcome = self.gateway.ask(id);
        self.settle_payment(id, outcome);
    }

    fn settle_payment(&mut self, id: PaymentId, outcome: Outcome) {
        let attempt = &self.attempts[&id];
        let outcome = match outcome {
            Outcome::Captured { .. } if self.mutation == Mutation::AnyAmountWillDo => {
                Outcome::Captured { amount: attempt.payment.amount }
            }
            Outcome::Captured { .. } | Outcome::NotCaptured { .. } | Outcome::Unknown => outcome,
        };
        let reservation = &self.bookings[&attempt.booking].reservation;
        let settlement = settle(&attempt.payment, reservation, outcome, self.now);
        self.note(format!("settled {id}: {settlement:?}"));
        self.apply_settlement(settlement);
    }

    fn apply_settlement(&mut self, settlement: Settlement) {
        match settlement {
            Settlement::Nothing => {}
            Settlement::StillUnknown(payment) => {
                self.saw(Sight::OutcomeUnknown);
                self.store_payment(payment);
            }
            Settlement::Confirmed { payment, reservation } => {
                if reservation.hold_expires_at <= self.now {
                    self.saw(Sight::LateApproval);
                }
                if reservation.retry_window_given {
                    self.saw(Sight::SecondCard);
                }
                self.store_payment(payment);
                self.apply(reservation);
            }
            Settlement::Declined { payment, reservation, reason: _ } => {
                self.saw(Sight::Declined);
                self.store_payment(payment);
                self.apply_next(reservation);
            }
            Settlement::RefundDue { payment, reservation, amount } => {
                if amount != payment.amount {
                    self.saw(Sight::WrongAmount);
                }
                self.promise_refund(payment, amount);
                self.apply_next(reservation);
            }
        }
    }

    fn store_payment(&mut self, payment: Payment) {
        let attempt = self.attempts.get_mut(&payment.id).expect("payments are never deleted");
        attempt.payment = payment;
    }

    fn promise_refund(&mut self, payment: Payment, amount: Won) {
        self.saw(Sight::RefundDue);
        if self.mutation != Mutation::RefundForgotten {
            let name = self.refunds.len() as u64;
            self.refunds.push(Refund { name, payment: payment.id, amount, is_done: false });
        }
        self.store_payment(payment);
    }

    /// The fan gives a paid reservation back; a wallet has its money in the same step.
    pub(crate) fn cancel(&mut self, id: ReservationId) -> Result<(), Refusal> {
        let Next::To(canceled) = self.bookings[&id].reservation.cancel()? else { return Ok(()) };
        let is_paid = |attempt: &&Attempt| {
            attempt.booking == id && attempt.payment.status == PaymentStatus::Captured
        };
        let paid = self.attempts.values().find(is_paid).map(|attempt| attempt.payment.clone());
        let paid = paid.expect("a confirmed reservation has a captured payment");
        let amount = paid.refundable();
        match paid.method {
            PaymentMethod::Wallet => {
                self.store_payment(paid.refund_due(amount)?.refunded(amount)?);
                self.move_wallet(self.bookings[&id].fan, LedgerKind::Refund, amount)?;
            }
            PaymentMethod::Card => self.promise_refund(paid.refund_due(amount)?, amount),
        }
        self.saw(Sight::Canceled);
        self.apply(canceled);
        Ok(())
    }

    /// One round: asks about payments without an outcome, and voids those that stay unknown.
    pub(crate) fn reconcile(&mut self) {
        let asked_before = self.now.minus(ASK_AFTER);
        let open: Vec<(PaymentId, Timestamp)> = self
            .attempts
            .values()
            .filter(|attempt| is_open(attempt.payment.status))
            .filter(|attempt| attempt.requested_at <= asked_before)
            .map(|attempt| (attempt.payment.id, attempt.requested_at))
            .collect();
        for (id, requested_at) in open {
            // While the sale runs, the gateway cannot always be reached.
            if self.is_on_sale() && self.chance.happens(20) {
                continue;
            }
            self.reconcile_one(id, requested_at);
        }
        let pause = self.chance.seconds(15, 45);
        self.plan_again(self.now.plus(pause), Event::Reconcile);
    }

    fn reconcile_one(&mut self, id: PaymentId, requested_at: Timestamp) {
        let mut outcome = self.gateway.ask(id);
        if outcome == Outcome::Unknown && requested_at.plus(VOID_AFTER) <= self.now {
            self.saw(Sight::Voided);
            outcome = self.gateway.void(id);
        }
        self.settle_payment(id, outcome);
        let booking = self.attempts[&id].booking;
        if self.bookings[&booking].reservation.status == ReservationStatus::Confirmed {
            self.saw(Sight::ReconcilerConfirmed);
        }
    }

    /// One round of refunds. The same name is used until the gateway's answer is there.
    pub(crate) fn pay_back(&mut self) {
        for place in 0..self.refunds.len() {
            if !self.refunds[place].is_done {
                self.pay_back_one(place);
            }
        }
        let pause = self.chance.seconds(10, 60);
        self.plan_again(self.now.plus(pause), Event::PayBack);
    }

    fn pay_back_one(&mut self, place: usize) {
        let Refund { name, payment, amount, .. } = self.refunds[place].clone();
        self.gateway.refund(name, payment, amount);
        if self.is_on_sale() && self.chance.happens(30) {
            self.saw(Sight::RefundAnswerLost);
            if self.mutation == Mutation::RefundUnderNewName {
                self.refunds[place].name += 1_000;
            }
            return;
        }
        let back = self.attempts[&payment].payment.refunded(amount);
        self.store_payment(back.expect("a promised refund was checked when it was promised"));
        self.refunds[place].is_done = true;
    }
}

/// May its outcome still change anything?
pub(crate) fn is_open(status: PaymentStatus) -> bool {
    matches!(status, PaymentStatus::Requested | PaymentStatus::Unknown)
}
