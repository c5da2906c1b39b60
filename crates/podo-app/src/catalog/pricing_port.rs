//! Ticket types, fees and promotion codes in the store.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::order::options::{Discount, Fees, PriceOptions, TicketTypeInput};
use podo_domain::booking::order::price_changes::PriceChanges;
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::{PromotionId, ScheduleId, Timestamp, UserId, Won};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use utoipa::ToSchema;

/// Replaces the ticket types and the fees of a date.
#[derive(Clone, Debug)]
pub struct SetOptions {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub ticket_types: Vec<TicketTypeInput>,
    pub fees: Fees,
    pub now: Timestamp,
}

/// What a date does with its prices from a moment on.
#[derive(Clone, Debug)]
pub enum PriceVerb {
    /// From now on if no moment is given.
    Add {
        from: Option<Timestamp>,
        prices: BTreeMap<String, Won>,
    },
    Withdraw {
        from: Timestamp,
    },
}

#[derive(Clone, Debug)]
pub struct ChangePrices {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub verb: PriceVerb,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct AddPromotion {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub promotion: Promotion,
    pub now: Timestamp,
}

/// Absent fields stay as they are.
#[derive(Clone, Debug)]
pub struct ChangePromotion {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub promotion: PromotionId,
    pub ends_at: Option<Timestamp>,
    pub uses_max: Option<u32>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct RemovePromotion {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub promotion: PromotionId,
    pub now: Timestamp,
}

/// A promotion code as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionView {
    pub id: PromotionId,
    pub code: String,
    #[serde(flatten)]
    pub discount: Discount,
    pub per: PromotionPer,
    /// The grades that it is for; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<BTreeSet<String>>,
    pub amount_min: Won,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<Timestamp>,
    /// Orders in all, and of one person.
    pub uses_max: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses_per_person: Option<u32>,
    /// Held and paid orders that use it now.
    pub used: u32,
}

impl PromotionView {
    pub fn of(promotion: Promotion, used: u32) -> PromotionView {
        PromotionView {
            id: promotion.id,
            code: promotion.code,
            discount: promotion.discount,
            per: promotion.per,
            grades: promotion.grades,
            amount_min: promotion.amount_min,
            starts_at: promotion.starts_at,
            ends_at: promotion.ends_at,
            uses_max: promotion.uses_max,
            uses_per_person: promotion.uses_per_person,
            used,
        }
    }
}

#[async_trait]
pub trait Pricing: Send + Sync {
    /// Orders keep what they were made under. Refusals: `NotFound`, `InvalidPriceOptions`.
    async fn set_price_options(&self, command: SetOptions) -> Result<PriceOptions>;

    /// Applies to seats that are held from then on; orders keep their prices. Refusals: `NotFound`,
    /// `InvalidPriceChange`, `InvalidTemplate` (prices), `PriceChangeBegun`.
    async fn change_prices(&self, command: ChangePrices) -> Result<PriceChanges>;

    async fn promotions_of(&self, schedule: ScheduleId) -> Result<Vec<PromotionView>>;

    /// Refusals: `NotFound`, `InvalidPromotion`, `PromotionExists`.
    async fn add_promotion(&self, command: AddPromotion) -> Result<PromotionView>;

    /// Refusals: `NotFound`, `InvalidPromotion`.
    async fn change_promotion(&self, command: ChangePromotion) -> Result<PromotionView>;

    /// Refusals: `NotFound`, `InUse`.
    async fn remove_promotion(&self, command: RemovePromotion) -> Result<()>;
}
