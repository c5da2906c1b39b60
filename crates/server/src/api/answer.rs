//! Answers of calls with an idempotency key: the stored one, byte for byte, or the fresh one.

use super::error::{ApiError, ApiResult, Failure};
use app::payments::not_paid;
use app::ports::keys::{Answer, Once, StoredAnswer};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};

/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

pub(super) fn once<T: Answer>(answer: Once<T>) -> ApiResult<Response> {
    match answer {
        Once::Fresh(answer) => json(T::STATUS, &answer),
        Once::Replay(stored) => replay(stored),
    }
}

/// A JSON answer with a status.
pub(super) fn json<T: Serialize>(status: u16, answer: &T) -> ApiResult<Response> {
    let body = serde_json::to_string(answer)
        .map_err(|error| Failure::Broken(format!("an answer is no JSON: {error}")))?;
    Ok(respond(status, body))
}

/// A status as it is stored.
pub(super) fn status_of(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn respond(status: u16, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status_of(status);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// What is stored of a declined payment.
#[derive(Deserialize)]
struct Declined {
    reason: String,
}

pub(super) fn replay(stored: StoredAnswer) -> ApiResult<Response> {
    if stored.status == StatusCode::PAYMENT_REQUIRED.as_u16() {
        let Declined { reason } = serde_json::from_str(&stored.body)
            .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
        return Err(not_paid(reason).into());
    }
    let mut response = respond(stored.status, stored.body);
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}
