//! Promotion codes of a date, and the count of the orders that use them.

use crate::sql::booking::reservations::json_or_default;
use crate::sql::catalog::announce_change;
use crate::sql::catalog::create::json_text;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use podo_app::catalog::pricing_port::{
    AddPromotion, ChangePrices, ChangePromotion, PriceVerb, Pricing, PromotionView,
    RemovePromotion, SetOptions,
};
use podo_app::{Error, Result};
use podo_domain::booking::order::options::PriceOptions;
use podo_domain::booking::order::price_changes::{PriceChange, PriceChanges};
use podo_domain::booking::order::promotions::{Promotion, PromotionPer, USES_MAX};
use podo_domain::booking::reservations::Reservation;
use podo_domain::catalog::{SeatTemplate, price_seats};
use podo_domain::{Currency, PromotionId, Refusal, ScheduleId, Timestamp, Won};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

commands! {
    impl Pricing for SqlStore {
        write set_price_options(SetOptions) -> PriceOptions as Event => set_options;
        write change_prices(ChangePrices) -> PriceChanges as Event => change_prices;
        read promotions_of(PromotionsOf { schedule: ScheduleId })
            -> Vec<PromotionView> as Event => list;
        write add_promotion(AddPromotion) -> PromotionView as Event => add;
        write change_promotion(ChangePromotion) -> PromotionView as Event => change;
        write remove_promotion(RemovePromotion) -> () as Event => remove;
    }
}

/// The start of every query that `read_promotion` reads.
macro_rules! promotions {
    () => {
        "select id, code, discount, per, grades, amount_min, starts_at, ends_at, uses_max,
                uses_per_person, n_used
           from promotion_codes"
    };
}

fn read_promotion(row: &Row) -> Result<Promotion> {
    let grades: Option<String> = row.get("grades")?;
    Ok(Promotion {
        id: row.get("id")?,
        code: row.get("code")?,
        discount: row.json("discount")?,
        per: row.parse("per", PromotionPer::parse)?,
        grades: grades.map(|_| row.json::<BTreeSet<String>>("grades")).transpose()?,
        amount_min: row.get("amount_min")?,
        starts_at: row.get("starts_at")?,
        ends_at: row.get("ends_at")?,
        uses_max: row.get("uses_max")?,
        uses_per_person: row.get("uses_per_person")?,
    })
}

fn read_view(row: &Row) -> Result<PromotionView> {
    Ok(PromotionView::of(read_promotion(row)?, row.get("n_used")?))
}

pub(crate) async fn find(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    code: &str,
) -> Result<Option<Promotion>> {
    let sql = concat!(promotions!(), " where schedule_id = $1 and code = $2");
    tx.row(sql, params![schedule, code]).await?.as_ref().map(read_promotion).transpose()
}

/// Gives the use of the old code back and counts one of the new. The rows are locked in the order
/// of their ids, so that two fans who exchange codes can't deadlock.
pub(crate) async fn change_use(
    tx: &mut dyn Tx,
    before: &Reservation,
    promotion: Option<&Promotion>,
    now: Timestamp,
) -> Result<()> {
    let new = promotion.filter(|promotion| before.promotion != Some(promotion.id));
    let old = before.promotion.filter(|old| promotion.is_none_or(|it| it.id != *old));
    match (old, new) {
        (Some(old), Some(new)) if new.id < old => {
            take_use(tx, before, new, now).await?;
            return_use(tx, Some(old), now).await
        }
        (old, new) => {
            return_use(tx, old, now).await?;
            match new {
                Some(new) => take_use(tx, before, new, now).await,
                None => Ok(()),
            }
        }
    }
}

/// Counts a use. The update serialises all orders with the code, so the fan's own uses are counted
/// after it.
async fn take_use(
    tx: &mut dyn Tx,
    order: &Reservation,
    promotion: &Promotion,
    now: Timestamp,
) -> Result<()> {
    let sql = "update promotion_codes set n_used = n_used + 1, updated_at = $2
                where id = $1 and n_used < uses_max";
    if tx.execute(sql, params![promotion.id, now]).await? == 0 {
        return Err(Refusal::PromotionUsedUp.into());
    }
    let Some(max) = promotion.uses_per_person else { return Ok(()) };
    let sql = "select count(*) as n_uses from reservations
                where promotion_id = $1 and user_id = $2 and id <> $3
                  and status in ('HELD', 'PAYING', 'CONFIRMED')
                  and not (status = 'HELD' and hold_expires_at <= $4)";
    let values = params![promotion.id, order.user, order.id, now];
    let row = tx.row(sql, values).await?;
    let n_uses: u32 = row.map(|row| row.get("n_uses")).transpose()?.unwrap_or(0);
    if max <= n_uses { Err(Refusal::PromotionUsed.into()) } else { Ok(()) }
}

/// An order with the code ended without a ticket, or was canceled.
pub(crate) async fn return_use(
    tx: &mut dyn Tx,
    promotion: Option<PromotionId>,
    now: Timestamp,
) -> Result<()> {
    let Some(promotion) = promotion else { return Ok(()) };
    let sql = "update promotion_codes set n_used = n_used - 1, updated_at = $2
                where id = $1 and n_used > 0";
    tx.execute(sql, params![promotion, now]).await?;
    Ok(())
}

async fn set_options(tx: &mut dyn Tx, command: &SetOptions) -> Result<PriceOptions> {
    let (schedule, now) = (command.schedule, command.now);
    tx.lock(schedule.uuid()).await?;
    let sql = "select price_options from event_schedules where id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let before: PriceOptions = json_or_default(&row, "price_options")?;
    let (prices, currency) = prices_of(tx, schedule).await?;
    let next = before.change(command.ticket_types.clone(), command.fees, &prices, currency)?;
    let stored = if next.is_plain() { Value::Null } else { json_text(&next)? };
    let sql = "update event_schedules set price_options = $2, updated_at = $3 where id = $1";
    tx.execute(sql, &[schedule.into(), stored, now.into()]).await?;
    let details = json!({ "ticketTypes": next.ticket_types, "fees": next.fees });
    announce_change(tx, command.actor, "schedule.price-options", schedule.uuid(), details, now)
        .await?;
    Ok(next)
}

async fn change_prices(tx: &mut dyn Tx, command: &ChangePrices) -> Result<PriceChanges> {
    let (schedule, now) = (command.schedule, command.now);
    tx.lock(schedule.uuid()).await?;
    let sql = "select seat_template, price_changes from event_schedules where id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    let before: PriceChanges = json_or_default(&row, "price_changes")?;
    let (next, details) = match &command.verb {
        PriceVerb::Add { from, prices } => {
            let template: SeatTemplate = row.json("seat_template")?;
            let (_, currency) = prices_of(tx, schedule).await?;
            price_seats(&template.plan()?, prices, currency)?;
            let change = PriceChange { from: from.unwrap_or(now), prices: prices.clone() };
            (before.add(change.clone(), now)?, json!({ "added": change }))
        }
        PriceVerb::Withdraw { from } => {
            (before.withdraw(*from, now)?, json!({ "withdrawn": from }))
        }
    };
    let sql = "update event_schedules set price_changes = $2, updated_at = $3 where id = $1";
    tx.execute(sql, &[schedule.into(), json_text(&next)?, now.into()]).await?;
    announce_change(tx, command.actor, "schedule.prices", schedule.uuid(), details, now).await?;
    Ok(next)
}

async fn list(tx: &mut dyn Tx, question: &PromotionsOf) -> Result<Vec<PromotionView>> {
    let sql = concat!(promotions!(), " where schedule_id = $1 order by id");
    tx.query(sql, params![question.schedule]).await?.iter().map(read_view).collect()
}

async fn prices_of(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
) -> Result<(BTreeMap<String, Won>, Currency)> {
    let sql = "select s.prices, e.currency
                 from event_schedules s join events e on e.id = s.event_id where s.id = $1";
    let row = tx.row(sql, params![schedule]).await?.ok_or(Refusal::NotFound)?;
    Ok((row.json("prices")?, row.parse("currency", Currency::parse)?))
}

async fn add(tx: &mut dyn Tx, command: &AddPromotion) -> Result<PromotionView> {
    let AddPromotion { actor, schedule, promotion, now } = command;
    let (prices, currency) = prices_of(tx, *schedule).await?;
    promotion.check(&prices, currency)?;
    let sql = "insert into promotion_codes
                 (id, schedule_id, code, discount, per, grades, amount_min, starts_at, ends_at,
                  uses_max, uses_per_person, n_used, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $12)";
    let values = &[
        promotion.id.into(),
        (*schedule).into(),
        (&promotion.code).into(),
        json_text(&promotion.discount)?,
        promotion.per.as_str().into(),
        promotion.grades.as_ref().map_or(Ok(Value::Null), json_text)?,
        promotion.amount_min.into(),
        promotion.starts_at.into(),
        promotion.ends_at.into(),
        promotion.uses_max.into(),
        promotion.uses_per_person.into(),
        (*now).into(),
    ];
    tx.execute(sql, values).await.map_err(|error| {
        match error.is_constraint("promotion_codes_code") {
            true => Error::from(Refusal::PromotionExists),
            false => error.into(),
        }
    })?;
    let details = json!({ "scheduleId": schedule, "code": promotion.code });
    announce_change(tx, *actor, "promotion.create", promotion.id.uuid(), details, *now).await?;
    Ok(PromotionView::of(promotion.clone(), 0))
}

async fn change(tx: &mut dyn Tx, command: &ChangePromotion) -> Result<PromotionView> {
    let (id, now) = (command.promotion, command.now);
    let sql = concat!(promotions!(), " where id = $1 and schedule_id = $2");
    let row = tx.row(sql, params![id, command.schedule]).await?.ok_or(Refusal::NotFound)?;
    let before = read_promotion(&row)?;
    let next = Promotion {
        ends_at: command.ends_at.or(before.ends_at),
        uses_max: command.uses_max.unwrap_or(before.uses_max).min(USES_MAX + 1),
        ..before
    };
    let (prices, currency) = prices_of(tx, command.schedule).await?;
    next.check(&prices, currency)?;
    let sql = "update promotion_codes set ends_at = $2, uses_max = $3, updated_at = $4
                where id = $1 and n_used <= $3";
    if tx.execute(sql, params![id, next.ends_at, next.uses_max, now]).await? == 0 {
        // More orders than that use it already.
        return Err(Refusal::InvalidPromotion { field: "usesMax" }.into());
    }
    let details = json!({ "usesMax": next.uses_max, "endsAt": next.ends_at });
    announce_change(tx, command.actor, "promotion.change", id.uuid(), details, now).await?;
    let row = tx.row(concat!(promotions!(), " where id = $1"), params![id]).await?;
    read_view(&row.ok_or(Refusal::NotFound)?)
}

/// Only a code that no order uses: later ones would refer to nothing.
async fn remove(tx: &mut dyn Tx, command: &RemovePromotion) -> Result<()> {
    let (id, schedule) = (command.promotion, command.schedule);
    let known = "select code from promotion_codes where id = $1 and schedule_id = $2";
    let row = tx.row(known, params![id, schedule]).await?.ok_or(Refusal::NotFound)?;
    let code: String = row.get("code")?;
    let sql = "delete from promotion_codes where id = $1 and n_used = 0";
    if tx.execute(sql, params![id]).await? == 0 {
        return Err(Refusal::InUse.into());
    }
    let details = json!({ "code": code });
    announce_change(tx, command.actor, "promotion.remove", id.uuid(), details, command.now).await
}
