//! Allocations: named groups of seats that an organiser keeps from sale.

use crate::id::SeatIndex;
use crate::{AllocationId, Refusal, ScheduleId, SeatId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

/// Most seats that one request keeps or releases.
pub const SEATS_PER_KEEP_MAX: usize = 10_000;

/// Whom the seats are kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AllocationKind {
    Artist,
    Sponsor,
    /// Stage, cameras and sound.
    Production,
    /// A reserve of wheelchair spaces.
    Wheelchair,
    BoxOffice,
    /// Never for sale: it isn't released at a time.
    Never,
    Other,
}

impl AllocationKind {
    pub const ALL: [AllocationKind; 7] = [
        AllocationKind::Artist,
        AllocationKind::Sponsor,
        AllocationKind::Production,
        AllocationKind::Wheelchair,
        AllocationKind::BoxOffice,
        AllocationKind::Never,
        AllocationKind::Other,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            AllocationKind::Artist => "ARTIST",
            AllocationKind::Sponsor => "SPONSOR",
            AllocationKind::Production => "PRODUCTION",
            AllocationKind::Wheelchair => "WHEELCHAIR",
            AllocationKind::BoxOffice => "BOX_OFFICE",
            AllocationKind::Never => "NEVER",
            AllocationKind::Other => "OTHER",
        }
    }

    pub fn parse(text: &str) -> Option<AllocationKind> {
        AllocationKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What an organiser decides about an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationTerms {
    pub name: String,
    pub kind: AllocationKind,
    pub note: Option<String>,
    /// When the seats go on sale by themselves.
    pub release_at: Option<Timestamp>,
}

impl AllocationTerms {
    /// A release lies in the future and before the end of the sale. A time that was accepted before
    /// stays valid.
    pub fn check(
        &self,
        before: Option<Timestamp>,
        sale_ends_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let Some(at) = self.release_at.filter(|at| before != Some(*at)) else {
            return match (self.kind, self.release_at) {
                (AllocationKind::Never, Some(_)) => Err(WRONG_RELEASE),
                _ => Ok(()),
            };
        };
        let is_right = self.kind != AllocationKind::Never && now < at && at < sale_ends_at;
        if is_right { Ok(()) } else { Err(WRONG_RELEASE) }
    }
}

const WRONG_RELEASE: Refusal = Refusal::InvalidAllocation { field: "releaseAt" };

/// The seats of a request, validated: of one schedule, sorted, without duplicates, so that every
/// engine takes them in one order and two requests can't deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepPick {
    schedule: ScheduleId,
    indexes: Vec<SeatIndex>,
}

impl KeepPick {
    pub fn new(schedule: ScheduleId, seats: &[SeatId]) -> Result<KeepPick, Refusal> {
        if seats.is_empty() {
            return Err(Refusal::NoSeats);
        }
        if seats.len() > SEATS_PER_KEEP_MAX {
            return Err(Refusal::TooManySeats { max: SEATS_PER_KEEP_MAX });
        }
        if seats.iter().any(|seat| seat.schedule() != schedule) {
            return Err(Refusal::ForeignSeat);
        }
        let mut indexes: Vec<SeatIndex> = seats.iter().map(|seat| seat.index()).collect();
        indexes.sort_unstable();
        if indexes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Refusal::SeatRepeated);
        }
        Ok(KeepPick { schedule, indexes })
    }

    pub fn schedule(&self) -> ScheduleId {
        self.schedule
    }

    pub fn indexes(&self) -> &[SeatIndex] {
        &self.indexes
    }
}

/// The holder that the seat filter names for a kept seat.
pub const fn keeper(allocation: AllocationId) -> UserId {
    UserId::new(allocation.uuid())
}

/// A line of a seat list that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatLine {
    /// From 1; the first line names the columns.
    pub line: u32,
    pub problem: SeatLineProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatLineProblem {
    /// The first line names no column `seat`.
    NoColumn,
    /// A quote is open, or the line has more or fewer fields than columns.
    Columns,
    Blank,
    /// The date has no seat of this number.
    Unknown,
    /// An earlier line names the seat.
    Repeated,
    /// The seat is held, sold or kept by another allocation.
    Taken,
}

impl SeatLineProblem {
    pub const fn as_str(self) -> &'static str {
        match self {
            SeatLineProblem::NoColumn => "seat_no_column",
            SeatLineProblem::Columns => "seat_columns",
            SeatLineProblem::Blank => "blank",
            SeatLineProblem::Unknown => "seat_unknown",
            SeatLineProblem::Repeated => "seat_repeated",
            SeatLineProblem::Taken => "seat_taken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn terms(kind: AllocationKind, release_at: Option<i64>) -> AllocationTerms {
        let release_at = release_at.map(at);
        AllocationTerms { name: "Artist".into(), kind, note: None, release_at }
    }

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for kind in AllocationKind::ALL {
            assert_eq!(AllocationKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.as_str()));
        }
    }

    #[test]
    fn a_release_lies_between_now_and_the_end_of_the_sale() {
        let check = |kind, release_at, before: Option<i64>| {
            terms(kind, release_at).check(before.map(at), at(100), at(10)).is_ok()
        };
        assert!(check(AllocationKind::Artist, None, None));
        assert!(check(AllocationKind::Artist, Some(11), None));
        assert!(!check(AllocationKind::Artist, Some(10), None), "not now");
        assert!(check(AllocationKind::Artist, Some(10), Some(10)), "it was accepted before");
        assert!(!check(AllocationKind::Artist, Some(100), None), "the sale is over then");
    }

    #[test]
    fn seats_that_are_never_for_sale_are_not_released_at_a_time() {
        let check = |release_at| {
            terms(AllocationKind::Never, release_at).check(Some(at(50)), at(100), at(10)).is_ok()
        };
        assert!(check(None));
        assert!(!check(Some(50)) && !check(Some(60)));
    }

    #[test]
    fn a_pick_has_different_seats_of_one_schedule_in_order() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64));
        let other = ScheduleId::with_room_for_seats(Uuid::from_u128(2 << 64));
        let pick = |indexes: &[u32]| {
            let seats: Vec<SeatId> = indexes.iter().map(|index| schedule.seat(*index)).collect();
            KeepPick::new(schedule, &seats).map(|pick| pick.indexes().to_vec())
        };
        assert_eq!(pick(&[3, 1]), Ok(vec![1, 3]));
        assert_eq!(pick(&[]), Err(Refusal::NoSeats));
        assert_eq!(pick(&[1, 1]), Err(Refusal::SeatRepeated));
        assert_eq!(KeepPick::new(schedule, &[other.seat(1)]), Err(Refusal::ForeignSeat));
        let many: Vec<u32> = (0..=10_000).collect();
        assert_eq!(pick(&many), Err(Refusal::TooManySeats { max: SEATS_PER_KEEP_MAX }));
    }
}
