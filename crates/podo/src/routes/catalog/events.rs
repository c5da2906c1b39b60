//! Events and schedules: the public part.

use crate::http::extract::{Id, Params, page};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::catalog;
use podo_app::catalog::cards;
use podo_app::catalog::cards::{EventCard, SearchSuggestions};
use podo_app::catalog::port::EventFilter;
use podo_app::catalog::{EventDetail, EventView, ScheduleDetail};
use podo_app::store::Page;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{EventStatus, Genre, ScheduleStatus};
use podo_domain::{EventId, ScheduleId, Timestamp, Won};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventParams {
    /// Part of a title or an artist's name.
    #[param(value_type = Option<String>, max_length = 100)]
    query: Option<Line<100>>,
    #[param(value_type = Option<String>, max_length = 100)]
    city: Option<Line<100>>,
    status: Option<EventStatus>,
    genre: Option<Genre>,
    /// Events with a date in this sale status.
    #[serde(rename = "scheduleStatus")]
    schedule_status: Option<ScheduleStatus>,
    /// Shows at or after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Shows before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// Events with a sale or a phase that opens at or after this time.
    #[serde(rename = "opensFrom")]
    #[param(value_type = Option<String>, format = DateTime)]
    opens_from: Option<Timestamp>,
    /// Events with a sale or a phase that opens before this time.
    #[serde(rename = "opensTo")]
    #[param(value_type = Option<String>, format = DateTime)]
    opens_to: Option<Timestamp>,
    /// Cards only: events whose cheapest seat, with its booking fee, costs no more than this. A page
    /// may be short and still have a `nextCursor`.
    #[serde(rename = "priceMax")]
    #[param(value_type = Option<i64>, minimum = 0)]
    price_max: Option<Won>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<Uuid>,
}

impl EventParams {
    fn filter(self) -> EventFilter {
        EventFilter {
            query: self.query.map(String::from),
            city: self.city.map(String::from),
            only: self.status,
            genre: self.genre,
            schedule_status: self.schedule_status,
            from: self.from,
            to: self.to,
            opens_from: self.opens_from,
            opens_to: self.opens_to,
            events: None,
        }
    }
}

/// Published events, newest first.
#[utoipa::path(get, path = "/api/events", tag = "catalog", params(EventParams),
    responses((status = 200, body = Page<EventView>), (status = 422, body = Problem)))]
pub(crate) async fn list_events(
    State(app): State<App>,
    Params(params): Params<EventParams>,
) -> ApiResult<Json<Page<EventView>>> {
    let page = page(params.limit, params.cursor)?;
    Ok(Json(catalog::list_events(&app.context, params.filter(), page).await?))
}

/// Published events with their sale: its state, the lowest price, seats left and the openings ahead.
#[utoipa::path(get, path = "/api/events/cards", tag = "catalog", params(EventParams),
    responses((status = 200, body = Page<EventCard>), (status = 422, body = Problem)))]
pub(crate) async fn list_event_cards(
    State(app): State<App>,
    Params(params): Params<EventParams>,
) -> ApiResult<Json<Page<EventCard>>> {
    let page = page(params.limit, params.cursor)?;
    let price_max = params.price_max;
    Ok(Json(cards::list_cards(&app.context, params.filter(), price_max, page).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuggestParams {
    /// What the fan typed; Korean initial consonants such as `ㅊㅍㄷ` match too.
    #[param(value_type = String, max_length = 100)]
    query: Line<100>,
}

/// Artists and events that a text may mean, and the right spelling if nothing matches.
#[utoipa::path(get, path = "/api/events/suggestions", tag = "catalog", params(SuggestParams),
    responses((status = 200, body = SearchSuggestions), (status = 422, body = Problem)))]
pub(crate) async fn suggest_events(
    State(app): State<App>,
    Params(params): Params<SuggestParams>,
) -> ApiResult<Json<SearchSuggestions>> {
    Ok(Json(cards::suggest(&app.context, params.query.as_str()).await?))
}

/// An event with its schedules.
#[utoipa::path(get, path = "/api/events/{id}", tag = "catalog", params(("id" = EventId, Path)),
    responses((status = 200, body = EventDetail), (status = 404, body = Problem)))]
pub(crate) async fn show_event(
    State(app): State<App>,
    Id(event): Id<EventId>,
) -> ApiResult<Json<EventDetail>> {
    Ok(Json(catalog::show_event(&app.context, event).await?))
}

/// A schedule with its prices, sale window and seats left per grade.
#[utoipa::path(get, path = "/api/schedules/{id}", tag = "catalog",
    params(("id" = ScheduleId, Path)),
    responses((status = 200, body = ScheduleDetail), (status = 404, body = Problem)))]
pub(crate) async fn show_schedule(
    State(app): State<App>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Json<ScheduleDetail>> {
    Ok(Json(catalog::show_schedule(&app.context, schedule).await?))
}
