//! Venues, halls, events, schedules and seats.

mod change;
mod create;
mod read;
mod told;

pub(super) use told::note_told;
