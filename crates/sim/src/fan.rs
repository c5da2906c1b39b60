//! Fans: they hold, pay, hesitate, change their minds and come at the worst moment.

use crate::sight::Sight;
use crate::world::{Event, World};
use domain::id::SeatIndex;
use domain::payments::{PaymentMethod, PaymentStatus};
use domain::reservations::ReservationStatus;
use domain::wallet::LedgerKind;
use domain::{PaymentId, Refusal, ReservationId, Timestamp, Won};

/// What a fan remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fan {
    booking: Option<ReservationId>,
    payment: Option<PaymentId>,
}

impl World {
    /// One act, depending on what the fan has; then the next one is planned.
    pub(crate) fn let_fan_act(&mut self, fan: usize) {
        if !self.is_on_sale() {
            return;
        }
        let booking = self.fans[fan].booking;
        let status = booking.map(|id| (id, self.bookings[&id].reservation.status));
        match status {
            None => self.look_for_seats(fan),
            Some((id, ReservationStatus::Held)) => self.use_hold(fan, id),
            Some((id, ReservationStatus::Paying)) => self.wait_for_outcome(fan, id),
            Some((id, ReservationStatus::Confirmed)) => self.enjoy(fan, id),
            Some((
                _,
                ReservationStatus::Canceled
                | ReservationStatus::Expired
                | ReservationStatus::Released,
            )) => {
                self.fans[fan] = Fan::default();
                self.look_for_seats(fan);
            }
        }
    }

    fn look_for_seats(&mut self, fan: usize) {
        let n_seats = 1 + self.chance.below(3) as SeatIndex;
        let first = self.chance.below(self.seats.len() as u64 - 3) as SeatIndex;
        let wanted: Vec<SeatIndex> = (first..first + n_seats).collect();
        let held = self.hold(fan, &wanted);
        self.note(format!("fan {fan} wants {wanted:?}: {held:?}"));
        match held {
            Ok(id) => {
                self.fans[fan].booking = Some(id);
                self.plan_around_expiry(fan, id);
            }
            Err(_) => self.come_back_for(fan, first),
        }
    }

    /// Some wait for the very millisecond in which the seat comes free.
    fn come_back_for(&mut self, fan: usize, seat: SeatIndex) {
        let soon = self.now.plus(self.chance.seconds(5, 200));
        let expiry = self.seats[seat as usize].expires_at.filter(|until| self.now < *until);
        let when = expiry.filter(|_| self.chance.happens(50)).unwrap_or(soon);
        self.plan_at(when, Event::FanActs(fan));
    }

    fn use_hold(&mut self, fan: usize, id: ReservationId) {
        let ready = self.fans[fan]
            .payment
            .filter(|payment| self.attempts[payment].payment.status == PaymentStatus::Ready);
        match (ready, self.chance.below(10)) {
            (_, 0) => self.give_back(fan, id),
            // Leaves without a word; the sweeper or the next fan ends the hold.
            (_, 1) => {
                let pause = self.chance.seconds(300, 900);
                self.plan_in(pause, Event::FanActs(fan));
            }
            (None, _) | (Some(_), 2) => self.choose_payment(fan, id),
            (Some(payment), _) => self.pay(fan, id, payment),
        }
    }

    fn give_back(&mut self, fan: usize, id: ReservationId) {
        let released = self.release(id);
        self.note(format!("fan {fan} gives back: {released:?}"));
        let pause = self.chance.seconds(1, 60);
        self.plan_in(pause, Event::FanActs(fan));
    }

    fn choose_payment(&mut self, fan: usize, id: ReservationId) {
        let method =
            if self.chance.happens(25) { PaymentMethod::Wallet } else { PaymentMethod::Card };
        let requested = self.request_payment(id, method);
        self.note(format!("fan {fan} chooses {method:?}: {requested:?}"));
        match requested {
            Ok(payment) => {
                self.fans[fan].payment = Some(payment);
                self.plan_around_expiry(fan, id);
            }
            Err(_) => self.plan_soon(fan),
        }
    }

    fn pay(&mut self, fan: usize, id: ReservationId, payment: PaymentId) {
        self.fill_wallet_sometimes(fan);
        let shown = self.attempts[&payment].payment.amount;
        let paid = self.confirm_payment(payment, shown);
        self.note(format!("fan {fan} pays {payment}: {paid:?}"));
        if matches!(paid, Err(Refusal::PaymentDeclined { .. })) {
            self.saw(Sight::WalletTooSmall);
        }
        // A second press of the button must do nothing.
        if self.chance.happens(30) {
            let again = self.confirm_payment(payment, shown);
            assert!(paid.is_err() || again.is_err(), "one payment was started twice");
        }
        if self.chance.happens(20) {
            self.try_release_while_paying(id);
        }
        self.plan_soon(fan);
    }

    fn try_release_while_paying(&mut self, id: ReservationId) {
        let is_paying = self.bookings[&id].reservation.status == ReservationStatus::Paying;
        let released = self.release(id);
        if is_paying && released == Err(Refusal::PaymentRunning) {
            self.saw(Sight::ReleaseRefused);
        }
    }

    fn fill_wallet_sometimes(&mut self, fan: usize) {
        if self.chance.happens(60) {
            let amount = Won::new(50_000 * (1 + self.chance.below(8) as i64));
            let amount = amount.expect("a small amount is in range");
            let charged = self.move_wallet(fan, LedgerKind::Charge, amount);
            self.note(format!("fan {fan} charges {amount}: {charged:?}"));
        }
    }

    fn wait_for_outcome(&mut self, fan: usize, id: ReservationId) {
        if self.chance.happens(20) {
            self.try_release_while_paying(id);
        }
        if self.chance.happens(20) {
            self.pay_in_another_tab(fan, id);
        }
        self.plan_soon(fan);
    }

    fn pay_in_another_tab(&mut self, fan: usize, id: ReservationId) {
        let shown = self.bookings[&id].reservation.amount;
        let requested = self.request_payment(id, PaymentMethod::Card);
        let paid = requested.and_then(|payment| self.confirm_payment(payment, shown));
        self.note(format!("fan {fan} pays in another tab: {paid:?}"));
        if paid == Err(Refusal::PaymentRunning) {
            self.saw(Sight::SecondTabRefused);
        }
    }

    fn enjoy(&mut self, fan: usize, id: ReservationId) {
        if self.chance.happens(30) {
            let canceled = self.cancel(id);
            self.note(format!("fan {fan} cancels: {canceled:?}"));
        }
        let pause = self.chance.seconds(120, 600);
        self.plan_in(pause, Event::FanActs(fan));
    }

    fn plan_soon(&mut self, fan: usize) {
        let pause = self.chance.seconds(1, 40);
        self.plan_in(pause, Event::FanActs(fan));
    }

    /// Most act in good time; some in the last, the very or the next millisecond.
    fn plan_around_expiry(&mut self, fan: usize, id: ReservationId) {
        let until_ms = self.bookings[&id].reservation.hold_expires_at.ms();
        let soon = self.now.plus(self.chance.seconds(1, 90));
        let when = match self.chance.below(10) {
            0 => Timestamp::from_ms(until_ms - 1),
            1 => Timestamp::from_ms(until_ms),
            2 => Timestamp::from_ms(until_ms + 1),
            _ => soon,
        };
        self.plan_at(when, Event::FanActs(fan));
    }
}
