//! Calls from payment gateways: webhooks, and browsers that return.

use crate::http::extract::Raw;
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::payments::gateway_webhooks;
use podo_app::payments::port::gateway::Delivery;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(webhook)).routes(routes!(come_back, post_back))
}

/// A gateway's webhook. It is verified, stored once, and only triggers a query to the gateway; its
/// content is not trusted. Unknown types are accepted.
#[utoipa::path(post, path = "/api/payment/webhooks/{gateway}", tag = "payment",
    params(("gateway" = String, Path)), request_body(content = String),
    responses((status = 200), (status = 401, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn webhook(
    State(app): State<App>,
    Path(gateway): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> ApiResult<StatusCode> {
    let headers: Vec<(String, String)> = headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    let delivery = Delivery { headers: &headers, body: &body, now: app.context.now() };
    if let Some(hint) = gateway_webhooks::receive(&app.context, &gateway, &delivery).await?
        && let Some(payment) = hint.payment
    {
        let context = app.context.clone();
        // Gateways wait at most two seconds for a response; querying them may take longer.
        app.tasks.spawn(async move {
            let followed = gateway_webhooks::follow(&context, &gateway, &hint.id, payment).await;
            if let Err(error) = followed {
                tracing::warn!(gateway, %error, "Could not process a webhook yet; a job retries it");
            }
        });
    }
    Ok(StatusCode::OK)
}

/// The browser returns from a gateway's page (Toss, PortOne).
#[utoipa::path(get, path = "/api/payment/return/{gateway}", tag = "payment",
    params(("gateway" = String, Path)),
    responses((status = 303, description = "Redirects to our own page, which confirms"),
              (status = 404, body = Problem)))]
pub(crate) async fn come_back(
    State(app): State<App>,
    Path(gateway): Path<String>,
    Query(fields): Query<Vec<(String, String)>>,
) -> ApiResult<Response> {
    go_on(&app, &gateway, &fields).await
}

/// The same as a form (Inicis, KCP), whose address may name the order. It comes from another site without a session and is safe: its
/// data is only stored, and nothing is charged until the fan's own page confirms.
#[utoipa::path(post, path = "/api/payment/return/{gateway}", tag = "payment",
    params(("gateway" = String, Path)), request_body(content = String,
    content_type = "application/x-www-form-urlencoded"),
    responses((status = 303, description = "Redirects to our own page, which confirms"),
              (status = 404, body = Problem)))]
pub(crate) async fn post_back(
    State(app): State<App>,
    Path(gateway): Path<String>,
    Query(mut fields): Query<Vec<(String, String)>>,
    Raw(body): Raw,
) -> ApiResult<Response> {
    let posted: Vec<(String, String)> = serde_urlencoded::from_bytes(&body)
        .map_err(|error| Failure::Body { problem: error.to_string() })?;
    fields.extend(posted);
    go_on(&app, &gateway, &fields).await
}

/// Redirects to the page that confirms, or that shows that nothing was paid.
async fn go_on(app: &App, gateway: &str, fields: &[(String, String)]) -> ApiResult<Response> {
    let returned = gateway_webhooks::take_return(&app.context, gateway, fields).await?;
    let payment = returned.payment;
    let address = match returned.approval {
        Ok(_) => format!("/#/paid/{payment}?paymentKey=kept"),
        Err(_) => format!("/#/paid/{payment}"),
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let address = HeaderValue::try_from(address)
        .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
    response.headers_mut().insert(header::LOCATION, address);
    Ok(response)
}
