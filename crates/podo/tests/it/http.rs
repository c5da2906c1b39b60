//! Connections and raw requests.

#[path = "http/api_docs.rs"]
pub(crate) mod api_docs;
#[path = "http/edge.rs"]
pub(crate) mod edge;
#[path = "http/fast_path.rs"]
pub(crate) mod fast_path;
#[path = "http/fuzz.rs"]
pub(crate) mod fuzz;
#[path = "http/held_connections.rs"]
pub(crate) mod held_connections;
#[path = "http/message_docs.rs"]
pub(crate) mod message_docs;
#[path = "http/no_js.rs"]
pub(crate) mod no_js;
#[path = "http/problems.rs"]
pub(crate) mod problems;
#[path = "http/raw.rs"]
pub(crate) mod raw;
#[path = "http/rush.rs"]
pub(crate) mod rush;
#[path = "http/slow_readers.rs"]
pub(crate) mod slow_readers;
#[path = "http/slowloris.rs"]
pub(crate) mod slowloris;
