//! Responses to calls with an idempotency key: the stored one, byte for byte, or the new one.

use crate::http::problem::{ApiError, ApiResult, Failure};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use podo_app::operations::port::idempotency::{Idempotent, IdempotentAnswer, StoredAnswer};
use podo_app::payments::not_paid;
use serde::{Deserialize, Serialize};

/// Marks a replayed response.
pub(crate) const REPLAYED: (&str, &str) = ("idempotency-replayed", "true");

pub(crate) fn once<T: IdempotentAnswer>(answer: Idempotent<T>) -> ApiResult<Response> {
    match answer {
        Idempotent::Fresh(answer) => json(T::STATUS, &answer),
        Idempotent::Replay(stored) => replay(stored),
    }
}

/// A JSON response with a status.
pub(crate) fn json<T: Serialize>(status: u16, answer: &T) -> ApiResult<Response> {
    let body = serde_json::to_string(answer)
        .map_err(|error| Failure::Broken(format!("a response could not be serialized: {error}")))?;
    Ok(respond(status, body))
}

/// A stored status.
pub(crate) fn status_of(number: u16) -> StatusCode {
    StatusCode::from_u16(number).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn respond(status: u16, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status_of(status);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The stored form of a declined payment.
#[derive(Deserialize)]
struct Declined {
    reason: String,
}

pub(crate) fn replay(stored: StoredAnswer) -> ApiResult<Response> {
    if stored.status == StatusCode::PAYMENT_REQUIRED.as_u16() {
        let Declined { reason } = serde_json::from_str(&stored.body)
            .map_err(|error| ApiError::from(Failure::Broken(error.to_string())))?;
        return Err(not_paid(reason).into());
    }
    let mut response = respond(stored.status, stored.body);
    let (name, value) = REPLAYED;
    response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    Ok(response)
}
