//! What the store does with seats and reservations: load, ask the rule, apply, in one step.

use crate::Mutation;
use crate::sight::Sight;
use crate::world::{Booking, Event, World};
use domain::id::SeatIndex;
use domain::reservations::{Next, Reservation, ReservationStatus, check_seat_limit};
use domain::seats::{HOLD_LENGTH, SeatPick, SeatState};
use domain::{Refusal, ReservationId, Timestamp, UserId, Won};
use uuid::Uuid;

/// Seats of one fan, over all reservations.
pub(crate) const SEATS_PER_FAN_MAX: u32 = 4;

impl World {
    pub(crate) fn hold(
        &mut self,
        fan: usize,
        wanted: &[SeatIndex],
    ) -> Result<ReservationId, Refusal> {
        let seat_ids: Vec<_> = wanted.iter().map(|index| self.schedule.seat(*index)).collect();
        let pick = SeatPick::new(self.schedule, &seat_ids)?;
        check_seat_limit(self.active_seats(fan), wanted.len() as u32, SEATS_PER_FAN_MAX)?;
        let is_taken = |index: &&SeatIndex| !self.seats[**index as usize].is_free(self.now);
        if let Some(taken) = pick.indexes().iter().find(is_taken) {
            let taken = vec![self.schedule.seat(*taken)];
            self.saw(Sight::RaceLost);
            return Err(Refusal::seat_taken(taken));
        }
        for index in pick.indexes() {
            self.clear_old_claim(*index);
        }
        Ok(self.claim(fan, &pick))
    }

    fn active_seats(&self, fan: usize) -> u32 {
        let own = self.bookings.values().filter(|booking| booking.fan == fan);
        let active = own.filter(|booking| match booking.reservation.status {
            ReservationStatus::Held => booking.reservation.is_live(self.now),
            ReservationStatus::Paying | ReservationStatus::Confirmed => true,
            ReservationStatus::Canceled
            | ReservationStatus::Expired
            | ReservationStatus::Released => false,
        });
        active.map(|booking| booking.seats.len() as u32).sum()
    }

    /// A free seat may still carry the claim of a hold that is over: that one ends first.
    fn clear_old_claim(&mut self, index: SeatIndex) {
        let Some(old) = self.seats[index as usize].claim else { return };
        self.saw(Sight::HoldTakenOver);
        if self.mutation != Mutation::TakeoverLeavesOldClaim {
            let next = self.bookings[&old].reservation.expire(self.now);
            self.apply_next(next);
        }
    }

    fn claim(&mut self, fan: usize, pick: &SeatPick) -> ReservationId {
        let id = ReservationId::new(self.next_id());
        let until = self.now.plus(HOLD_LENGTH);
        let prices = pick.indexes().iter().map(|index| self.seats[*index as usize].price);
        let amount = Won::sum(prices).expect("four prices are in range");
        let mut seats = Vec::new();
        for index in pick.indexes() {
            let seat = &mut self.seats[*index as usize];
            seat.fence += 1;
            seat.claim = Some(id);
            seats.push((*index, seat.fence));
        }
        let reservation = Reservation {
            id,
            user: UserId::new(Uuid::from_u128(fan as u128)),
            schedule: self.schedule,
            status: ReservationStatus::Held,
            hold_expires_at: until,
            amount,
            version: 1,
            payment_window_given: false,
            retry_window_given: false,
        };
        self.bookings.insert(id, Booking { fan, reservation: reservation.clone(), seats });
        self.apply(reservation);
        id
    }

    /// Stores a reservation and brings its seats into step. A seat that meanwhile has another
    /// owner (claim or fence differ) is left alone.
    pub(crate) fn apply(&mut self, next: Reservation) {
        let booking = self.bookings.get_mut(&next.id).expect("reservations are never deleted");
        for (index, fence) in &booking.seats {
            let seat = &mut self.seats[*index as usize];
            if seat.claim != Some(next.id) || seat.fence != *fence {
                continue;
            }
            seat.state = state_under(next.status);
            seat.expires_at = (seat.state == SeatState::Held).then_some(next.hold_expires_at);
            if !next.status.claims_seats() {
                seat.claim = None;
            }
        }
        booking.reservation = next;
    }

    pub(crate) fn apply_next(&mut self, next: Next) {
        match next {
            Next::Same => {}
            Next::To(reservation) => self.apply(reservation),
        }
    }

    pub(crate) fn release(&mut self, id: ReservationId) -> Result<(), Refusal> {
        let next = self.bookings[&id].reservation.release()?;
        if self.mutation == Mutation::ReleaseForgetsSeats {
            self.bookings.get_mut(&id).expect("it was just read").seats.clear();
        }
        self.apply_next(next);
        Ok(())
    }

    /// One round of the sweeper, and the moment of the next: often exactly when a hold ends.
    pub(crate) fn sweep(&mut self) {
        let over: Vec<Reservation> = self
            .bookings
            .values()
            .map(|booking| &booking.reservation)
            .filter(|reservation| reservation.hold_expires_at <= self.now)
            .cloned()
            .collect();
        for reservation in over {
            self.sweep_one(&reservation);
        }
        let pause = self.chance.seconds(5, 60);
        let when = self.now.plus(pause);
        let when = self.next_expiry().filter(|_| self.chance.happens(40)).unwrap_or(when);
        self.plan_again(when, Event::Sweep);
    }

    fn sweep_one(&mut self, reservation: &Reservation) {
        let is_paying = reservation.status == ReservationStatus::Paying;
        if is_paying && self.mutation == Mutation::SweeperTakesPaying {
            let status = ReservationStatus::Expired;
            self.apply(Reservation { status, ..reservation.clone() });
            return;
        }
        if is_paying {
            self.saw(Sight::SweepSparedPaying);
        }
        let next = reservation.expire(self.now);
        if next != Next::Same && reservation.hold_expires_at == self.now {
            self.saw(Sight::SweepAtExpiry);
        }
        self.apply_next(next);
    }

    fn next_expiry(&self) -> Option<Timestamp> {
        let live = self.bookings.values().filter(|booking| booking.reservation.is_live(self.now));
        live.map(|booking| booking.reservation.hold_expires_at).min()
    }
}

fn state_under(status: ReservationStatus) -> SeatState {
    match status {
        ReservationStatus::Held => SeatState::Held,
        ReservationStatus::Paying => SeatState::Paying,
        ReservationStatus::Confirmed => SeatState::Sold,
        ReservationStatus::Canceled | ReservationStatus::Expired | ReservationStatus::Released => {
            SeatState::Free
        }
    }
}
