//! Events, schedules, halls and the seat map.

pub(crate) mod admin;
pub(crate) mod events;
pub(crate) mod images;
pub mod layouts;
pub(crate) mod member_webhook;
pub(crate) mod phases;
pub(crate) mod pricing;
pub(crate) mod seat_feed;
pub(crate) mod seat_stream;
pub(crate) mod seats;
pub(crate) mod templates;
