//! Turns failures into responses, in one place: problem+json with a stable code and a message in
//! the client's language.

use crate::http::language::Language;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::Error;
use podo_domain::{Refusal, SeatId};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

mod allocation_sentences;
mod draw_sentences;
mod fields;
mod image_sentences;
mod order_sentences;
pub(crate) mod page;
mod sentences;
mod status;

use fields::{field_sentence, named_seats, wrong_field, wrong_lines};
use sentences::sentence;
use status::refusal_status;

/// Why a request failed. The edge renders it, because it knows the language and the trace id.
#[derive(Clone, Debug)]
pub struct ApiError(Arc<Failure>);

#[derive(Debug)]
pub(crate) enum Failure {
    Refused(Refusal),
    /// A field of the body, the path or the query is invalid.
    Field {
        pointer: String,
        problem: String,
    },
    /// The body is not JSON.
    Body {
        problem: String,
    },
    BodyTooLarge,
    BodyTooSlow,
    NotJson,
    NoRoute,
    /// Another node serves this path.
    NotServedHere,
    /// The request comes from another site's page.
    ForeignOrigin,
    /// The request names no host, or more than one.
    Host,
    Method,
    Unavailable(String),
    Broken(String),
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> ApiError {
        ApiError(Arc::new(failure))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        Failure::Refused(refusal).into()
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Unavailable(why) | Error::Conflict(why) => Failure::Unavailable(why).into(),
            Error::Broken(why) => Failure::Broken(why).into(),
        }
    }
}

impl ApiError {
    /// The stable problem code.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code()
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// The value of `Retry-After`, in seconds.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.0.retry_after()
    }

    /// The same for a page: its status and its message.
    pub(crate) fn told(&self, language: Language) -> (StatusCode, String) {
        let status = self.0.status();
        if let Failure::Refused(Refusal::Invalid { problem, .. }) = &*self.0 {
            return (status, field_sentence(&problem.to_string(), language));
        }
        (status, sentence(self.0.code(), language).to_owned())
    }

    /// No route matches the path.
    pub fn no_route() -> ApiError {
        Failure::NoRoute.into()
    }
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

pub(crate) async fn method_not_allowed() -> ApiError {
    Failure::Method.into()
}

/// Passes the failure to the edge.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.0.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl Failure {
    fn status(&self) -> StatusCode {
        match self {
            Failure::Refused(refusal) => refusal_status(refusal),
            Failure::Field { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Failure::Body { .. } | Failure::Host => StatusCode::BAD_REQUEST,
            Failure::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Failure::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Failure::NoRoute | Failure::NotServedHere => StatusCode::NOT_FOUND,
            Failure::ForeignOrigin => StatusCode::FORBIDDEN,
            Failure::Method => StatusCode::METHOD_NOT_ALLOWED,
            Failure::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Failure::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Failure::Refused(refusal) => refusal.code(),
            Failure::Field { .. } => "INVALID",
            Failure::Body { .. } => "MALFORMED_BODY",
            Failure::BodyTooLarge => "BODY_TOO_LARGE",
            Failure::BodyTooSlow => "BODY_TOO_SLOW",
            Failure::NotJson => "NOT_JSON",
            Failure::NoRoute => "NOT_FOUND",
            Failure::NotServedHere => "NOT_SERVED_HERE",
            Failure::ForeignOrigin => "ORIGIN_FORBIDDEN",
            Failure::Host => "HOST_INVALID",
            Failure::Method => "METHOD_NOT_ALLOWED",
            Failure::Unavailable(_) => "UNAVAILABLE",
            Failure::Broken(_) => "INTERNAL",
        }
    }

    /// The value of `Retry-After`, in seconds.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Failure::Refused(
                Refusal::TooManyRequests { retry_after_s } | Refusal::HoldChurn { retry_after_s },
            ) => Some(*retry_after_s),
            Failure::Refused(Refusal::LoginBusy) | Failure::Unavailable(_) => Some(2),
            Failure::Refused(Refusal::MembershipUnanswered) => Some(10),
            Failure::Refused(_)
            | Failure::Field { .. }
            | Failure::Body { .. }
            | Failure::BodyTooLarge
            | Failure::BodyTooSlow
            | Failure::NotJson
            | Failure::NoRoute
            | Failure::NotServedHere
            | Failure::ForeignOrigin
            | Failure::Host
            | Failure::Method
            | Failure::Broken(_) => None,
        }
    }

    /// What happened, in the client's language.
    fn sentence(&self, language: Language) -> &'static str {
        sentence(self.code(), language)
    }

    /// The members that only some problems have.
    fn members(&self, language: Language) -> Members<'_> {
        let members = match self {
            Failure::Refused(Refusal::SeatTaken { taken, alternatives }) => {
                return Members::Seats { taken, alternatives };
            }
            Failure::Refused(
                Refusal::SaleNotOpen { opens_at } | Refusal::DrawNotOpen { opens_at },
            ) => json!({ "opensAt": opens_at }),
            Failure::Refused(Refusal::ChallengeRequired { salt, bits, expires_at }) => {
                json!({ "challenge": { "salt": salt, "bits": bits, "expiresAt": expires_at } })
            }
            Failure::Refused(Refusal::PermissionMissing { permission }) => {
                json!({ "permission": permission })
            }
            Failure::Refused(Refusal::IdentityRests { until }) => json!({ "until": until }),
            Failure::Refused(Refusal::TicketUsed { at: Some(at), gate }) => {
                json!({ "usedAt": at, "usedGate": gate })
            }
            Failure::Refused(Refusal::TicketOtherGate { gates }) => json!({ "gates": gates }),
            Failure::Refused(Refusal::PaymentDeclined { reason }) => json!({ "reason": reason }),
            Failure::Refused(Refusal::SeatLimit { max }) => json!({ "max": max }),
            Failure::Refused(Refusal::Invalid { field, problem: what }) => {
                let detail = field_sentence(&what.to_string(), language);
                json!({ "errors": [{ "field": field, "detail": detail }] })
            }
            Failure::Refused(Refusal::NotEligible { phase, audience }) => {
                json!({ "phaseId": phase, "audience": audience })
            }
            Failure::Refused(Refusal::TooManySeats { max }) => json!({ "max": max }),
            Failure::Refused(Refusal::OrderTooExpensive { max }) => json!({ "max": max }),
            Failure::Refused(Refusal::InvalidSeatList { lines }) => wrong_lines(lines, language),
            Failure::Refused(Refusal::InvalidTemplate { at, problem: what }) => {
                json!({ "errors": [{ "field": at, "detail": what }] })
            }
            Failure::Field { pointer, problem: what } => {
                let detail = field_sentence(what, language);
                json!({ "errors": [{ "field": pointer, "detail": detail }] })
            }
            Failure::Body { problem: what } => {
                json!({ "errors": [{ "field": "", "detail": what }] })
            }
            Failure::Refused(refusal) => {
                let Some((field, mut members)) = wrong_field(refusal) else {
                    return Members::Others(named_seats(refusal));
                };
                let detail = self.sentence(language);
                members["errors"] = json!([{ "field": field, "detail": detail }]);
                members
            }
            Failure::BodyTooLarge
            | Failure::BodyTooSlow
            | Failure::NotJson
            | Failure::NoRoute
            | Failure::NotServedHere
            | Failure::ForeignOrigin
            | Failure::Host
            | Failure::Method
            | Failure::Unavailable(_)
            | Failure::Broken(_) => return Members::Others(None),
        };
        Members::Others(Some(members))
    }
}

/// The JSON of a problem.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'e> {
    r#type: String,
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: &'static str,
    trace_id: &'e str,
    #[serde(flatten)]
    members: Members<'e>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Members<'e> {
    /// So frequent that it is serialized directly.
    Seats {
        taken: &'e [SeatId],
        alternatives: &'e [Vec<SeatId>],
    },
    Others(Option<Value>),
}

/// Writes the problem in the client's language. Logs internal errors, once.
pub(crate) fn write_problem(to: &mut Vec<u8>, error: &ApiError, language: Language, trace: &str) {
    let failure = &*error.0;
    match failure {
        Failure::Broken(why) => tracing::error!(trace, why, "A request failed"),
        Failure::Unavailable(why) => tracing::warn!(trace, why, "An engine is unavailable"),
        Failure::Refused(_)
        | Failure::Field { .. }
        | Failure::Body { .. }
        | Failure::BodyTooLarge
        | Failure::BodyTooSlow
        | Failure::NotJson
        | Failure::NoRoute
        | Failure::NotServedHere
        | Failure::ForeignOrigin
        | Failure::Host
        | Failure::Method => {}
    }
    let (status, code) = (failure.status(), failure.code());
    let written = Written {
        r#type: format!("/problems#{code}"),
        title: status.canonical_reason().unwrap_or("Error"),
        status: status.as_u16(),
        code,
        detail: sentence(code, language),
        trace_id: trace,
        members: failure.members(language),
    };
    serde_json::to_writer(to, &written).expect("a problem always serializes as JSON");
}

/// The headers of a problem, besides `Retry-After`.
pub(crate) fn headers_of(language: Language) -> &'static [(&'static str, &'static str)] {
    const PROBLEM: (&str, &str) = ("content-type", "application/problem+json");
    const KOREAN: &[(&str, &str)] = &[PROBLEM, ("content-language", "ko")];
    const ENGLISH: &[(&str, &str)] = &[PROBLEM, ("content-language", "en")];
    language.choose(KOREAN, ENGLISH)
}

/// The problem as a whole response.
pub(crate) fn render(error: &ApiError, language: Language, trace: &str) -> Response {
    let mut body = Vec::with_capacity(512);
    write_problem(&mut body, error, language, trace);
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = error.status();
    let headers = response.headers_mut();
    for (name, value) in headers_of(language) {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(seconds) = error.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Every code with its messages, for the documentation and the test that checks its completeness.
pub fn problem_codes() -> Vec<(&'static str, &'static str, &'static str)> {
    [
        sentences::ALL,
        order_sentences::ORDERS,
        draw_sentences::DRAWS,
        allocation_sentences::ALLOCATIONS,
        image_sentences::IMAGES,
    ]
    .concat()
}

/// The body of every error response (RFC 9457).
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    r#type: String,
    title: String,
    status: u16,
    /// The stable code of the problem.
    code: String,
    /// What happened and what to do about it, in the client's language.
    detail: String,
    /// The invalid fields.
    errors: Option<Vec<FieldProblem>>,
    trace_id: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FieldProblem {
    field: String,
    detail: String,
}
