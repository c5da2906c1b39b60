//! Notification settings, webhook endpoints and dead letters.

pub(crate) mod announcements;
pub(crate) mod dead_letters;
pub(crate) mod mail_templates;
pub(crate) mod notifications;
pub(crate) mod webhook_endpoints;
