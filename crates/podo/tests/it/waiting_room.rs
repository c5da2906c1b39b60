//! Entering, polling, streaming, and entries.

#[path = "waiting_room/abuse.rs"]
pub(crate) mod abuse;
#[path = "waiting_room/course.rs"]
pub(crate) mod course;
#[path = "waiting_room/entry.rs"]
pub(crate) mod entry;
#[path = "waiting_room/forgery.rs"]
pub(crate) mod forgery;
#[path = "waiting_room/open_door.rs"]
pub(crate) mod open_door;
#[path = "waiting_room/polls.rs"]
pub(crate) mod polls;
#[path = "waiting_room/queue.rs"]
pub(crate) mod queue;
#[path = "waiting_room/stream.rs"]
pub(crate) mod stream;
#[path = "waiting_room/stream_refusals.rs"]
pub(crate) mod stream_refusals;
