//! Organisers preview the templates of notifications and send themselves a test.

use crate::http::extract::permissions::ManagePages;
use crate::http::extract::{Allowed, Audited, Body, Params, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::{Path, State};
use podo_app::messaging::notifications;
use podo_app::messaging::port::channels::Sent;
use podo_app::messaging::port::notifications::ChannelKind;
use podo_app::messaging::templates::{Rendered, Template};
use podo_domain::Refusal;
use podo_domain::messaging::messages::Language;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(list_mail_templates))
        .routes(guarded!(preview_mail))
        .routes(guarded!(test_mail))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MailTemplates {
    items: Vec<&'static str>,
    /// Whether e-mail is configured, so that a test can be sent.
    can_send: bool,
}

/// The names of the templates.
#[utoipa::path(get, path = "/api/admin/mail-templates", tag = "admin",
    security(("accessToken" = [])),
    responses((status = 200, body = MailTemplates), (status = 401, body = Problem),
              (status = 403, body = Problem)))]
pub(crate) async fn list_mail_templates(
    State(app): State<App>,
    _: Allowed<ManagePages>,
) -> ApiResult<Json<MailTemplates>> {
    let items = Template::ALL.iter().map(|template| template.as_str()).collect();
    let can_send = app.context.messaging.channels.get(ChannelKind::Email).is_some();
    Ok(Json(MailTemplates { items, can_send }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailPreviewParams {
    /// Korean by default.
    language: Option<Language>,
}

/// A template with invented facts, in the organiser's look.
#[utoipa::path(get, path = "/api/admin/mail-templates/{name}", tag = "admin",
    security(("accessToken" = [])), params(("name" = String, Path), MailPreviewParams),
    responses((status = 200, body = Rendered), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn preview_mail(
    State(app): State<App>,
    _: Allowed<ManagePages>,
    Path(name): Path<String>,
    Params(params): Params<MailPreviewParams>,
) -> ApiResult<Json<Rendered>> {
    let template = Template::parse(&name).ok_or(Refusal::NotFound)?;
    let language = params.language.unwrap_or(Language::Ko);
    Ok(Json(notifications::preview(&app.context, template, language)?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestMailBody {
    language: Language,
}

/// The outcome of a test.
#[derive(Serialize, ToSchema)]
pub(crate) struct TestedMail {
    sent: bool,
    /// What the mail server answered, if it didn't accept the mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Sends a template with invented facts to the organiser's own address.
#[utoipa::path(post, path = "/api/admin/mail-templates/{name}/test", tag = "admin",
    security(("accessToken" = [])), params(("name" = String, Path)), request_body = TestMailBody,
    responses((status = 200, body = TestedMail), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn test_mail(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManagePages>,
    Path(name): Path<String>,
    body: Body<TestMailBody>,
) -> ApiResult<Json<TestedMail>> {
    let template = Template::parse(&name).ok_or(Refusal::NotFound)?;
    let sent = notifications::send_test(&app.context, actor, template, body.value.language).await?;
    Ok(Json(match sent {
        Sent::Accepted => TestedMail { sent: true, error: None },
        Sent::NotNow { error, .. }
        | Sent::Refused { error }
        | Sent::Gone { error }
        | Sent::Unknown { error } => TestedMail { sent: false, error: Some(error) },
    }))
}
