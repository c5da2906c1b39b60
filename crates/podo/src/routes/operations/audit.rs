//! The audit log for organisers.

use crate::http::extract::permissions::ViewAudit;
use crate::http::extract::{AuditedExport, guarded};
use crate::http::problem::{ApiResult, Failure, Problem};
use crate::http::respond::csv;
use crate::http::respond::csv::{Exports, Format, ListRequest};
use crate::routes::App;
use axum::extract::State;
use axum::response::Response;
use podo_app::operations::audit;
use podo_app::operations::port::audit::{AuditQuery, AuditView};
use podo_app::store::{Order, PAGE_MAX, Page};
use podo_domain::catalog::text::Line;
use podo_domain::{Timestamp, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuditParams {
    /// Only actions of this user.
    #[param(value_type = Option<String>, format = Uuid)]
    actor_id: Option<UserId>,
    /// Only this action, `event.open`, or all of a kind, `event`.
    #[param(value_type = Option<String>, max_length = 60)]
    action: Option<Line<60>>,
    /// Only actions on this subject.
    #[param(value_type = Option<String>, max_length = 200)]
    subject: Option<Line<200>>,
    #[serde(default)]
    #[param(inline)]
    order: Order,
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why the file is exported, required for a file; recorded in the audit log.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for AuditParams {
    fn format(&self) -> Format {
        self.format
    }
}

/// Organisers' actions and their access to personal data, with the people concerned.
#[utoipa::path(get, path = "/api/admin/audit", operation_id = "list_audit_log", tag = "admin",
    security(("accessToken" = [])), params(AuditParams),
    responses((status = 200, content((Page<AuditView> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn show(
    State(app): State<App>,
    AuditedExport { query: params, .. }: AuditedExport<AuditParams, ViewAudit>,
) -> ApiResult<Response> {
    if params.cursor.is_some_and(|cursor| cursor < 1) {
        let problem = format!("out_of_range:1..{}", i64::MAX);
        return Err(Failure::Field { pointer: "cursor".into(), problem }.into());
    }
    let search = AuditQuery {
        actor: params.actor_id,
        action: params.action.map(|it| it.as_str().to_owned()),
        subject: params.subject.map(|it| it.as_str().to_owned()),
        from: params.from.unwrap_or(Timestamp::from_ms(0)),
        to: params.to.unwrap_or(Timestamp::FAR_FUTURE),
        order: params.order,
        cursor: None,
        limit: PAGE_MAX,
    };
    let asked = ListRequest {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |cursor: Option<i64>, limit| {
        let (app, search) = (app.clone(), AuditQuery { cursor, limit, ..search.clone() });
        async move { audit::entries(&app.context, search).await }
    };
    csv::page_or_file("audit", COLUMNS, asked, page).await
}

const COLUMNS: &[&str] = &["seq", "at", "actorId", "actorKey", "action", "subject", "details"];
