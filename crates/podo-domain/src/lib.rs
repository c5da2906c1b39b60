//! The rules of Podo: types and pure functions.
//!
//! A rule belongs here if it decides something about seats, money, queues or people and needs
//! nothing but its arguments. It reads no file, socket or clock and draws no random number: callers
//! pass `now` and random bits as values. A use case in `podo-app` loads the facts, calls the rule,
//! and stores what it decided in one transaction. Rules are therefore tested in microseconds, and
//! the simulation in `podo-sim` replays them exactly.
//!
//! ```
//! use podo_domain::payments::refund_policy::{CancelMoment, FeeStep, RefundPolicy};
//! use podo_domain::payments::refunds::quote;
//! use podo_domain::{Refusal, Timestamp, Won};
//! use std::time::Duration;
//!
//! let steps = vec![FeeStep::percent(7, 10), FeeStep::percent(1, 30)];
//! let policy = RefundPolicy { steps, ..RefundPolicy::default() };
//! policy.check()?;
//!
//! let show = Timestamp::from_ms(1_800_000_000_000);
//! let three_days_before = show.minus(Duration::from_secs(3 * 86_400));
//! let moment = |now| CancelMoment {
//!     booked_at: show.minus(Duration::from_secs(30 * 86_400)),
//!     starts_at: show,
//!     now,
//!     zone: "Asia/Seoul",
//! };
//! let terms = policy.terms(&moment(three_days_before))?;
//! let price = Won::new(150_000).expect("it is positive");
//! assert_eq!(quote([price], terms.retained).refund, Won::new(135_000).expect("it is positive"));
//!
//! // An expected no is a value: the caller shows it to the fan, and nothing has changed.
//! assert_eq!(policy.terms(&moment(show)), Err(Refusal::CancelClosed));
//! # Ok::<(), Refusal>(())
//! ```
//!
//! Conventions:
//! - Each room has a module: [`identity`], [`catalog`], [`waiting_room`], [`booking`],
//!   [`payments`], [`tickets`], [`messaging`], [`operations`]. `podo-app`, the SQL store and the
//!   routes use the same names.
//! - Ids are one type per thing ([`id`]), amounts are [`Won`], with their currency
//!   [`Money`], times are [`Timestamp`]; none of them is a bare number, and none is a float.
//! - A type is checked once, when it is made. A state that must not exist can't be written down.
//! - Every expected failure is a variant of [`Refusal`] with a stable code for the API.
//! - `cargo xtask tidy` rejects dependencies that could do I/O.

pub mod booking;
pub mod catalog;
pub mod id;
pub mod identity;
pub mod messaging;
pub mod money;
pub mod operations;
pub mod payments;
pub mod refusal;
pub mod tickets;
pub mod time;
pub mod waiting_room;

pub use id::{
    AllocationId, AnnouncementId, ApiKeyId, ClaimId, DeadLetterId, DeliveryId, DeviceId,
    EndpointId, EventId, HallId, ImportId, LedgerId, LoginId, MessageId, NodeId, NoteId, PaymentId,
    PhaseId, PromotionId, RefundId, ResaleId, ReservationId, ScheduleId, SeatId, SessionId,
    SignalId, StandbyId, TicketId, UserId, VenueId,
};
pub use money::{Currency, Money, Won};
pub use refusal::Refusal;
pub use time::Timestamp;
