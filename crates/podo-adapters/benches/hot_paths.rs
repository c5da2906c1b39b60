//! The cost of every fan at an opening, piece by piece: tokens, the rate limit, the status
//! response, the seat filter, a ledger movement. `cargo bench --workspace --bench hot_paths`

use criterion::Criterion;
use futures::FutureExt;
use podo_adapters::live::memory::{SeatFilter, SharedBuckets};
use podo_app::booking::port::seat_filter::{SeatFilter as _, Taken};
use podo_app::identity::keyring::Keyring;
use podo_app::identity::sessions::{Caller, Sessions};
use podo_app::operations::throttling::limits::Quota;
use podo_app::operations::throttling::rate_limits::RateLimits;
use podo_app::waiting_room::tokens::{Token, TokenClaims};
use podo_app::waiting_room::{QueueState, QueueView};
use podo_domain::booking::seats::SeatPick;
use podo_domain::identity::Role;
use podo_domain::payments::wallet::Change;
use podo_domain::{ScheduleId, SessionId, Timestamp, UserId, Won};
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The allocator of the shipped binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NOW: Timestamp = Timestamp::from_ms(1_900_000_000_000);

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    tokens(&mut criterion);
    rate_limits(&mut criterion);
    status(&mut criterion);
    holds(&mut criterion);
    ledger(&mut criterion);
    criterion.final_summary();
}

fn schedule() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(7 << 64))
}

fn fan(number: u128) -> UserId {
    UserId::new(Uuid::from_u128(number))
}

fn tokens(criterion: &mut Criterion) {
    let keyring = Keyring::new(&[7; 32]);
    let place = Token {
        schedule: schedule(),
        user: fan(1),
        claims: TokenClaims::Place { number: 1_000_000 },
    };
    let text = place.issue(keyring.tokens());
    criterion.bench_function("place token: issue", |bench| {
        bench.iter(|| black_box(&place).issue(keyring.tokens()));
    });
    criterion.bench_function("place token: read", |bench| {
        bench.iter(|| Token::read(black_box(&text), keyring.tokens()).expect("our own"));
    });
    let sessions = Sessions::new(&keyring);
    let caller =
        Caller { user: fan(1), session: SessionId::new(Uuid::from_u128(2)), role: Role::User };
    let access = sessions.issue(caller, Uuid::from_u128(3), NOW);
    criterion.bench_function("access token: check", |bench| {
        bench.iter(|| sessions.check(black_box(&access), NOW).expect("alive"));
    });
}

/// Ten thousand addresses in turn, a thousand requests per millisecond.
fn rate_limits(criterion: &mut Criterion) {
    for n_nodes in [1, 3] {
        let limits = RateLimits::new(Arc::new(SharedBuckets::default()));
        limits.set_nodes(n_nodes);
        let mut number = 0;
        criterion.bench_function(&format!("rate limit of an address, {n_nodes} nodes"), |bench| {
            bench.iter(|| {
                number += 1;
                let address = Ipv4Addr::from_bits(number % 10_000).into();
                let now = NOW.plus(Duration::from_millis(u64::from(number / 1_000)));
                limits.addresses.take(&address, Quota::per_second(100), now).expect("it answers")
            });
        });
    }
}

fn status(criterion: &mut Criterion) {
    let view = QueueView {
        state: QueueState::Waiting,
        number: Some(1_900_000_000_123_456),
        position: 48_211,
        ahead: 48_210,
        behind: 120_400,
        estimated_wait: Some(640),
        estimated_wait_range: Some([600, 720]),
        chance: None,
        poll_after_ms: 15_000,
        can_enter: false,
        opens_at: None,
        entry_token: None,
        entry_expires_at: None,
        extensions_left: None,
        paused: false,
        canceled: false,
        message: None,
        message_en: None,
        token: None,
        now: NOW,
    };
    let mut body = Vec::with_capacity(512);
    criterion.bench_function("status of a waiting fan: write", |bench| {
        bench.iter(|| {
            body.clear();
            serde_json::to_writer(&mut body, black_box(&view)).expect("a view becomes JSON");
            body.len()
        });
    });
}

fn holds(criterion: &mut Criterion) {
    let (holds, until) = (SeatFilter::default(), NOW.plus(Duration::from_secs(300)));
    let pick = |first: u32| {
        let seats = [0, 1, 2, 3].map(|more| schedule().seat(first + more));
        SeatPick::new(schedule(), &seats).expect("four seats")
    };
    let (own, taken) = (pick(0), pick(100));
    let take = |pick: &SeatPick, fan: UserId| {
        holds.take(pick, fan, until, NOW).now_or_never().expect("memory answers at once")
    };
    assert!(matches!(take(&taken, fan(9)), Ok(Taken::Yes)));
    criterion.bench_function("four seats: take and release", |bench| {
        bench.iter(|| {
            black_box(take(&own, fan(1))).expect("the filter is there");
            let release = holds.release(schedule(), own.indexes(), fan(1));
            release.now_or_never().expect("at once").expect("the filter is there");
        });
    });
    criterion.bench_function("four seats that are taken: refuse", |bench| {
        bench.iter(|| holds.cached_refusal(black_box(&taken), fan(1), NOW).expect("taken"));
    });
}

fn ledger(criterion: &mut Criterion) {
    let won = |amount: i64| Won::new(amount).expect("an amount");
    let (balance, price) = (won(1_000_000), won(220_000));
    criterion.bench_function("ledger: charge, debit and refund", |bench| {
        bench.iter(|| {
            let changes = [Change::Charge(price), Change::Debit(price), Change::Refund(price)];
            let apply = |balance: Won, change: Change| change.after(balance);
            black_box(changes).into_iter().try_fold(black_box(balance), apply)
        });
    });
}
