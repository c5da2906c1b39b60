//! Venues, halls, events, schedules and seats.

mod change;
mod create;
mod read;
