//! The audit log for organisers.

use crate::api::App;
use crate::api::csv::{self, Asked, Exports, Format};
use crate::api::error::{ApiResult, Failure, Problem};
use crate::api::extract::{AuditedExport, guarded};
use app::audit;
use app::paging::{PAGE_MAX, Page};
use app::ports::audit::{AuditAsk, AuditView};
use axum::extract::State;
use axum::response::Response;
use domain::text::Line;
use domain::{Timestamp, UserId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(guarded!(show))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AuditParams {
    /// Only what this person did.
    #[param(value_type = Option<String>, format = Uuid)]
    actor_id: Option<UserId>,
    /// Only this action, `event.open`, or all of a kind, `event`.
    #[param(value_type = Option<String>, max_length = 60)]
    action: Option<Line<60>>,
    /// Only what was done to this.
    #[param(value_type = Option<String>, max_length = 200)]
    subject: Option<Line<200>>,
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[serde(default)]
    #[param(inline)]
    format: Format,
    /// Why it is exported, which a file needs; the log keeps it.
    #[param(value_type = Option<String>, max_length = 200)]
    reason: Option<Line<200>>,
}

impl Exports for AuditParams {
    fn format(&self) -> Format {
        self.format
    }
}

/// What organisers did and whom they looked at, newest first.
#[utoipa::path(get, path = "/api/admin/audit", operation_id = "list_audit_log", tag = "admin",
    security(("accessToken" = [])), params(AuditParams),
    responses((status = 200, content((Page<AuditView> = "application/json"),
                                     (String = "text/csv"))),
              (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn show(
    State(app): State<App>,
    AuditedExport(params): AuditedExport<AuditParams>,
) -> ApiResult<Response> {
    if params.cursor.is_some_and(|cursor| cursor < 1) {
        let problem = format!("out_of_range:1..{}", i64::MAX);
        return Err(Failure::Field { pointer: "cursor".into(), problem }.into());
    }
    let search = AuditAsk {
        actor: params.actor_id,
        action: params.action.map(|it| it.as_str().to_owned()),
        subject: params.subject.map(|it| it.as_str().to_owned()),
        from: params.from.unwrap_or(Timestamp::from_ms(0)),
        to: params.to.unwrap_or(Timestamp::FAR_FUTURE),
        before: i64::MAX,
        limit: PAGE_MAX,
    };
    let asked = Asked {
        format: params.format,
        reason: params.reason,
        before: params.cursor,
        limit: params.limit,
    };
    let page = move |before: Option<i64>, limit| {
        let before = before.unwrap_or(i64::MAX);
        let (app, search) = (app.clone(), AuditAsk { before, limit, ..search.clone() });
        async move { audit::entries(&app.platform, search).await }
    };
    csv::page_or_file("audit", COLUMNS, asked, page).await
}

const COLUMNS: &[&str] = &["seq", "at", "actorId", "action", "subject", "details"];
