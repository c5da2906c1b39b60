//! Stand-ins for services that tests can't reach.

pub mod aws;
pub mod identity_provider;
pub mod post_box;
pub mod s3;
