//! What an organiser's call is about, as types: the event of the path, all events of the caller's
//! scope, or the whole installation.

use crate::http::extract::{App, Id, Parts};
use crate::http::problem::ApiError;
use axum::extract::FromRequestParts;
use podo_domain::identity::permissions::Subject;
use podo_domain::{EventId, PaymentId, PhaseId, Refusal, ReservationId, ScheduleId};
use std::future::Future;

/// Finds the subject of a request. It is asked only for callers whose grant is limited to events.
pub(crate) trait Scope {
    /// Its name in the OpenAPI document.
    const NAME: &'static str;

    fn subject(
        parts: &mut Parts,
        app: &App,
    ) -> impl Future<Output = Result<Subject, ApiError>> + Send;
}

/// The whole installation. The default: a handler that names no scope refuses limited callers.
pub(crate) struct Everywhere;

/// Several events: the handler shows or accepts only those in `grant.events`.
pub(crate) struct OwnEvents;

/// The path's id is an event's.
pub(crate) struct OfEvent;

/// The path's id is a schedule's.
pub(crate) struct OfSchedule;

/// The path's id is a sale phase's.
pub(crate) struct OfPhase;

/// The path's id is a payment's. Wallet charges belong to no event.
pub(crate) struct OfPayment;

/// The path's id is a reservation's.
pub(crate) struct OfReservation;

impl Scope for Everywhere {
    const NAME: &'static str = "everywhere";

    async fn subject(_: &mut Parts, _: &App) -> Result<Subject, ApiError> {
        Ok(Subject::Everywhere)
    }
}

impl Scope for OwnEvents {
    const NAME: &'static str = "own-events";

    async fn subject(_: &mut Parts, _: &App) -> Result<Subject, ApiError> {
        Ok(Subject::OwnEvents)
    }
}

impl Scope for OfEvent {
    const NAME: &'static str = "event";

    async fn subject(parts: &mut Parts, app: &App) -> Result<Subject, ApiError> {
        let Id(event) = Id::<EventId>::from_request_parts(parts, app).await?;
        Ok(Subject::Event(event))
    }
}

impl Scope for OfSchedule {
    const NAME: &'static str = "schedule";

    async fn subject(parts: &mut Parts, app: &App) -> Result<Subject, ApiError> {
        let Id(schedule) = Id::<ScheduleId>::from_request_parts(parts, app).await?;
        let found = app.context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
        Ok(Subject::Event(found.event))
    }
}

impl Scope for OfPhase {
    const NAME: &'static str = "phase";

    async fn subject(parts: &mut Parts, app: &App) -> Result<Subject, ApiError> {
        let Id(phase) = Id::<PhaseId>::from_request_parts(parts, app).await?;
        let found = app.context.store.schedule(phase.schedule()).await?;
        Ok(Subject::Event(found.ok_or(Refusal::NotFound)?.event))
    }
}

impl Scope for OfPayment {
    const NAME: &'static str = "payment";

    async fn subject(parts: &mut Parts, app: &App) -> Result<Subject, ApiError> {
        let Id(payment) = Id::<PaymentId>::from_request_parts(parts, app).await?;
        let event = app.context.store.event_of_payment(payment).await?;
        Ok(Subject::Event(event.ok_or(Refusal::NotFound)?))
    }
}

impl Scope for OfReservation {
    const NAME: &'static str = "reservation";

    async fn subject(parts: &mut Parts, app: &App) -> Result<Subject, ApiError> {
        let Id(reservation) = Id::<ReservationId>::from_request_parts(parts, app).await?;
        let event = app.context.store.event_of_reservation(reservation).await?;
        Ok(Subject::Event(event.ok_or(Refusal::NotFound)?))
    }
}
