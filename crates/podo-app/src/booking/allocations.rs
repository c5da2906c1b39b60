//! Seats that organisers keep from sale: named groups, filled on the plan or from a file.

use crate::booking::port::allocations::{
    AllocatedSeat, AllocationChange, AllocationView, ChangeAllocation, CreateAllocation, KeepSeats,
    ReleaseKept,
};
use crate::booking::reservations::{tell_filter, tell_nodes};
use crate::catalog::phases::members::split;
use crate::context::AppContext;
use crate::error::{Error, Result};
use podo_domain::booking::allocations::{
    AllocationTerms, KeepPick, SeatLine, SeatLineProblem, keeper,
};
use podo_domain::booking::seats::Seat;
use podo_domain::{AllocationId, Refusal, ScheduleId, SeatId, Timestamp, UserId};
use std::collections::HashMap;

/// Wrong lines that a refusal names.
const LINES_MAX: usize = 100;

/// The allocations of a date and their seats.
pub struct AllocationList {
    pub allocations: Vec<AllocationView>,
    pub seats: Vec<AllocatedSeat>,
    /// Every seat of the date in layout order, as of `now`.
    pub hall: Vec<Seat>,
    pub now: Timestamp,
}

pub async fn show_allocations(
    context: &AppContext,
    schedule: ScheduleId,
) -> Result<AllocationList> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(AllocationList {
        allocations: context.store.allocations_of(schedule).await?,
        seats: context.store.allocated_seats(schedule).await?,
        hall: context.store.seats_of(schedule).await?,
        now: context.now(),
    })
}

pub async fn create_allocation(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    terms: AllocationTerms,
    seats: &[SeatId],
) -> Result<AllocationView> {
    let now = context.now();
    let allocation = AllocationId::new(context.rng.id(now));
    let pick = (!seats.is_empty()).then(|| KeepPick::new(schedule, seats)).transpose()?;
    let command = CreateAllocation { actor, schedule, allocation, terms, seats: pick, now };
    let change = context.store.create_allocation(command).await?;
    tell_kept(context, &change).await;
    Ok(change.view)
}

pub async fn change_allocation(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    allocation: AllocationId,
    terms: AllocationTerms,
) -> Result<AllocationView> {
    let command = ChangeAllocation { actor, schedule, allocation, terms, now: context.now() };
    context.store.change_allocation(command).await
}

/// Keeps more seats, all or none.
pub async fn keep_seats(
    context: &AppContext,
    actor: UserId,
    allocation: AllocationId,
    seats: KeepPick,
) -> Result<AllocationView> {
    let command = KeepSeats { actor, allocation, seats, now: context.now() };
    let change = context.store.keep_seats(command).await?;
    tell_kept(context, &change).await;
    Ok(change.view)
}

/// Puts these seats on sale, or the whole allocation.
pub async fn release_seats(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    allocation: AllocationId,
    seats: Option<&[SeatId]>,
) -> Result<AllocationView> {
    let seats = seats.map(|seats| KeepPick::new(schedule, seats)).transpose()?;
    let now = context.now();
    let command = ReleaseKept { actor: Some(actor), schedule, allocation, seats, now };
    let change = context.store.release_kept(command).await?;
    tell_released(context, &change).await;
    Ok(change.view)
}

/// After the commit: the filter refuses kept seats in memory. Reconciliation corrects a filter that
/// misses this.
async fn tell_kept(context: &AppContext, change: &AllocationChange) {
    let AllocationChange { view, seats, freed } = change;
    let told = async {
        tell_filter(context, freed).await?;
        let (filter, until) = (&context.booking.seat_filter, Timestamp::FAR_FUTURE);
        filter.keep(view.schedule_id, seats, keeper(view.id), until).await
    };
    if let Err(error) = told.await {
        tracing::warn!(%error, "The seat filter missed kept seats; reconciliation corrects it");
    }
    tell_nodes(context, view.schedule_id, seats).await;
}

/// After the commit: the filter lets fans have the seats.
pub(crate) async fn tell_released(context: &AppContext, change: &AllocationChange) {
    let AllocationChange { view, seats, .. } = change;
    let filter = &context.booking.seat_filter;
    if let Err(error) = filter.release(view.schedule_id, seats, keeper(view.id)).await {
        tracing::warn!(%error, "The seat filter missed released seats; reconciliation corrects it");
    }
    tell_nodes(context, view.schedule_id, seats).await;
}

/// Keeps the seats that a file names by their numbers. Its first line names the columns, and one of
/// them is `seat`; others are ignored.
pub async fn import_seats(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    allocation: AllocationId,
    text: &str,
) -> Result<AllocationView> {
    let seats = context.store.seats_of(schedule).await?;
    let ids: HashMap<String, SeatId> =
        seats.into_iter().map(|seat| (seat.number, schedule.seat(seat.index))).collect();
    let named = read(text, &ids).map_err(|lines| Refusal::InvalidSeatList { lines })?;
    let seats: Vec<SeatId> = named.iter().map(|(_, seat)| *seat).collect();
    let pick = KeepPick::new(schedule, &seats)?;
    match keep_seats(context, actor, allocation, pick).await {
        Err(Error::Refused(Refusal::SeatsNotFree { seats })) => {
            let taken = named.iter().filter(|(_, seat)| seats.contains(seat));
            let wrong = |(line, _): &(u32, SeatId)| SeatLine {
                line: *line,
                problem: SeatLineProblem::Taken,
            };
            let lines = taken.take(LINES_MAX).map(wrong).collect();
            Err(Refusal::InvalidSeatList { lines }.into())
        }
        kept => kept,
    }
}

/// The seats with their lines, or the first wrong lines.
fn read(
    text: &str,
    ids: &HashMap<String, SeatId>,
) -> std::result::Result<Vec<(u32, SeatId)>, Vec<SeatLine>> {
    let mut lines = (1_u32..).zip(text.trim_start_matches('\u{feff}').lines());
    let head = lines.next().and_then(|(_, head)| split(head)).unwrap_or_default();
    let is_seat = |name: &String| {
        matches!(name.trim().to_lowercase().as_str(), "seat" | "좌석" | "좌석번호" | "좌석 번호")
    };
    let Some(column) = head.iter().position(is_seat) else {
        return Err(vec![SeatLine { line: 1, problem: SeatLineProblem::NoColumn }]);
    };
    let (mut seats, mut seen, mut wrong) = (Vec::new(), HashMap::new(), Vec::new());
    for (line, content) in lines.filter(|(_, content)| !content.trim().is_empty()) {
        let seat = read_line(content, head.len(), column, ids);
        let seat = seat.and_then(|seat| match seen.insert(seat, line) {
            Some(_) => Err(SeatLineProblem::Repeated),
            None => Ok(seat),
        });
        match seat {
            Ok(seat) => seats.push((line, seat)),
            Err(problem) => wrong.push(SeatLine { line, problem }),
        }
    }
    wrong.truncate(LINES_MAX);
    if wrong.is_empty() { Ok(seats) } else { Err(wrong) }
}

fn read_line(
    content: &str,
    n_columns: usize,
    column: usize,
    ids: &HashMap<String, SeatId>,
) -> std::result::Result<SeatId, SeatLineProblem> {
    let fields = split(content).filter(|fields| fields.len() == n_columns);
    let fields = fields.ok_or(SeatLineProblem::Columns)?;
    match fields[column].trim() {
        "" => Err(SeatLineProblem::Blank),
        number => ids.get(number).copied().ok_or(SeatLineProblem::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SeatLineProblem::{Blank, Columns, NoColumn, Repeated, Unknown};
    use uuid::Uuid;

    fn read_list(text: &str) -> std::result::Result<Vec<u32>, Vec<(u32, SeatLineProblem)>> {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64));
        let ids = (0..3).map(|index| (format!("A-{}", index + 1), schedule.seat(index)));
        match read(text, &ids.collect()) {
            Ok(seats) => Ok(seats.iter().map(|(_, seat)| seat.index()).collect()),
            Err(lines) => Err(lines.iter().map(|it| (it.line, it.problem)).collect()),
        }
    }

    #[test]
    fn a_list_names_seats_in_one_of_its_columns() {
        assert_eq!(read_list("seat\nA-3\nA-1\n"), Ok(vec![2, 0]));
        assert_eq!(read_list("\u{feff}memo,좌석\r\n\"x, y\", A-2 \r\n\r\n"), Ok(vec![1]));
        assert_eq!(read_list("Seat"), Ok(vec![]));
    }

    #[test]
    fn every_wrong_line_is_named_with_its_problem() {
        assert_eq!(read_list("A-1\nA-2"), Err(vec![(1, NoColumn)]));
        assert_eq!(read_list(""), Err(vec![(1, NoColumn)]));
        let wrong = [(3, Unknown), (4, Columns), (5, Blank), (6, Repeated)];
        assert_eq!(read_list("seat,memo\nA-1,x\nB-9,\nA-2\n ,x\nA-1,again"), Err(wrong.to_vec()));
    }
}
