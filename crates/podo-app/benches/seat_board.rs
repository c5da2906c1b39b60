//! How long a refresh of a seat map takes: 50,000 seats, a hundred of them changed, compared with a
//! copy of as many bytes. And how long the search for alternatives takes that every loser of a race
//! gets: for two seats anywhere in the hall, and on a map that has just changed, so that no answer is
//! cached.

use podo_app::booking::seat_map::Board;
use podo_domain::booking::seats::{SeatStanding, SeatState};
use podo_domain::catalog::hall::Hall;
use podo_domain::catalog::{GridTemplate, SeatTemplate};
use podo_domain::{NodeId, Timestamp};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

const ROWS: u32 = 250;
const SEATS_PER_ROW: u32 = 200;
const N_SEATS: u32 = ROWS * SEATS_PER_ROW;
const N_CHANGED: u32 = 100;
const ROUNDS: usize = 501;

fn main() {
    let rows: Vec<String> = (1..=ROWS).map(|row| row.to_string()).collect();
    let template = SeatTemplate::Grid(GridTemplate {
        grade_mapping: rows.iter().map(|row| (row.clone(), "R".to_owned())).collect(),
        rows,
        seats_per_row: SEATS_PER_ROW,
    });
    let hall = Hall::of(&template.plan().expect("a grid of 50,000 seats is valid"));
    let mut board = Board::new(Arc::new(hall), NodeId::new(Uuid::from_u128(1)));
    board.set_all(&[], Timestamp::from_ms(0));
    let mut builds = Vec::with_capacity(ROUNDS);
    let mut copies = Vec::with_capacity(ROUNDS);
    let mut searches = Vec::with_capacity(ROUNDS);
    let bytes = vec![b'A'; N_SEATS as usize];
    for round in 0..ROUNDS {
        let states = [SeatState::Sold, SeatState::Free];
        let state = states[round % states.len()];
        let changed: Vec<SeatStanding> = (0..N_CHANGED)
            .map(|seat| SeatStanding { index: seat * 400, state, expires_at: None })
            .collect();
        let now =
            Timestamp::from_ms(1 + i64::try_from(round).expect("the number of rounds is small"));
        let began = Instant::now();
        let snapshot = board.set(black_box(&changed), now);
        builds.push(began.elapsed());
        let first = u32::try_from(round).expect("the number of rounds is small") * 50;
        let lost = [first, first + N_SEATS / 3];
        searches.push(time(|| snapshot.alternatives(black_box(&lost), None).len()));
        copies.push(time(|| black_box(&bytes).clone()));
    }
    print("copy of 50,000 bytes", median(copies));
    print("seat map of 50,000 seats, 100 changed", median(builds));
    print("alternatives for two scattered seats", median(searches));
}

#[expect(clippy::print_stdout, reason = "a benchmark shows its figures")]
fn print(what: &str, length: Duration) {
    println!("{what}: {length:?}");
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn median(mut lengths: Vec<Duration>) -> Duration {
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}
