//! The waiting room in memory with a million fans: the bytes per place, and the time of a position
//! and an admission. `cargo bench -p podo-adapters --bench waiting_room`

use criterion::{BatchSize, Criterion};
use futures::FutureExt;
use podo_adapters::live::memory::Queue;
use podo_app::waiting_room::port::queue::{FanPlace, Queue as _, Remembered};
use podo_domain::waiting_room::{QueueMode, QueuePosition, QueueRules, QueueSettings};
use podo_domain::{ScheduleId, Timestamp, UserId};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;
use uuid::Uuid;

/// The allocator of the shipped binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const N_FANS: u64 = 1_000_000;
const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

fn rules(schedule: u128) -> QueueRules {
    QueueRules {
        schedule: ScheduleId::new(Uuid::from_u128(schedule << 64)),
        settings: QueueSettings {
            mode: QueueMode::Paused,
            max_active: 1_000_000,
            admit_per_second: 1_000,
            ..QueueSettings::default()
        },
        opens_at: START,
        draw_seed: [0; 32],
    }
}

/// The engine in memory never waits.
fn block_on<T>(answer: impl Future<Output = T>) -> T {
    answer.now_or_never().expect("memory answers at once")
}

/// Ids as the platform creates them: the time first, then random bytes.
fn fan(number: u64) -> UserId {
    let rng = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    UserId::new(Uuid::from_u64_pair(0x0190_0000_0000_7000 | (number >> 12) << 16, rng))
}

/// Every fan enters. Returns the first number.
fn fill(queue: &Queue, rules: &QueueRules) -> u64 {
    block_on(queue.restore(rules, &Remembered::default(), START)).expect("a room");
    let mut first = None;
    for number in 0..N_FANS {
        let position = block_on(queue.enter(rules, fan(number), None, START)).expect("a place");
        if let Some(QueuePosition::Waiting { number, .. }) = position {
            first.get_or_insert(number);
        }
    }
    first.expect("the first waits")
}

/// The resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().next()).and_then(|kb| kb.parse().ok());
    kb.unwrap_or(0_u64) * 1_024
}

/// The allocator returns freed memory after a second, on the next allocation.
fn settle() {
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(100));
        drop(black_box(vec![0_u8; 1 << 20]));
    }
}

fn main() {
    let (queue, rules) = (Queue::default(), rules(1));
    let before = resident();
    let first = fill(&queue, &rules);
    let at_once = (resident() - before) as f64 / N_FANS as f64;
    settle();
    let bytes = (resident() - before) as f64 / N_FANS as f64;
    eprintln!("a waiting fan: {bytes:.1} bytes (resident, {N_FANS} fans; promised: at most 100)");
    eprintln!("the same at once, with tables that were outgrown: {at_once:.1} bytes");
    assert!(bytes <= 100.0, "a place costs too much");

    let mut criterion = Criterion::default().configure_from_args();
    positions(&mut criterion, &queue, &rules, first);
    admissions(&mut criterion);
    criterion.final_summary();
}

fn positions(criterion: &mut Criterion, queue: &Queue, rules: &QueueRules, first: u64) {
    let mut next = 0_u64;
    let mut any = move || {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (next >> 20) % N_FANS
    };
    criterion.bench_function("position by number, without a lock", |bench| {
        bench.iter(|| {
            let number = any();
            let place = FanPlace { number: first + number, fan: fan(number) };
            black_box(queue.cached_position(rules.schedule, place, START))
        });
    });
    criterion.bench_function("position by name", |bench| {
        bench.iter(|| {
            let fan = fan(any());
            black_box(block_on(queue.position(rules, fan, None, START)).expect("an answer"))
        });
    });
}

/// One second's round: a thousand admissions out of a million.
fn admissions(criterion: &mut Criterion) {
    let room = RefCell::new(Open::new(2));
    criterion.bench_function("admit(1000) of a million", |bench| {
        let prepare = || room.borrow_mut().pass_second();
        let admit = |()| room.borrow_mut().admit();
        bench.iter_batched(prepare, admit, BatchSize::PerIteration);
    });
}

struct Open {
    schedule: u128,
    queue: Queue,
    rules: QueueRules,
    now: Timestamp,
    n_waiting: u64,
}

impl Open {
    fn new(schedule: u128) -> Open {
        let (queue, mut rules) = (Queue::default(), rules(schedule));
        fill(&queue, &rules);
        rules.settings.mode = QueueMode::Auto;
        Open { schedule, queue, rules, now: START, n_waiting: N_FANS }
    }

    /// Replaces an empty room with a full one.
    fn pass_second(&mut self) {
        if self.n_waiting == 0 {
            *self = Open::new(self.schedule + 1);
        }
        self.now = self.now.plus(Duration::from_secs(1));
    }

    fn admit(&mut self) {
        let admitted = block_on(self.queue.admit(&self.rules, self.now)).expect("an answer");
        self.n_waiting -= admitted.map_or(0, |admitted| admitted.len() as u64);
    }
}
