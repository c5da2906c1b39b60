//! Ticket types, fees and promotion codes of a date, as organisers set them.

use crate::http::extract::permissions::{ManageEvents, ViewEvents};
use crate::http::extract::scope::OfSchedule;
use crate::http::extract::{Allowed, Audited, Body, Id, Params, PathText, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::catalog::pricing;
use podo_app::catalog::pricing_port::{PriceVerb, PromotionView};
use podo_domain::booking::order::options::{
    Discount, Fees, PriceOptions, TicketType, TicketTypeInput,
};
use podo_domain::booking::order::price_changes::PriceChange;
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::catalog::text::Line;
use podo_domain::{PromotionId, Refusal, ScheduleId, Timestamp, Won};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(show_price_options))
        .routes(guarded!(set_price_options))
        .routes(guarded!(show_prices))
        .routes(guarded!(change_prices))
        .routes(guarded!(withdraw_prices))
        .routes(guarded!(show_promotions))
        .routes(guarded!(create_promotion))
        .routes(guarded!(change_promotion))
        .routes(guarded!(remove_promotion))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PriceOptionsView {
    ticket_types: Vec<TicketType>,
    fees: Fees,
}

impl From<PriceOptions> for PriceOptionsView {
    fn from(options: PriceOptions) -> PriceOptionsView {
        PriceOptionsView { ticket_types: options.ticket_types, fees: options.fees }
    }
}

/// The ticket types and fees of a date.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/price-options", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = PriceOptionsView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_price_options(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<PriceOptionsView>> {
    Ok(Json(pricing::options_of(&app.context, schedule).await?.into()))
}

/// One of `percent`, `won` and `price`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TicketTypeBody {
    /// Of an existing type; absent for a new one.
    #[serde(default)]
    id: Option<u32>,
    #[schema(value_type = String, max_length = 60)]
    name: Line<60>,
    #[schema(value_type = String, max_length = 60)]
    name_en: Line<60>,
    /// The grades that have it; absent for all.
    #[serde(default)]
    grades: Option<BTreeSet<String>>,
    /// What it takes off the price, in percent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100)]
    percent: Option<u32>,
    /// What it takes off the price, in won.
    #[serde(default)]
    won: Option<Won>,
    /// What it costs instead.
    #[serde(default)]
    price: Option<Won>,
    /// Most tickets of this type in one order.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 10)]
    per_order: Option<u32>,
    /// What the gate asks for, in both languages.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 80)]
    proof: Option<Line<80>>,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 80)]
    proof_en: Option<Line<80>>,
}

/// Exactly one of the three.
fn discount(percent: Option<u32>, won: Option<Won>, price: Option<Won>) -> Option<Discount> {
    match (percent, won, price) {
        (Some(percent), None, None) => Some(Discount::Percent(percent)),
        (None, Some(won), None) => Some(Discount::Won(won)),
        (None, None, Some(price)) => Some(Discount::Price(price)),
        _ => None,
    }
}

fn ask(at: usize, body: TicketTypeBody) -> Result<TicketTypeInput, Refusal> {
    let field = || format!("ticketTypes[{at}].percent");
    let discount = discount(body.percent, body.won, body.price)
        .ok_or_else(|| Refusal::InvalidPriceOptions { field: field() })?;
    Ok(TicketTypeInput {
        id: body.id,
        name: body.name.into(),
        name_en: body.name_en.into(),
        grades: body.grades,
        discount,
        per_order: body.per_order,
        proof: body.proof.map(String::from),
        proof_en: body.proof_en.map(String::from),
    })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PriceOptionsBody {
    #[serde(default)]
    #[schema(max_items = 20)]
    ticket_types: Vec<TicketTypeBody>,
    #[serde(default)]
    fees: Fees,
}

/// Replaces the ticket types and fees of a date. Orders keep what they were made under.
#[utoipa::path(put, path = "/api/admin/schedules/{id}/price-options", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = PriceOptionsBody,
    responses((status = 200, body = PriceOptionsView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn set_price_options(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<PriceOptionsBody>,
) -> ApiResult<Json<PriceOptionsView>> {
    let PriceOptionsBody { ticket_types, fees } = body.value;
    let asked = ticket_types.into_iter().enumerate().map(|(at, it)| ask(at, it));
    let asked = asked.collect::<Result<Vec<_>, Refusal>>()?;
    Ok(Json(pricing::set_options(&app.context, actor, schedule, asked, fees).await?.into()))
}

/// The prices of a date over time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PricesView {
    /// At first.
    prices: BTreeMap<String, Won>,
    /// Past and planned, the earliest first.
    changes: Vec<PriceChange>,
}

/// The prices of a date, and their changes.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/prices", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = PricesView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_prices(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<PricesView>> {
    Ok(Json(prices_of(&app, schedule).await?))
}

async fn prices_of(app: &App, schedule: ScheduleId) -> ApiResult<PricesView> {
    let history = pricing::prices_of(&app.context, schedule).await?;
    Ok(PricesView { prices: history.prices, changes: history.changes.all().to_vec() })
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PriceChangeBody {
    /// Now, if absent.
    #[serde(default)]
    from: Option<Timestamp>,
    /// Of every grade.
    prices: BTreeMap<String, Won>,
}

/// Changes the prices from a moment on, also while the date is on sale. Orders keep the prices at
/// which their seats were held.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/prices", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = PriceChangeBody,
    responses((status = 200, body = PricesView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_prices(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<PriceChangeBody>,
) -> ApiResult<Json<PricesView>> {
    let PriceChangeBody { from, prices } = body.value;
    let verb = PriceVerb::Add { from, prices };
    pricing::change_prices(&app.context, actor, schedule, verb).await?;
    Ok(Json(prices_of(&app, schedule).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceChangeParams {
    /// The moment of the change.
    from: Timestamp,
}

/// Withdraws a planned price change.
#[utoipa::path(delete, path = "/api/admin/schedules/{id}/prices", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), PriceChangeParams),
    responses((status = 200, body = PricesView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem)))]
pub(crate) async fn withdraw_prices(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<PriceChangeParams>,
) -> ApiResult<Json<PricesView>> {
    let verb = PriceVerb::Withdraw { from: params.from };
    pricing::change_prices(&app.context, actor, schedule, verb).await?;
    Ok(Json(prices_of(&app, schedule).await?))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Promotions {
    items: Vec<PromotionView>,
}

/// The promotion codes of a date.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/promotions", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    responses((status = 200, body = Promotions), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_promotions(
    State(app): State<App>,
    _: Allowed<ViewEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<Promotions>> {
    Ok(Json(Promotions { items: pricing::promotions(&app.context, schedule).await? }))
}

/// Either `percent` or `won`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PromotionBody {
    /// 3 to 32 letters and digits. Case, spaces and dashes don't matter.
    code: String,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100)]
    percent: Option<u32>,
    #[serde(default)]
    won: Option<Won>,
    /// What the discount is computed from; the whole order by default.
    #[serde(default)]
    per: PromotionPer,
    /// The grades that it is for; absent for all.
    #[serde(default)]
    grades: Option<BTreeSet<String>>,
    /// The least that the tickets must cost.
    #[serde(default)]
    amount_min: Won,
    #[serde(default)]
    starts_at: Option<Timestamp>,
    #[serde(default)]
    ends_at: Option<Timestamp>,
    /// Orders in all.
    #[schema(minimum = 1, maximum = 1_000_000)]
    uses_max: u32,
    /// Orders of one person.
    #[serde(default)]
    #[schema(minimum = 1)]
    uses_per_person: Option<u32>,
}

/// Adds a promotion code to a date.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/promotions", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path)),
    request_body = PromotionBody,
    responses((status = 201, body = PromotionView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn create_promotion(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    body: Body<PromotionBody>,
) -> ApiResult<(StatusCode, Json<PromotionView>)> {
    let asked = body.value;
    let discount = discount(asked.percent, asked.won, None)
        .ok_or(Refusal::InvalidPromotion { field: "percent" })?;
    let promotion = Promotion {
        id: PromotionId::new(Uuid::nil()),
        code: asked.code,
        discount,
        per: asked.per,
        grades: asked.grades,
        amount_min: asked.amount_min,
        starts_at: asked.starts_at,
        ends_at: asked.ends_at,
        uses_max: asked.uses_max,
        uses_per_person: asked.uses_per_person,
    };
    let made = pricing::add_promotion(&app.context, actor, schedule, promotion).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PromotionChangeBody {
    #[serde(default)]
    ends_at: Option<Timestamp>,
    /// Not less than the orders that use it.
    #[serde(default)]
    uses_max: Option<u32>,
}

/// Changes the end or the number of uses of a promotion code.
#[utoipa::path(patch, path = "/api/admin/schedules/{id}/promotions/{promotion}", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("promotion" = PromotionId, Path)),
    request_body = PromotionChangeBody,
    responses((status = 200, body = PromotionView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn change_promotion(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(promotion): PathText,
    body: Body<PromotionChangeBody>,
) -> ApiResult<Json<PromotionView>> {
    let PromotionChangeBody { ends_at, uses_max } = body.value;
    let promotion = read_promotion(&promotion)?;
    let changed =
        pricing::change_promotion(&app.context, actor, schedule, promotion, ends_at, uses_max);
    Ok(Json(changed.await?))
}

fn read_promotion(text: &str) -> Result<PromotionId, Refusal> {
    text.parse().map_err(|_error| Refusal::NotFound)
}

/// Removes a promotion code that no order uses.
#[utoipa::path(delete, path = "/api/admin/schedules/{id}/promotions/{promotion}", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("promotion" = PromotionId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn remove_promotion(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    PathText(promotion): PathText,
) -> ApiResult<StatusCode> {
    let promotion = read_promotion(&promotion)?;
    pricing::remove_promotion(&app.context, actor, schedule, promotion).await?;
    Ok(StatusCode::NO_CONTENT)
}
