//! The rules of Podo. Everything here is a function of its arguments: no IO, no async, no clock,
//! no chance. Adapters load the facts, ask a rule, and apply what it decides in one transaction.

pub mod accounts;
pub mod approvals;
pub mod backoff;
pub mod best;
pub mod catalog;
pub mod challenge;
pub mod clock;
pub mod draw;
pub mod hall;
pub mod id;
pub mod messages;
pub mod money;
pub mod organisers;
pub mod payments;
pub mod queue;
pub mod rate_limit;
pub mod reconciliation;
pub mod refunds;
pub mod refusal;
pub mod reservations;
pub mod resolutions;
pub mod retention;
pub mod seats;
pub mod signals;
pub mod standby;
pub mod text;
pub mod tickets;
pub mod time;
pub mod wallet;

pub use id::{
    DeadLetterId, DeliveryId, DeviceId, EndpointId, EventId, HallId, LedgerId, LoginId, MessageId,
    NodeId, PaymentId, RefundId, ReservationId, ScheduleId, SeatId, SessionId, SignalId, StandbyId,
    TicketId, UserId, VenueId,
};
pub use money::Won;
pub use refusal::Refusal;
pub use time::Timestamp;
