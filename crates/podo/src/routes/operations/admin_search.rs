//! Organisers' searches, as pages and as files.

use crate::http::extract::permissions::{ReadMailbox, ViewOrders, ViewPeople};
use crate::http::extract::scope::OwnEvents;
use crate::http::extract::{Audited, AuditedExport, Params, guarded, page_limit};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::csv;
use crate::http::respond::csv::{Exports, Format, ListRequest};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use podo_app::operations::admin_search;
use podo_app::operations::admin_search::{
    NotificationLine, PaymentLine, PersonLine, PersonText, ReservationLine,
};
use podo_app::operations::port::admin_search::{Look, PaymentSearch, ReservationSearch};
use podo_app::store::{Order, Page};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::catalog::text::Line;
use podo_domain::identity::permissions::EventScope;
use podo_domain::payments::PaymentStatus;
use podo_domain::{ScheduleId, Timestamp, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use uuid::Uuid;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(find_reservations))
        .routes(guarded!(find_payments))
        .routes(guarded!(find_people))
        .routes(guarded!(all_notifications))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReservationParams {
    /// A complete booking number or id.
    query: Option<String>,
    #[param(inline)]
    status: Option<ReservationStatus>,
    #[param(value_type = Option<String>, format = Uuid)]
    schedule_id: Option<ScheduleId>,
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    /// Only rows created from this moment on.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Only rows created before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// By the time of creation.
    #[serde(default)]
    #[param(inline)]
    order: Order,
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

impl Exports for ReservationParams {
    fn format(&self) -> Format {
        self.format
    }
}

impl ReservationParams {
    fn look(&self) -> Look {
        Look { order: self.order, from: self.from, to: self.to, ..Look::default() }
    }

    fn search(&self, events: &EventScope) -> ReservationSearch {
        let text = self.query.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let id = text.and_then(|text| text.parse().ok());
        ReservationSearch {
            status: self.status,
            schedule: self.schedule_id,
            user: self.user_id,
            booking_number: text.filter(|_| id.is_none()).map(str::to_uppercase),
            id,
            events: events.only(),
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
    "channel",
    "tender",
    "createdAt",
    "ticketTypes",
    "promotionCode",
    "fees",
    "currency",
];

/// All reservations, newest first by default; `format=csv` returns a file of all of them. A page examines at
/// most 5,000 rows, so it may be short and still have a `nextCursor`.
#[utoipa::path(get, path = "/api/admin/reservations", tag = "admin",
    security(("accessToken" = [])), params(ReservationParams),
    responses((status = 200, content((Page<ReservationLine> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn find_reservations(
    State(app): State<App>,
    AuditedExport { query: params, grant, .. }: AuditedExport<
        ReservationParams,
        ViewOrders,
        OwnEvents,
    >,
) -> ApiResult<Response> {
    let (search, look) = (params.search(&grant.events), params.look());
    let asked = ListRequest {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |cursor, limit| {
        let (app, search) = (app.clone(), search.clone());
        let look = Look { cursor, limit, ..look };
        async move { admin_search::reservations(&app.context, search, look).await }
    };
    csv::page_or_file("reservations", RESERVATION_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PaymentParams {
    /// A complete payment id, reservation id or booking number.
    query: Option<String>,
    #[param(inline)]
    status: Option<PaymentStatus>,
    #[param(value_type = Option<String>, format = Uuid)]
    user_id: Option<UserId>,
    /// Only payments for this date.
    #[param(value_type = Option<String>, format = Uuid)]
    schedule_id: Option<ScheduleId>,
    /// Only rows created from this moment on.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Only rows created before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// By the time of creation.
    #[serde(default)]
    #[param(inline)]
    order: Order,
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

impl Exports for PaymentParams {
    fn format(&self) -> Format {
        self.format
    }
}

impl PaymentParams {
    fn look(&self) -> Look {
        Look { order: self.order, from: self.from, to: self.to, ..Look::default() }
    }
}

/// The query may be the id of a payment or of a reservation: this tries both.
async fn payments(
    app: &App,
    (params, events): &(PaymentParams, EventScope),
    look: Look,
) -> podo_app::Result<Page<PaymentLine>> {
    let text = params.query.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let search = PaymentSearch {
        status: params.status,
        user: params.user_id,
        schedule: params.schedule_id,
        events: events.only(),
        ..Default::default()
    };
    let Some(text) = text else {
        return admin_search::payments(&app.context, search, look).await;
    };
    let Ok(id) = text.parse::<Uuid>() else {
        let search = PaymentSearch { booking_number: Some(text.to_uppercase()), ..search };
        return admin_search::payments(&app.context, search, look).await;
    };
    let by_id = PaymentSearch { id: Some(podo_domain::PaymentId::new(id)), ..search.clone() };
    let found = admin_search::payments(&app.context, by_id, look).await?;
    if !found.items.is_empty() {
        return Ok(found);
    }
    let search = PaymentSearch { reservation: Some(podo_domain::ReservationId::new(id)), ..search };
    admin_search::payments(&app.context, search, look).await
}

const PAYMENT_COLUMNS: &[&str] = &[
    "id",
    "reservationId",
    "bookingNumber",
    "userId",
    "method",
    "paidWith",
    "gateway",
    "status",
    "amount",
    "captured",
    "refunded",
    "eventTitle",
    "startsAt",
    "createdAt",
    "currency",
];

/// All payments, newest first by default; `format=csv` returns a file of all of them.
#[utoipa::path(get, path = "/api/admin/payments", tag = "admin",
    security(("accessToken" = [])), params(PaymentParams),
    responses((status = 200, content((Page<PaymentLine> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn find_payments(
    State(app): State<App>,
    AuditedExport { query: params, grant, .. }: AuditedExport<PaymentParams, ViewOrders, OwnEvents>,
) -> ApiResult<Response> {
    let asked = ListRequest {
        format: params.format,
        reason: params.reason.clone(),
        before: params.cursor,
        limit: params.limit,
    };
    let look = params.look();
    let asked_for = std::sync::Arc::new((params, grant.events));
    let page = move |cursor, limit| {
        let (app, asked_for) = (app.clone(), asked_for.clone());
        async move { payments(&app, &asked_for, Look { cursor, limit, ..look }).await }
    };
    csv::page_or_file("payments", PAYMENT_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PeopleParams {
    /// An id, a complete e-mail address, the beginning of a name (two characters or more) or of an
    /// address (three or more), or `@` with a domain. Nothing else is searchable, because personal
    /// fields are encrypted.
    query: Option<String>,
    /// Only rows created from this moment on.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Only rows created before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// By the time of creation.
    #[serde(default)]
    #[param(inline)]
    order: Order,
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

impl Exports for PeopleParams {
    fn format(&self) -> Format {
        self.format
    }
}

impl PeopleParams {
    fn look(&self) -> Look {
        Look { order: self.order, from: self.from, to: self.to, ..Look::default() }
    }
}

const PERSON_COLUMNS: &[&str] =
    &["id", "email", "name", "role", "status", "balance", "createdAt", "currency"];

/// All accounts, newest first by default; `format=csv` returns a file of all of them.
#[utoipa::path(get, path = "/api/admin/users", tag = "admin",
    security(("accessToken" = [])), params(PeopleParams),
    responses((status = 200, content((Page<PersonLine> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn find_people(
    State(app): State<App>,
    AuditedExport { query: params, .. }: AuditedExport<PeopleParams, ViewPeople>,
) -> ApiResult<Response> {
    let look = params.look();
    let text = params.query.unwrap_or_default();
    let text = PersonText::parse(&app.context, &text)?;
    let asked = ListRequest {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |cursor, limit| {
        let (app, text) = (app.clone(), text.clone());
        let look = Look { cursor, limit, ..look };
        async move { admin_search::people_by_text(&app.context, &text, look).await }
    };
    csv::page_or_file("users", PERSON_COLUMNS, asked, page).await
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MailboxParams {
    /// Only rows created from this moment on.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Only rows created before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// By the time of creation.
    #[serde(default)]
    #[param(inline)]
    order: Order,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<Uuid>,
}

/// The notifications in all mailboxes, newest first by default. While no provider is configured,
/// notifications only go there.
#[utoipa::path(get, path = "/api/admin/mailbox", tag = "admin", operation_id = "all_letters",
    security(("accessToken" = [])), params(MailboxParams),
    responses((status = 200, body = Page<NotificationLine>), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn all_notifications(
    State(app): State<App>,
    _: Audited<ReadMailbox>,
    Params(params): Params<MailboxParams>,
) -> ApiResult<Json<Page<NotificationLine>>> {
    let MailboxParams { from, to, order, limit, cursor } = params;
    let look = Look { order, from, to, cursor, limit: page_limit(limit)? };
    Ok(Json(admin_search::notifications(&app.context, look).await?))
}
