//! Seats of one schedule: which ones a fan may request, and when one is free.

use crate::id::SeatIndex;
use crate::{AllocationId, Refusal, ReservationId, ScheduleId, SeatId, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most seats in one order that an organiser may permit.
pub const SEATS_PER_PICK_MAX: usize = 10;

/// Most seats in one order, unless the organiser decides otherwise.
pub const SEATS_PER_ORDER: u32 = 4;

/// The default length of a hold.
pub const HOLD_LENGTH: Duration = Duration::from_secs(5 * 60);

/// Requested seats, validated: one to ten, no duplicates, all of one schedule, and sorted, so that
/// every engine takes them in one order and two requests can't deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatPick {
    schedule: ScheduleId,
    indexes: Vec<SeatIndex>,
}

impl SeatPick {
    pub fn new(schedule: ScheduleId, seats: &[SeatId]) -> Result<SeatPick, Refusal> {
        if seats.is_empty() {
            return Err(Refusal::NoSeats);
        }
        if seats.len() > SEATS_PER_PICK_MAX {
            return Err(Refusal::TooManySeats { max: SEATS_PER_PICK_MAX });
        }
        if seats.iter().any(|seat| seat.schedule() != schedule) {
            return Err(Refusal::ForeignSeat);
        }
        let mut indexes: Vec<SeatIndex> = seats.iter().map(|seat| seat.index()).collect();
        indexes.sort_unstable();
        if indexes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Refusal::SeatRepeated);
        }
        Ok(SeatPick { schedule, indexes })
    }

    pub fn schedule(&self) -> ScheduleId {
        self.schedule
    }

    pub fn indexes(&self) -> &[SeatIndex] {
        &self.indexes
    }

    pub fn seats(&self) -> impl Iterator<Item = SeatId> {
        self.indexes.iter().map(|index| self.schedule.seat(*index))
    }
}

/// A seat's state in the database. Fans see less: available, held or sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SeatState {
    Free,
    /// Held for a fan until its time; free from that moment on.
    Held,
    /// Money may be moving: the seat stays taken until the outcome is known.
    Paying,
    Sold,
    /// An allocation keeps the seat from sale.
    Kept,
}

impl SeatState {
    pub const fn as_str(self) -> &'static str {
        match self {
            SeatState::Free => "FREE",
            SeatState::Held => "HELD",
            SeatState::Paying => "PAYING",
            SeatState::Sold => "SOLD",
            SeatState::Kept => "KEPT",
        }
    }

    pub fn parse(text: &str) -> Option<SeatState> {
        use SeatState as S;
        [S::Free, S::Held, S::Paying, S::Sold, S::Kept]
            .into_iter()
            .find(|state| state.as_str() == text)
    }
}

/// A seat as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub index: SeatIndex,
    pub number: String,
    pub grade: String,
    pub price: Won,
    pub state: SeatState,
    /// The reservation that has it; `None` if it's free or kept.
    pub claim: Option<ReservationId>,
    /// The allocation that keeps it from sale.
    pub kept_by: Option<AllocationId>,
    /// Grows with every change of owner, so that a late command of an earlier owner misses.
    pub fence: i64,
    pub expires_at: Option<Timestamp>,
}

impl Seat {
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.standing().is_free(now)
    }

    pub fn face(&self, now: Timestamp) -> SeatFace {
        self.standing().face(now)
    }

    pub const fn standing(&self) -> SeatStanding {
        SeatStanding { index: self.index, state: self.state, expires_at: self.expires_at }
    }
}

/// The part of a seat that changes during the sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatStanding {
    pub index: SeatIndex,
    pub state: SeatState,
    pub expires_at: Option<Timestamp>,
}

impl SeatStanding {
    /// True from the very millisecond at which a hold ends.
    pub fn is_free(&self, now: Timestamp) -> bool {
        match self.state {
            // A canceled seat may be withheld for a while.
            SeatState::Free | SeatState::Held => self.expires_at.is_none_or(|until| until <= now),
            SeatState::Paying | SeatState::Sold | SeatState::Kept => false,
        }
    }

    /// The public state; doesn't reveal the holder.
    pub fn face(&self, now: Timestamp) -> SeatFace {
        match self.state {
            SeatState::Sold => SeatFace::Sold,
            SeatState::Kept => SeatFace::Kept,
            SeatState::Free | SeatState::Held | SeatState::Paying => {
                if self.is_free(now) {
                    SeatFace::Available
                } else {
                    SeatFace::Held
                }
            }
        }
    }
}

/// A seat as everyone sees it on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatFace {
    Available,
    Held,
    Sold,
    /// Kept by an organiser. Fans can't tell it from a sold one.
    Kept,
}

impl SeatFace {
    /// One letter of the status string.
    pub const fn letter(self) -> u8 {
        match self {
            SeatFace::Available => b'A',
            SeatFace::Held => b'H',
            SeatFace::Sold | SeatFace::Kept => b'S',
        }
    }

    /// Two bits of the packed status.
    pub const fn bits(self) -> u8 {
        match self {
            SeatFace::Available => 0,
            SeatFace::Held => 1,
            SeatFace::Sold | SeatFace::Kept => 2,
        }
    }

    /// The seat at this index of the packed status; the first is in the lowest bits of the first
    /// byte.
    pub fn in_packed(packed: &[u8], index: usize) -> Option<SeatFace> {
        match (packed.get(index / 4)? >> (2 * (index % 4))) & 0b11 {
            0 => Some(SeatFace::Available),
            1 => Some(SeatFace::Held),
            2 => Some(SeatFace::Sold),
            _ => None,
        }
    }
}

/// A seat in a fan's booking list: the map's face, with their own holds distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SeatView {
    Available,
    Sold,
    HeldBySelf,
    HeldByOthers,
}

impl SeatView {
    pub fn of(face: SeatFace, is_mine: bool) -> SeatView {
        match face {
            SeatFace::Available => SeatView::Available,
            SeatFace::Sold | SeatFace::Kept => SeatView::Sold,
            SeatFace::Held if is_mine => SeatView::HeldBySelf,
            SeatFace::Held => SeatView::HeldByOthers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn schedule() -> ScheduleId {
        ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64))
    }

    fn seat(state: SeatState, until_ms: i64) -> Seat {
        Seat {
            index: 0,
            number: "A-1".into(),
            grade: "VIP".into(),
            price: Won::ZERO,
            state,
            claim: None,
            kept_by: None,
            fence: 1,
            expires_at: Some(Timestamp::from_ms(until_ms)),
        }
    }

    #[test]
    fn a_pick_is_one_to_ten_different_seats_of_one_schedule() {
        let pick = |indexes: &[u32]| {
            let seats: Vec<SeatId> = indexes.iter().map(|index| schedule().seat(*index)).collect();
            SeatPick::new(schedule(), &seats).map(|pick| pick.indexes().to_vec())
        };
        assert_eq!(pick(&[3, 1]), Ok(vec![1, 3]));
        assert_eq!(pick(&[]), Err(Refusal::NoSeats));
        let many: Vec<u32> = (0..11).collect();
        assert_eq!(pick(&many[..10]).map(|seats| seats.len()), Ok(10));
        assert_eq!(pick(&many), Err(Refusal::TooManySeats { max: 10 }));
        assert_eq!(pick(&[1, 2, 1]), Err(Refusal::SeatRepeated));
    }

    #[test]
    fn a_seat_of_another_schedule_is_refused() {
        let other = ScheduleId::with_room_for_seats(Uuid::from_u128(2 << 64));
        assert_eq!(SeatPick::new(schedule(), &[other.seat(1)]), Err(Refusal::ForeignSeat));
    }

    #[test]
    fn a_hold_ends_at_its_last_moment_not_after() {
        let held = seat(SeatState::Held, 1_000);
        assert!(!held.is_free(Timestamp::from_ms(999)));
        assert!(held.is_free(Timestamp::from_ms(1_000)));
    }

    #[test]
    fn a_seat_under_payment_is_never_free() {
        assert!(!seat(SeatState::Paying, 0).is_free(Timestamp::from_ms(10)));
        assert!(!seat(SeatState::Sold, 0).is_free(Timestamp::from_ms(10)));
    }

    #[test]
    fn a_kept_seat_is_never_free_and_looks_like_a_sold_one() {
        let (kept, sold) = (seat(SeatState::Kept, 0), seat(SeatState::Sold, 0));
        let now = Timestamp::from_ms(10);
        assert!(!kept.is_free(now));
        assert_ne!(kept.face(now), sold.face(now), "statistics count them apart");
        assert_eq!(kept.face(now).letter(), sold.face(now).letter());
        assert_eq!(kept.face(now).bits(), sold.face(now).bits());
        assert_eq!(SeatView::of(kept.face(now), false), SeatView::Sold);
    }

    #[test]
    fn a_fan_sees_which_holds_are_their_own_and_nothing_else() {
        let now = Timestamp::from_ms(0);
        let held = seat(SeatState::Held, 1_000);
        assert_eq!(SeatView::of(held.face(now), true), SeatView::HeldBySelf);
        assert_eq!(SeatView::of(held.face(now), false), SeatView::HeldByOthers);
    }
}
