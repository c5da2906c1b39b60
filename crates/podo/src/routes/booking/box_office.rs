//! The box office: sales at the desk, complimentary tickets, and their printing.

use crate::http::extract::permissions::{IssueComplimentary, SellAtBoxOffice, ViewOrders};
use crate::http::extract::scope::{OfReservation, OfSchedule};
use crate::http::extract::{Allowed, Audited, AuditedExport, Body, Id, Params, guarded, key_of};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::csv;
use crate::http::respond::csv::{Exports, Format, ListRequest};
use crate::http::respond::idempotent::once;
use crate::routes::App;
use crate::routes::tickets::{TicketPdfParams, file};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::booking::port::issued::{CashUpQuery, IssuedOrder, TenderTotal};
use podo_app::booking::reservations::issued;
use podo_app::booking::reservations::issued::{AskToIssue, Customer, IssuedOrderView};
use podo_app::operations::idempotency::ISSUE;
use podo_app::store::{Page, PageRequest};
use podo_app::tickets::documents;
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::catalog::text::Line;
use podo_domain::identity::Phone;
use podo_domain::{ReservationId, ScheduleId, SeatId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(sell_at_desk))
        .routes(guarded!(issue_complimentary))
        .routes(guarded!(show_issued_orders))
        .routes(guarded!(cash_up))
        .routes(guarded!(print_issued_tickets))
}

/// A seat of an order at the desk.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeskSeat {
    seat_id: SeatId,
    /// The full price if absent.
    #[serde(default)]
    ticket_type_id: Option<u32>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeskSaleBody {
    #[schema(min_items = 1, max_items = 10)]
    seats: Vec<DeskSeat>,
    tender: Tender,
    /// Of the customer; printed on the tickets.
    #[schema(value_type = String, max_length = 100)]
    name: Line<100>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    phone: Option<Phone>,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    note: Option<Line<200>>,
}

/// Sells free or kept seats at the desk: the order is paid and its tickets are valid at once. Fees
/// aren't charged. Seats of an allocation come back to it when they are refunded.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/box-office", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("Idempotency-Key" = String, Header)),
    request_body = DeskSaleBody,
    responses((status = 201, body = IssuedOrder), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn sell_at_desk(
    State(app): State<App>,
    Audited { actor, .. }: Audited<SellAtBoxOffice, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    headers: HeaderMap,
    body: Body<DeskSaleBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, actor, ISSUE, &body.bytes)?;
    let DeskSaleBody { seats, tender, name, phone, note } = body.value;
    let seats = seats.into_iter().map(|it| (it.seat_id, it.ticket_type_id)).collect();
    let customer = customer(name, phone, note);
    let issue = Issue::Sale(tender);
    let asked = AskToIssue { key, actor, schedule, seats, issue, customer };
    once(issued::issue_order(&app.context, asked).await?)
}

fn customer(name: Line<100>, phone: Option<Phone>, note: Option<Line<200>>) -> Customer {
    Customer {
        name: name.into(),
        phone: phone.map(|phone| phone.as_str().to_owned()),
        note: note.map(String::from),
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ComplimentaryBody {
    #[schema(min_items = 1, max_items = 10)]
    seat_ids: Vec<SeatId>,
    /// Of the guest; printed on the tickets.
    #[schema(value_type = String, max_length = 100)]
    name: Line<100>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    phone: Option<Phone>,
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    note: Option<Line<200>>,
}

/// Gives free or kept seats away: the order costs nothing and its tickets are valid at once.
#[utoipa::path(post, path = "/api/admin/schedules/{id}/complimentary", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = ScheduleId, Path), ("Idempotency-Key" = String, Header)),
    request_body = ComplimentaryBody,
    responses((status = 201, body = IssuedOrder), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn issue_complimentary(
    State(app): State<App>,
    Audited { actor, .. }: Audited<IssueComplimentary, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    headers: HeaderMap,
    body: Body<ComplimentaryBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, actor, ISSUE, &body.bytes)?;
    let ComplimentaryBody { seat_ids, name, phone, note } = body.value;
    let seats = seat_ids.into_iter().map(|seat| (seat, None)).collect();
    let (customer, issue) = (customer(name, phone, note), Issue::Complimentary);
    let asked = AskToIssue { key, actor, schedule, seats, issue, customer };
    once(issued::issue_order(&app.context, asked).await?)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct IssuedParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<Uuid>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why the file is exported; recorded in the audit log.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for IssuedParams {
    fn format(&self) -> Format {
        self.format
    }
}

const ISSUED_COLUMNS: &[&str] = &[
    "reservationId",
    "bookingNumber",
    "status",
    "channel",
    "tender",
    "paid",
    "refunded",
    "seats",
    "name",
    "phone",
    "note",
    "actorId",
    "createdAt",
];

/// The orders of the box office, newest first, with the customers' names; `format=csv` returns a
/// file of all of them.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/issued-orders", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), IssuedParams),
    responses((status = 200, content((Page<IssuedOrderView> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn show_issued_orders(
    State(app): State<App>,
    AuditedExport { query: params, .. }: AuditedExport<IssuedParams, ViewOrders, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
) -> ApiResult<Response> {
    let asked = ListRequest {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |after, limit| {
        let app = app.clone();
        async move { issued::issued_orders(&app.context, schedule, PageRequest { limit, after }).await }
    };
    csv::page_or_file("issued-orders", ISSUED_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct CashUpParams {
    /// Counts what was taken and given back from this moment on; from the first sale if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Counts what was taken and given back before this moment; until now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// What the desk took and gave back, by tender.
#[derive(Serialize, ToSchema)]
pub(crate) struct CashUp {
    items: Vec<TenderTotal>,
}

/// Sums of a date's box office by tender, to compare with the till. A refund counts at the moment at
/// which the money was given back.
#[utoipa::path(get, path = "/api/admin/schedules/{id}/cash-up", tag = "admin",
    security(("accessToken" = [])), params(("id" = ScheduleId, Path), CashUpParams),
    responses((status = 200, body = CashUp), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn cash_up(
    State(app): State<App>,
    _: Allowed<ViewOrders, OfSchedule>,
    Id(schedule): Id<ScheduleId>,
    Params(params): Params<CashUpParams>,
) -> ApiResult<Json<CashUp>> {
    let from = params.from.unwrap_or(Timestamp::from_ms(0));
    let until = params.until.unwrap_or(Timestamp::FAR_FUTURE);
    let asked = CashUpQuery { schedule, from, until };
    Ok(Json(CashUp { items: issued::cash_up(&app.context, asked).await? }))
}

/// The valid tickets of an order of the box office as a PDF.
#[utoipa::path(get, path = "/api/admin/reservations/{id}/tickets.pdf", tag = "admin",
    security(("accessToken" = [])), params(("id" = ReservationId, Path), TicketPdfParams),
    responses((status = 200, body = Vec<u8>, content_type = "application/pdf"),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn print_issued_tickets(
    State(app): State<App>,
    _: Audited<SellAtBoxOffice, OfReservation>,
    Id(reservation): Id<ReservationId>,
    Params(params): Params<TicketPdfParams>,
) -> ApiResult<Response> {
    let pdf = documents::issued_pdf(&app.context, reservation, params.size()).await?;
    Ok(file("application/pdf", &format!("{reservation}.pdf"), pdf))
}
