//! Pictures of events: how they are made, and where their files are stored.

mod bucket;
mod encoder;
mod folder;

pub use bucket::{Bucket, BucketSettings};
pub use encoder::JpegEncoder;
pub use folder::Folder;
