//! Venues, halls, events, schedules and seats.

mod change;
mod create;
mod read;
mod status;
mod told;

pub(super) use told::note_told;
