//! What a fan chooses at checkout: a ticket type for each seat and a promotion code.

use crate::booking::port::reservations::{ChooseOrder, ReservationView};
use crate::context::AppContext;
use crate::error::Result;
use podo_domain::booking::order::promotions::clean_code;
use podo_domain::{Refusal, ReservationId, SeatId, UserId};
use std::time::Duration;

/// Attempts with a code, per fan: guessing one must not pay.
const TRIES: u32 = 20;
const TRIES_PER: Duration = Duration::from_secs(600);

/// Sets the types and the code of an unpaid order, and with them its amount.
pub async fn choose(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
    types: Vec<(SeatId, Option<u32>)>,
    code: Option<&str>,
) -> Result<ReservationView> {
    let code = match code.map(str::trim).filter(|code| !code.is_empty()) {
        Some(code) => {
            context.take(&format!("promotion:{fan}"), TRIES, TRIES_PER).await?;
            Some(clean_code(code).ok_or(Refusal::PromotionWrong)?)
        }
        None => None,
    };
    let command = ChooseOrder { reservation, user: fan, types, code, now: context.now() };
    context.store.choose_order(command).await
}
