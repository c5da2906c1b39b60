//! Ticket types, fees and promotion codes of a date, as organisers set them.

use crate::catalog::pricing_port::{
    AddPromotion, ChangePrices, ChangePromotion, PriceVerb, PromotionView, RemovePromotion,
    SetOptions,
};
use crate::context::AppContext;
use crate::error::Result;
use podo_domain::booking::order::options::{Fees, PriceOptions, TicketTypeInput};
use podo_domain::booking::order::price_changes::PriceChanges;
use podo_domain::booking::order::promotions::{Promotion, clean_code};
use podo_domain::catalog::text::FieldError;
use podo_domain::{PromotionId, Refusal, ScheduleId, Timestamp, UserId, Won};
use std::collections::BTreeMap;

pub async fn options_of(context: &AppContext, schedule: ScheduleId) -> Result<PriceOptions> {
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(record.options)
}

pub async fn set_options(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    ticket_types: Vec<TicketTypeInput>,
    fees: Fees,
) -> Result<PriceOptions> {
    let command = SetOptions { actor, schedule, ticket_types, fees, now: context.now() };
    let options = context.store.set_price_options(command).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    Ok(options)
}

/// The prices at first and what changed them, or will.
pub struct PriceHistory {
    pub prices: BTreeMap<String, Won>,
    pub changes: PriceChanges,
}

pub async fn prices_of(context: &AppContext, schedule: ScheduleId) -> Result<PriceHistory> {
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    Ok(PriceHistory { prices: record.prices, changes: record.price_changes })
}

pub async fn change_prices(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    verb: PriceVerb,
) -> Result<PriceChanges> {
    let command = ChangePrices { actor, schedule, verb, now: context.now() };
    let changes = context.store.change_prices(command).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    Ok(changes)
}

pub async fn promotions(context: &AppContext, schedule: ScheduleId) -> Result<Vec<PromotionView>> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    context.store.promotions_of(schedule).await
}

/// Adds a code. Its id and the cleaned form of the code are set here.
pub async fn add_promotion(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    promotion: Promotion,
) -> Result<PromotionView> {
    let now = context.now();
    let problem = FieldError::TooShort { min: 3 };
    let code = clean_code(&promotion.code).ok_or(Refusal::Invalid { field: "code", problem })?;
    let id = PromotionId::new(context.rng.id(now));
    let promotion = Promotion { id, code, ..promotion };
    context.store.add_promotion(AddPromotion { actor, schedule, promotion, now }).await
}

pub async fn change_promotion(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    promotion: PromotionId,
    ends_at: Option<Timestamp>,
    uses_max: Option<u32>,
) -> Result<PromotionView> {
    let now = context.now();
    let command = ChangePromotion { actor, schedule, promotion, ends_at, uses_max, now };
    context.store.change_promotion(command).await
}

pub async fn remove_promotion(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    promotion: PromotionId,
) -> Result<()> {
    let command = RemovePromotion { actor, schedule, promotion, now: context.now() };
    context.store.remove_promotion(command).await
}
