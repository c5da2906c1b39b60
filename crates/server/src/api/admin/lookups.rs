//! What organisers look up, as pages and as files.

use crate::api::App;
use crate::api::csv::{self, Asked, Exports, Format};
use crate::api::error::{ApiResult, Problem};
use crate::api::extract::{AuditedAdmin, AuditedExport, PageParams, Params, guarded, page_limit};
use app::lookups::{self, PersonLine, ReservationLine};
use app::paging::Page;
use app::ports::lookups::{LetterRow, Look, PaymentRow, PaymentSearch, ReservationSearch};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use domain::payments::PaymentStatus;
use domain::reservations::ReservationStatus;
use domain::text::Line;
use domain::{ScheduleId, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(find_reservations))
        .routes(guarded!(find_payments))
        .routes(guarded!(find_people))
        .routes(guarded!(all_letters))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReservationParams {
    /// A booking number or an id, whole.
    query: Option<String>,
    #[param(inline)]
    status: Option<ReservationStatus>,
    #[param(value_type = Option<String>, format = Uuid)]
    schedule_id: Option<ScheduleId>,
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<Uuid>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why a file is made; it stands in the audit log.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for ReservationParams {
    fn format(&self) -> Format {
        self.format
    }
}

impl ReservationParams {
    fn search(&self) -> ReservationSearch {
        let text = self.query.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let id = text.and_then(|text| text.parse().ok());
        ReservationSearch {
            status: self.status,
            schedule: self.schedule_id,
            user: self.user_id,
            booking_number: text.filter(|_| id.is_none()).map(str::to_uppercase),
            id,
        }
    }
}

const RESERVATION_COLUMNS: &[&str] = &[
    "id",
    "bookingNumber",
    "status",
    "scheduleId",
    "eventTitle",
    "startsAt",
    "seats",
    "amount",
    "userId",
    "email",
    "createdAt",
];

/// Reservations of everybody, newest first; `format=csv` gives a file of all of them. A page looks
/// at 5,000 rows at most: it may be short and still have a `nextCursor`.
#[utoipa::path(get, path = "/api/admin/reservations", tag = "admin",
    security(("accessToken" = [])), params(ReservationParams),
    responses((status = 200, content((Page<ReservationLine> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn find_reservations(
    State(app): State<App>,
    AuditedExport(params): AuditedExport<ReservationParams>,
) -> ApiResult<Response> {
    let search = params.search();
    let asked = Asked {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |before, limit| {
        let (app, search) = (app.clone(), search.clone());
        async move { lookups::reservations(&app.platform, search, Look { before, limit }).await }
    };
    csv::page_or_file("reservations", RESERVATION_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PaymentParams {
    /// The id of a payment or a reservation, or a booking number, whole.
    query: Option<String>,
    #[param(inline)]
    status: Option<PaymentStatus>,
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<Uuid>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why a file is made; it stands in the audit log.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for PaymentParams {
    fn format(&self) -> Format {
        self.format
    }
}

/// What an organiser typed may be the id of a payment or of a reservation: both are looked for.
async fn payments(app: &App, params: &PaymentParams, look: Look) -> app::Result<Page<PaymentRow>> {
    let text = params.query.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let search =
        PaymentSearch { status: params.status, user: params.user_id, ..Default::default() };
    let Some(text) = text else {
        return lookups::payments(&app.platform, search, look).await;
    };
    let Ok(id) = text.parse::<Uuid>() else {
        let search = PaymentSearch { booking_number: Some(text.to_uppercase()), ..search };
        return lookups::payments(&app.platform, search, look).await;
    };
    let by_id = PaymentSearch { id: Some(domain::PaymentId::new(id)), ..search.clone() };
    let found = lookups::payments(&app.platform, by_id, look).await?;
    if !found.items.is_empty() {
        return Ok(found);
    }
    let search = PaymentSearch { reservation: Some(domain::ReservationId::new(id)), ..search };
    lookups::payments(&app.platform, search, look).await
}

const PAYMENT_COLUMNS: &[&str] = &[
    "id",
    "reservationId",
    "bookingNumber",
    "userId",
    "method",
    "gateway",
    "status",
    "amount",
    "captured",
    "refunded",
    "createdAt",
];

/// Payments of everybody, newest first; `format=csv` gives a file of all of them.
#[utoipa::path(get, path = "/api/admin/payments", tag = "admin",
    security(("accessToken" = [])), params(PaymentParams),
    responses((status = 200, content((Page<PaymentRow> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn find_payments(
    State(app): State<App>,
    AuditedExport(params): AuditedExport<PaymentParams>,
) -> ApiResult<Response> {
    let asked = Asked {
        format: params.format,
        reason: params.reason.clone(),
        before: params.cursor,
        limit: params.limit,
    };
    let params = std::sync::Arc::new(params);
    let page = move |before, limit| {
        let (app, params) = (app.clone(), params.clone());
        async move { payments(&app, &params, Look { before, limit }).await }
    };
    csv::page_or_file("payments", PAYMENT_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PeopleParams {
    /// An id or a whole address: personal fields are stored sealed.
    query: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<Uuid>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why a file is made; it stands in the audit log.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for PeopleParams {
    fn format(&self) -> Format {
        self.format
    }
}

const PERSON_COLUMNS: &[&str] = &["id", "email", "name", "role", "status", "balance", "createdAt"];

/// People with accounts, newest first; `format=csv` gives a file of all of them.
#[utoipa::path(get, path = "/api/admin/users", tag = "admin",
    security(("accessToken" = [])), params(PeopleParams),
    responses((status = 200, content((Page<PersonLine> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn find_people(
    State(app): State<App>,
    AuditedExport(params): AuditedExport<PeopleParams>,
) -> ApiResult<Response> {
    let text = params.query.unwrap_or_default();
    let search = lookups::person_search(&app.platform, &text);
    let asked = Asked {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |before, limit| {
        let (app, search) = (app.clone(), search.clone());
        async move { lookups::people(&app.platform, search, Look { before, limit }).await }
    };
    csv::page_or_file("users", PERSON_COLUMNS, asked, page).await
}

/// The letters in all mailboxes, newest first: where notifications go while no provider is
/// configured.
#[utoipa::path(get, path = "/api/admin/mailbox", tag = "admin",
    security(("accessToken" = [])), params(PageParams),
    responses((status = 200, body = Page<LetterRow>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn all_letters(
    State(app): State<App>,
    _: AuditedAdmin,
    Params(params): Params<PageParams>,
) -> ApiResult<Json<Page<LetterRow>>> {
    let look = Look { before: params.cursor, limit: page_limit(params.limit)? };
    Ok(Json(lookups::letters(&app.platform, look).await?))
}
