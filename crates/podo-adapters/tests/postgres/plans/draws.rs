//! A draw sale, for the plans of its statements.

use crate::world::{Fan, World, at};
use podo_app::booking::jobs::draw::draw_phase;
use podo_app::booking::port::reservations::{ReleaseSeats, Reservations};
use podo_app::catalog::phases::draws_port::{Apply, Draws, OfferDrawn, SetDraw};
use podo_app::catalog::phases::port::{Phases, SetPhases};
use podo_app::catalog::port::Catalog;
use podo_domain::booking::draws::DrawTerms;
use podo_domain::booking::seats::SeatPick;
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::{ReservationId, ScheduleId};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The date with a draw. `plans_fill.sql` gives all other phases one too.
fn drawn_date() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(0x0193 << 112))
}

pub(super) async fn prepare(world: &World) {
    let (store, actor, schedule) = (&world.store, world.admin, drawn_date());
    store.create_schedule(world.schedule_command(schedule, 4)).await.unwrap();
    let terms = PhaseTerms {
        name: "추첨".into(),
        name_en: "Draw".into(),
        window: SaleWindow { starts_at: at(0), ends_at: at(6_000) },
        audience: PhaseAudience::Drawn,
        seats_per_person: 2,
        seats_per_order: None,
        inventory: Inventory::default(),
    };
    let (phases, now) = (vec![PhaseInput { id: None, terms }], at(-100));
    let made = store.set_phases(SetPhases { actor, schedule, phases, now }).await.unwrap();
    let terms = DrawTerms {
        apply_from: at(-90),
        apply_until: at(-10),
        seats_max: 2,
        offer_minutes: 60,
        quantities: BTreeMap::from([("VIP".into(), 2)]),
    };
    store.set_draw(SetDraw { actor, phase: made[0].id, terms, now }).await.unwrap();
}

/// A fan applies, is drawn and gets an offer that lapses.
pub(super) async fn play(world: &World, fan: &Fan) {
    let (store, schedule, phase) = (&world.store, drawn_date(), drawn_date().phase(1));
    let (user, grade) = (fan.id, "VIP".to_owned());
    let asked = Apply { phase, user, grade: grade.clone(), count: 1, now: at(-50) };
    store.apply(asked.clone()).await.unwrap();
    store.withdraw_application(user, phase, at(-49)).await.unwrap();
    store.apply(Apply { now: at(-48), ..asked }).await.unwrap();
    store.draws_due(at(-10), 10).await.unwrap();
    draw_phase(store, phase, at(-10)).await.unwrap();
    store.draws_running(at(1), 10).await.unwrap();
    store.next_to_offer(phase, grade).await.unwrap();
    let command = OfferDrawn {
        phase,
        user,
        reservation: ReservationId::new(world.id()),
        pick: SeatPick::new(schedule, &[schedule.seat(0)]).unwrap(),
        until: at(600),
        now: at(1),
    };
    let (reservation, now) = (command.reservation, at(2));
    store.offer_drawn(command).await.unwrap();
    store.application_of(user, phase).await.unwrap();
    store.release_seats(ReleaseSeats { reservation, user, now }).await.unwrap();
    store.settle_drawn(at(3), 100).await.unwrap();
    store.pass_over(phase, user, at(3)).await.unwrap();
    store.tell_not_drawn(phase, 100, at(3)).await.unwrap();
    store.applications_from(phase, 0, 100).await.unwrap();
    store.count_applications(phase).await.unwrap();
}
