//! Venues, halls, events, schedules and seats.

mod create;
mod read;
