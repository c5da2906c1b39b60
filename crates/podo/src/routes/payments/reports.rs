//! The daily report for organisers, and the settlement of an event.

use crate::http::extract::permissions::ViewSales;
use crate::http::extract::scope::OfEvent;
use crate::http::extract::{Allowed, Id, Params, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::csv::{BYTE_ORDER_MARK, text_cell};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use podo_app::payments::port::reports::SettlementRow;
use podo_app::payments::reports;
use podo_app::payments::reports::DayReport;
use podo_app::payments::settlement;
use podo_app::payments::settlement::{Settlement, SettlementLine};
use podo_domain::EventId;
use serde::Deserialize;
use std::fmt::Write;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(reconciliation))
        .routes(guarded!(settle))
        .routes(guarded!(settlement_file))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DayParams {
    /// A day in the time zone of the settings, `YYYY-MM-DD`.
    day: String,
}

/// Compares the gateways' records, our payments and the tickets of a day.
#[utoipa::path(get, path = "/api/admin/reconciliation", tag = "admin",
    security(("accessToken" = [])), params(DayParams),
    responses((status = 200, body = DayReport), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn reconciliation(
    State(app): State<App>,
    _: Allowed<ViewSales>,
    Params(params): Params<DayParams>,
) -> ApiResult<Json<DayReport>> {
    Ok(Json(reports::reconcile_day(&app.context, &params.day).await?))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeriodParams {
    /// The first day, `YYYY-MM-DD`, where the venue is.
    from: String,
    /// The last day.
    to: String,
}

/// What an event brought in a period: gross, discounts, fees, refunds, gateway fees and net, by way of
/// paying. Payments and refunds count on the day on which they were begun.
#[utoipa::path(get, path = "/api/admin/events/{id}/settlement", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path), PeriodParams),
    responses((status = 200, body = Settlement), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn settle(
    State(app): State<App>,
    _: Allowed<ViewSales, OfEvent>,
    Id(event): Id<EventId>,
    Params(period): Params<PeriodParams>,
) -> ApiResult<Json<Settlement>> {
    let PeriodParams { from, to } = &period;
    Ok(Json(settlement::settle_event(&app.context, event, from, to).await?))
}

/// The same as a CSV file.
#[utoipa::path(get, path = "/api/admin/events/{id}/settlement.csv", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path), PeriodParams),
    responses((status = 200, body = String, content_type = "text/csv"),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn settlement_file(
    State(app): State<App>,
    _: Allowed<ViewSales, OfEvent>,
    Id(event): Id<EventId>,
    Params(period): Params<PeriodParams>,
) -> ApiResult<Response> {
    let PeriodParams { from, to } = &period;
    let found = settlement::settle_event(&app.context, event, from, to).await?;
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned());
    let name = format!("attachment; filename=\"settlement-{from}-{to}.csv\"");
    Ok(([kind, (header::CONTENT_DISPOSITION, name)], settlement_text(&found)).into_response())
}

fn settlement_text(found: &Settlement) -> String {
    let mut text = format!(
        "{BYTE_ORDER_MARK}method,gateway,orders,tickets,gross,discounts,fees,unmatched,charged,\
         refunded,due,retained,gateway_fees,net,currency\r\n"
    );
    for SettlementLine { row, gateway_fees, net } in found.lines.iter().chain([&found.total]) {
        let method = if row.method.is_empty() { "TOTAL" } else { &row.method };
        let (method, gateway) = (text_cell(method), text_cell(&row.gateway));
        let SettlementRow { orders, tickets, gross, discounts, fees, unmatched, .. } = row;
        let _ = write!(text, "{method},{gateway},{orders},{tickets},{gross},{discounts},{fees},");
        let SettlementRow { charged, refunded, due, retained, .. } = row;
        let _ = write!(text, "{unmatched},{charged},{refunded},{due},{retained},");
        let _ = write!(text, "{gateway_fees},{net},{}\r\n", found.currency.as_str());
    }
    text
}
