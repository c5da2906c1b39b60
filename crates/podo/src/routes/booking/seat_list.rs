//! Every seat of a date with its price, as one fan sees it: seven megabytes for a stadium. The part
//! common to all fans is built once and shared, and each list is written from it while it is sent,
//! so an unread response costs a few kilobytes.

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use podo_app::booking::port::reservations::ReservedSeat;
use podo_app::booking::reservations::BookingView;
use podo_app::cache::Cache;
use podo_app::{AppContext, Error, Result};
use podo_domain::booking::seats::{Seat, SeatFace, SeatView};
use podo_domain::{ScheduleId, Won};
use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

/// Most bytes cached.
const BYTES_MAX: u64 = 128 << 20;

/// Approximate length of a piece.
const PIECE: usize = 32 * 1_024;

/// A list with other prices is another list.
type Prices = BTreeMap<String, Won>;

pub struct BookingLists(Cache<(ScheduleId, Prices), Arc<Rows>>);

impl Default for BookingLists {
    fn default() -> BookingLists {
        BookingLists(Cache::weighing(BYTES_MAX, |rows| rows.text.len() as u64))
    }
}

/// The seats of a date as concatenated JSON, each without its status and its end.
struct Rows {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl BookingLists {
    /// The fan's list, as a response body.
    pub async fn body(
        &self,
        context: &AppContext,
        schedule: ScheduleId,
        view: BookingView,
    ) -> Result<Body> {
        let rows = self.rows(context, schedule, view.prices).await?;
        let pieces = Pieces::new(rows, view.snapshot.packed.clone(), view.mine)?;
        Ok(Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>))))
    }

    async fn rows(
        &self,
        context: &AppContext,
        schedule: ScheduleId,
        prices: Prices,
    ) -> Result<Arc<Rows>> {
        let key = (schedule, prices);
        let load = async {
            let prices = key.1.clone();
            let seats = context.store.seats_of(schedule).await?;
            // Fifty thousand seats take a while, so this doesn't block the runtime.
            let making = tokio::task::spawn_blocking(move || Rows::of(schedule, seats, &prices));
            making.await.map_err(Error::broken)?.map(Arc::new)
        };
        self.0.get_or_load(&key, load).await
    }
}

impl Rows {
    fn of(schedule: ScheduleId, seats: Vec<Seat>, prices: &Prices) -> Result<Rows> {
        let mut rows = Rows { text: Vec::new(), ends: Vec::with_capacity(seats.len()) };
        for seat in seats {
            let price = prices.get(&seat.grade).copied().unwrap_or(seat.price);
            let seat = ReservedSeat {
                id: schedule.seat(seat.index),
                number: seat.number,
                grade: seat.grade,
                price,
                parts: None,
            };
            serde_json::to_writer(&mut rows.text, &seat).map_err(Error::broken)?;
            rows.text.pop();
            rows.text.extend_from_slice(b",\"status\":");
            rows.ends.push(rows.text.len());
        }
        rows.text.shrink_to_fit();
        Ok(rows)
    }

    fn row(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.text.get(start..end)
    }
}

/// A list, piece by piece.
struct Pieces {
    rows: Arc<Rows>,
    packed: Bytes,
    mine: HashSet<u32>,
    /// The JSON of each status.
    words: [(SeatView, String); 4],
    next: usize,
    is_over: bool,
}

impl Pieces {
    fn new(rows: Arc<Rows>, packed: Bytes, mine: HashSet<u32>) -> Result<Pieces> {
        let word = |view: SeatView| {
            let text = serde_json::to_string(&view).map_err(Error::broken);
            text.map(|text| (view, text + "}"))
        };
        let words = [
            word(SeatView::Available)?,
            word(SeatView::Sold)?,
            word(SeatView::HeldBySelf)?,
            word(SeatView::HeldByOthers)?,
        ];
        Ok(Pieces { rows, packed, mine, words, next: 0, is_over: false })
    }

    fn word(&self, index: usize) -> &str {
        let face = SeatFace::in_packed(&self.packed, index).unwrap_or(SeatFace::Held);
        let is_mine = u32::try_from(index).is_ok_and(|index| self.mine.contains(&index));
        let view = SeatView::of(face, is_mine);
        let word = self.words.iter().find(|(known, _)| *known == view);
        word.map_or("null}", |(_, text)| text)
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let mut piece = Vec::with_capacity(PIECE + 512);
        if self.next == 0 {
            piece.extend_from_slice(b"{\"seats\":[");
        }
        while piece.len() < PIECE {
            let Some(row) = self.rows.row(self.next) else {
                piece.extend_from_slice(b"]}");
                self.is_over = true;
                break;
            };
            if self.next > 0 {
                piece.push(b',');
            }
            piece.extend_from_slice(row);
            piece.extend_from_slice(self.word(self.next).as_bytes());
            self.next += 1;
        }
        Some(piece.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_app::booking::reservations::BookingSeat;
    use podo_domain::booking::seats::SeatState;
    use uuid::Uuid;

    fn seat(index: u32) -> Seat {
        Seat {
            index,
            number: format!("가-{index}"),
            grade: "VIP".into(),
            price: Won::try_from(50_000).unwrap(),
            state: SeatState::Free,
            claim: None,
            kept_by: None,
            fence: 1,
            expires_at: None,
        }
    }

    /// The list as the OpenAPI document describes it.
    fn expected(schedule: ScheduleId, statuses: &[SeatView]) -> serde_json::Value {
        let seats = (0..).zip(statuses).map(|(index, status)| {
            let Seat { number, grade, price, .. } = seat(index);
            let id = schedule.seat(index);
            BookingSeat {
                seat: ReservedSeat { id, number, grade, price, parts: None },
                status: *status,
            }
        });
        serde_json::json!({ "seats": seats.collect::<Vec<_>>() })
    }

    fn written(schedule: ScheduleId, packed: &[u8], mine: &[u32], n_seats: u32) -> Vec<Bytes> {
        let rows = Rows::of(schedule, (0..n_seats).map(seat).collect(), &Prices::new()).unwrap();
        let packed = Bytes::copy_from_slice(packed);
        Pieces::new(Arc::new(rows), packed, mine.iter().copied().collect()).unwrap().collect()
    }

    #[test]
    fn a_list_is_the_same_as_if_it_were_made_at_once() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 100));
        let list = written(schedule, &[0b01_10_01_00, 0], &[2, 3], 5).concat();
        let list: serde_json::Value = serde_json::from_slice(&list).unwrap();
        let statuses = [
            SeatView::Available,
            SeatView::HeldByOthers,
            SeatView::Sold,
            SeatView::HeldBySelf,
            SeatView::Available,
        ];
        assert_eq!(list, expected(schedule, &statuses));
        assert_eq!(written(schedule, &[], &[], 0).concat(), b"{\"seats\":[]}");
    }

    #[test]
    fn a_long_list_comes_in_pieces() {
        let schedule = ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 100));
        let pieces = written(schedule, &[0; 500], &[], 2_000);
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.len() < PIECE + 512));
        let list: serde_json::Value = serde_json::from_slice(&pieces.concat()).unwrap();
        assert_eq!(list, expected(schedule, &[SeatView::Available; 2_000]));
    }
}
