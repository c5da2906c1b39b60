//! The engines behind the ports of `podo-app`: SQL, Redis, memory, Kafka, payment gateways, and
//! channels for notifications.
//!
//! # An engine
//!
//! An engine is a type that implements a port and passes the contract of that port, if it has one.
//! Only `crates/podo/src/bootstrap.rs` chooses between engines, by the settings; use cases can't
//! tell them apart.
//!
//! ```
//! use podo_app::operations::port::clock::Clock;
//! use podo_domain::Timestamp;
//!
//! /// A clock for tests.
//! struct StoppedClock(Timestamp);
//!
//! impl Clock for StoppedClock {
//!     fn now(&self) -> Timestamp {
//!         self.0
//!     }
//! }
//!
//! let clock = StoppedClock(Timestamp::from_ms(1_800_000_000_000));
//! assert_eq!(clock.now(), clock.now());
//! ```
//!
//! Engines in [`live`] may lose everything at any moment; the store in [`sql`] decides. Each call
//! to another program has a deadline, and each retry an end.
//!
//! # A command of the store
//!
//! The store is [`sql::SqlStore`] on two databases, SQLite and PostgreSQL, with one SQL text for
//! both. `sql/ROOM/NOUN.rs` lists the commands of a port with the macro `commands!` and has the
//! functions with their statements below:
//!
//! ```text
//! commands! {
//!     impl BotSignals for SqlStore {
//!         write note_signal(NoteSignal) -> () as Sales => keep;
//!         read signals(SignalQuery) -> Vec<SignalRecord> as Sales => list;
//!     }
//! }
//!
//! async fn keep(tx: &mut dyn Tx, it: &NoteSignal) -> Result<()> {
//!     let sql = "insert into bot_signals (id, user_id, …) values ($1, $2, …)";
//!     tx.execute(sql, params![it.signal, it.user, …]).await?;
//!     Ok(())
//! }
//! ```
//!
//! A line says how the store runs the command (`read`, `write`, or `write_in_batch` for one that
//! shares a transaction with others on PostgreSQL) and in which database role. Statements change a
//! state only if it is the one they expect, and write messages to the outbox in the same
//! transaction. The suite in `tests/store` runs on SQLite and, from `tests/postgres`, on
//! PostgreSQL.
//!
//! # A payment gateway
//!
//! `gateways/NAME.rs` describes the protocol of a company without doing any I/O: which request to
//! send, and what a reply means. [`gateways`] adds the connection, deadlines and the circuit
//! breaker.

pub mod clock;
pub mod gateways;
pub mod identity;
pub mod images;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod live;
pub mod notify;
pub mod otlp;
pub mod passes;
pub mod pdf;
mod service_account;
pub mod sql;
