//! What Podo does: use cases, the ports they need, and jobs.
//!
//! This crate knows no database, no Redis and no HTTP. It sees them through *ports*: traits that
//! `podo-adapters` implements and that [`AppContext`] carries, grouped by room.
//!
//! # A use case
//!
//! A use case is an async function that takes `&AppContext` and typed arguments. It reads the clock
//! once, lets `podo-domain` decide, and leaves the transaction to one command of the store. A
//! [`Refusal`] turns into an [`Error`] with `?`.
//!
//! ```
//! use podo_app::store::{Page, PageRequest};
//! use podo_app::tickets::port::TicketView;
//! use podo_app::{AppContext, Result};
//! use podo_domain::UserId;
//!
//! /// The fan's tickets, newest first. The store gives one row more than asked, which tells
//! /// whether there is a next page.
//! pub async fn my_tickets(
//!     context: &AppContext,
//!     user: UserId,
//!     ask: PageRequest,
//! ) -> Result<Page<TicketView>> {
//!     let rows = context.store.tickets_of(user, ask).await?;
//!     Ok(Page::cut(rows, ask.limit, |ticket| ticket.id.uuid()))
//! }
//! ```
//!
//! # A port
//!
//! A port is a trait in `ROOM/port.rs` or `ROOM/port/NOUN.rs`. Its methods are whole commands, so
//! that an adapter can run each in one transaction or one script. A trait of the database goes onto
//! the list of [`store::Store`]; any other becomes a field of its room's context in [`context`]. A
//! port with more than one engine comes with a `contract` module: checks that every engine has to
//! pass.
//!
//! ```
//! use async_trait::async_trait;
//! use podo_app::Result;
//! use podo_domain::{ScheduleId, Timestamp};
//!
//! /// Dates that are sold by hand for a while.
//! #[async_trait]
//! pub trait ManualSales: Send + Sync {
//!     /// Stops the sale; false if it was stopped before.
//!     async fn stop(&self, schedule: ScheduleId, now: Timestamp) -> Result<bool>;
//! }
//! # fn is_a_port(_: &dyn ManualSales) {}
//! ```
//!
//! # A job
//!
//! A job is a function that does one bounded round and says whether more work may be waiting.
//! `crates/podo/src/jobs.rs` schedules it. Two nodes may run a round at the same time, and a round
//! may end at any await point: whatever it repeats must be harmless.
//!
//! ```
//! use podo_app::operations::jobs::Round;
//! use podo_app::{AppContext, Result};
//! use podo_domain::Timestamp;
//!
//! const ROUND_MAX: u32 = 500;
//!
//! pub async fn update_schedule_statuses(context: &AppContext, now: Timestamp) -> Result<Round> {
//!     let done = context.store.update_schedule_statuses(ROUND_MAX, now).await?;
//!     Ok(Round { done, is_full: done >= u64::from(ROUND_MAX), ..Round::default() })
//! }
//! ```
//!
//! CONTRIBUTING.md lists all files that a new route, table or job touches.
//!
//! [`Refusal`]: podo_domain::Refusal

pub mod booking;
pub mod cache;
pub mod catalog;
pub mod context;
pub mod error;
pub mod identity;
pub mod messaging;
pub mod operations;
pub mod payments;
pub mod store;
pub mod tickets;
pub mod waiting_room;

pub use context::AppContext;
pub use error::{Error, Result};
