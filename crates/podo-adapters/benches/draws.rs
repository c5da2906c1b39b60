//! How long a draw of a million applications takes: the shuffle with the winners, and the whole
//! round of the job on SQLite, from the end of the window to the last stored place.
//! `cargo bench --workspace --bench draws`

#[path = "../tests/store/engine.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod engine;

#[path = "../tests/store/world.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the contract suite uses the rest of it")]
mod world;

use podo_app::booking::jobs::draw::draw_phase;
use podo_app::catalog::phases::draws_port::{Draws, SetDraw};
use podo_app::catalog::phases::port::{Phases, SetPhases};
use podo_domain::PhaseId;
use podo_domain::booking::draws::{Application, DrawTerms, winners};
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::waiting_room::draw::permutation;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use world::{Plan, SALE_S, World, at};

/// The allocator of the shipped binary; SQLite uses it too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const APPLICATIONS: u32 = 1_000_000;

const ROUNDS: u32 = 3;

/// A row of VIP seats, and 25 rows of R seats.
const SEATS_PER_ROW: u32 = 800;
const ROWS: u8 = 26;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for _ in 0..ROUNDS {
        compute();
        runtime.block_on(draw());
    }
}

/// The decision alone: every other application is for R, and one in ten was withdrawn.
#[expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
fn compute() {
    let application = |index: u32| Application {
        grade: u16::from(index.is_multiple_of(2)),
        n_seats: 1 + (index % 2) as u8,
        is_withdrawn: index.is_multiple_of(10),
    };
    let applications: Vec<Application> = (0..APPLICATIONS).map(application).collect();
    let start = Instant::now();
    let ranks = permutation(&[7; 32], APPLICATIONS);
    let wins = winners(&ranks, &applications, &[SEATS_PER_ROW, 20_000]);
    let n_wins = wins.iter().filter(|wins| **wins).count();
    println!("shuffle and winners of {APPLICATIONS}: {:.2?} ({n_wins} win)", start.elapsed());
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]
async fn draw() {
    let plan =
        Plan { rows: ROWS, seats_per_row: SEATS_PER_ROW, seats_per_person: 4, off: Vec::new() };
    let world = World::planned(plan).await;
    let phase = sale(&world).await;
    fill(&world.engine.path(), phase);
    let start = Instant::now();
    let n_drawn = draw_phase(&world.store, phase, at(-10)).await.expect("a draw");
    println!("the whole draw of {n_drawn} on SQLite: {:.2?}", start.elapsed());
    world.finish().await;
}

async fn sale(world: &World) -> PhaseId {
    let terms = PhaseTerms {
        name: "추첨".to_owned(),
        name_en: "Draw".to_owned(),
        window: SaleWindow { starts_at: at(0), ends_at: at(SALE_S) },
        audience: PhaseAudience::Drawn,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    };
    let (actor, schedule, now) = (world.admin, world.schedule, at(-100));
    let phases = vec![PhaseInput { id: None, terms }];
    let made = world.store.set_phases(SetPhases { actor, schedule, phases, now }).await;
    let phase = made.expect("a phase")[0].id;
    let terms = DrawTerms {
        apply_from: at(-90),
        apply_until: at(-10),
        seats_max: 2,
        offer_minutes: 60,
        quantities: BTreeMap::from([
            ("VIP".to_owned(), SEATS_PER_ROW),
            ("R".to_owned(), (u32::from(ROWS) - 1) * SEATS_PER_ROW),
        ]),
    };
    world.store.set_draw(SetDraw { actor, phase, terms, now }).await.expect("a draw");
    phase
}

fn fill(path: &Path, phase: PhaseId) {
    let connection = Connection::open(path).expect("the store's file");
    let sql = "with recursive n (i) as (select 0 union all select i + 1 from n where i + 1 < ?2)
        insert into draw_applications
          (phase_id, user_id, idx, grade, n_seats, state, created_at, updated_at)
        select ?1, randomblob(16), i, case when i % 2 = 0 then 'R' else 'VIP' end, 1 + i % 2,
               case when i % 10 = 0 then 'WITHDRAWN' else 'APPLIED' end, 0, 0 from n";
    let id = phase.uuid().into_bytes();
    connection.execute(sql, (&id[..], APPLICATIONS)).expect("applications");
    let sql = "update draws set n_applied = ?2 where phase_id = ?1";
    connection.execute(sql, (&id[..], APPLICATIONS)).expect("their number");
    connection.execute_batch("pragma wal_checkpoint(truncate)").expect("a checkpoint");
}
