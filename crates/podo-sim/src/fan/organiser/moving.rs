//! Bookings that an organiser moves to other seats, often while the fan is at the gate or cancels.

use crate::check::coverage::Coverage;
use crate::fan::organiser::{ALL, FREE};
use crate::time::Owner;
use crate::world::{ORGANISER, World};
use futures::FutureExt;
use podo_app::booking::reservations::reseat::{MoveRequest, reseat_booking};
use podo_app::operations::idempotency::RESEAT;
use podo_domain::booking::reservations::SeatMove;
use podo_domain::{Refusal, ReservationId, SeatId};
use std::sync::Arc;

impl World {
    /// In a moment, while the fan does something else with the booking.
    pub(crate) fn move_soon(self: &Arc<World>, reservation: ReservationId) {
        let world = self.clone();
        self.time.spawn(Owner::World, async move {
            world.time.sleep(world.rng.ms(0, 3_000)).await;
            world.move_booking(reservation).await;
        });
    }

    pub(super) async fn move_any_booking(self: &Arc<World>) {
        let sql = "select id from reservations where schedule_id = $1 and status = 'CONFIRMED'
                    order by id";
        let Some(reservation) = self.any_id(sql).map(ReservationId::new) else { return };
        self.move_booking(reservation).await;
    }

    async fn move_booking(self: &Arc<World>, reservation: ReservationId) {
        let moves = self.moves_of(reservation);
        let waives_difference = self.rng.happens(30);
        let key =
            self.organiser_key(RESEAT, &format!("{reservation} {moves:?} {waives_difference}"));
        let asked = self.insist(ORGANISER, "a move", move |context| {
            let (key, moves) = (key.clone(), moves.clone());
            async move {
                let reason = "the camera stands there".to_owned();
                let request = MoveRequest { moves, waives_difference, reason };
                reseat_booking(&context, key, ORGANISER, reservation, request).await.map(drop)
            }
            .boxed()
        });
        match asked.await {
            Some(Ok(())) => self.saw(Coverage::Moved),
            Some(Err(Refusal::SeatTaken { .. })) => self.saw(Coverage::MoveRefused),
            Some(Err(Refusal::TicketUsed { .. })) => self.saw(Coverage::UsedTicketStayed),
            Some(Err(Refusal::AlreadyCanceled | Refusal::TicketVoid)) => {
                self.saw(Coverage::CanceledBeforeMove);
            }
            Some(Err(Refusal::ReseatOtherPrice)) => self.saw(Coverage::MoveOfOtherPrice),
            Some(Err(Refusal::ForeignSeat)) => self.saw(Coverage::ForeignMoveRefused),
            Some(Err(_)) | None => {}
        }
    }

    /// Some seats of the booking, rarely one of another, to free seats or to any.
    fn moves_of(&self, reservation: ReservationId) -> Vec<SeatMove> {
        let own = "select seat_index from reservation_seats
                    where reservation_id = $1 and active order by seat_index";
        let mut from = self.some_seats(own, reservation.uuid(), 2);
        if self.rng.happens(10) {
            from = self.some_seats(ALL, self.schedule.uuid(), 1);
        }
        let to = if self.rng.happens(60) { FREE } else { ALL };
        let to: Vec<SeatId> = self.some_seats(to, self.schedule.uuid(), 2);
        from.into_iter().zip(to).map(|(from, to)| SeatMove { from, to }).collect()
    }
}
