//! A presale with a code, for the plans of its statements.

use crate::world::{Fan, World, at};
use podo_app::booking::port::reservations::{HoldSeats, Reservations};
use podo_app::catalog::phases::port::{AddCodes, PhaseProof, Phases, SetPhases, Verify};
use podo_app::catalog::port::Catalog;
use podo_domain::ScheduleId;
use podo_domain::booking::seats::SeatPick;
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use uuid::Uuid;

/// Another date, which is sold in phases.
fn phased_date() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(0x0192 << 112))
}

/// What organisers do isn't watched.
pub(super) async fn prepare(world: &World) {
    let (store, actor, schedule) = (&world.store, world.admin, phased_date());
    store.create_schedule(world.schedule_command(schedule, 4)).await.unwrap();
    let terms = PhaseTerms {
        name: "선예매".into(),
        name_en: "Presale".into(),
        window: SaleWindow { starts_at: at(0), ends_at: at(600) },
        audience: PhaseAudience::Code,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    };
    let phases = vec![PhaseInput { id: None, terms }];
    let now = at(-10);
    let made = store.set_phases(SetPhases { actor, schedule, phases, now }).await.unwrap();
    let (phase, codes, uses_max) = (made[0].id, vec![[1; 32]], 1);
    store.add_codes(AddCodes { actor, phase, codes, uses_max, now }).await.unwrap();
}

/// A fan verifies for a phase and holds a seat in it.
pub(super) async fn play(world: &World, fan: &Fan) {
    let (store, schedule, now) = (&world.store, phased_date(), at(-10));
    let phase = schedule.phase(1);
    let (user, proof) = (fan.id, PhaseProof::Code([1; 32]));
    store.verify(Verify { phase, user, proof, is_asked: true, now }).await.unwrap();
    store.eligible_phases(user, schedule).await.unwrap();
    store.schedule(schedule).await.unwrap();
    let pick = SeatPick::new(schedule, &[schedule.seat(0)]).unwrap();
    let command = world.hold_command(fan, &[0], at(1));
    let command = HoldSeats { pick, room: phase.room(), ..command };
    store.hold_seats(command).await.unwrap();
}
