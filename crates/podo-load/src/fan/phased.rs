//! What fans of a sale with phases do besides: prove that they may buy, and choose types and codes at
//! checkout.

use crate::fan::journey::Journey;
use crate::http::answers::{Held, Ordered};
use crate::http::client::Call;
use crate::plan::{FanProof, PhasePart, member_of};
use crate::report::stats::{Ending, Step};
use serde_json::{Value, json};

/// A seat that the map shows as sold.
const SOLD: u8 = 2;

impl Journey {
    /// Before the phase opens.
    pub(super) async fn verify(&self, part: &PhasePart) -> Result<(), Ending> {
        let body = match &part.proof {
            None => return Ok(()),
            Some(FanProof::Code(code)) => json!({ "code": code }),
            Some(FanProof::Member) => {
                let (number, name) = member_of(self.caller.fan);
                json!({ "membershipNumber": number, "name": name })
            }
        };
        let path = format!("/api/booking/phases/{}/verify", part.phase);
        self.caller.call(Step::Verify, Call::post(path, &body)).await?;
        Ok(())
    }

    /// A ticket type for the first seat that has one, and the code, as the plan decided.
    pub(super) async fn choose_order(&mut self, held: &mut Held) -> Result<(), Ending> {
        let seats = if self.wish.has_type { self.typed_seats(held) } else { Vec::new() };
        let code = if self.wish.has_code { self.any_code() } else { None };
        if seats.is_empty() && code.is_none() {
            return Ok(());
        }
        let path = format!("/api/booking/reservations/{}/order", held.reservation_id);
        let body = match code {
            Some(code) => json!({ "seats": seats, "code": code }),
            None => json!({ "seats": seats }),
        };
        let answer = self.caller.call(Step::Order, Call::put(path, &body)).await?;
        let ordered: Ordered = self.caller.read(Step::Order, &answer)?;
        held.amount = ordered.amount;
        Ok(())
    }

    fn any_code(&mut self) -> Option<String> {
        let codes = &self.plan.checkout.codes;
        let chosen = self.wish.rng.below(codes.len().max(1) as u64) as usize;
        codes.get(chosen).cloned()
    }

    fn typed_seats(&mut self, held: &Held) -> Vec<Value> {
        let types = &self.plan.checkout.types;
        if types.is_empty() {
            return Vec::new();
        }
        let chosen = &types[self.wish.rng.below(types.len() as u64) as usize];
        let has = |grade: &String| chosen.grades.as_ref().is_none_or(|all| all.contains(grade));
        let seat = held.seats.iter().find(|seat| has(&seat.grade));
        let body = |id| json!({ "seatId": id, "ticketTypeId": chosen.id });
        seat.map(|seat| body(seat.id)).into_iter().collect()
    }
}

/// The packed map as a fan of this phase reads it: seats that it doesn't sell can't be had.
pub(super) fn map_of(part: Option<&PhasePart>, map: &[u8]) -> Vec<u8> {
    let Some(seats) = part.and_then(|part| part.seats.as_ref()) else { return map.to_vec() };
    let read = |(at, four): (u32, &u8)| {
        (0..4).fold(*four, |byte, seat| match seats.contains(at * 4 + seat) {
            true => byte,
            false => byte & !(0b11 << (2 * seat)) | (SOLD << (2 * seat)),
        })
    };
    (0..).zip(map).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::PhaseId;
    use podo_domain::catalog::phases::SeatRanges;
    use uuid::Uuid;

    #[test]
    fn seats_that_the_phase_does_not_sell_look_sold() {
        let phase = PhaseId::new(Uuid::from_u128(1));
        let seats = Some(SeatRanges::of([1, 2, 5]));
        let part = PhasePart { phase, fans: 1, proof: None, seats };
        // Two bits a seat from the lowest on: all free but the third, which is held.
        assert_eq!(map_of(Some(&part), &[0b00_01_00_00, 0]), [0b10_01_00_10, 0b10_10_00_10]);
        assert_eq!(map_of(None, &[0b00_01_00_00]), [0b00_01_00_00]);
    }
}
