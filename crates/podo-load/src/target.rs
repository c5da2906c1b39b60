//! The server under load.

use hyper::Uri;
use std::time::Duration;

/// The server's address, and how many connections the fans may share.
#[derive(Clone, Debug)]
pub struct Target {
    /// `host:port`, which is also the `Host` header.
    pub(crate) authority: String,
    /// The path before `/api`, without a trailing slash.
    pub(crate) prefix: String,
    /// Fans share keep-alive connections; waiting for a free one counts as latency.
    pub connections_max: usize,
    /// Whether every connection has a loopback address of its own.
    pub(crate) spreads_addresses: bool,
    /// Whether all connections of a run come from one loopback address.
    pub(crate) is_one_address: bool,
    /// A call that takes longer is counted as unanswered.
    pub request_timeout: Duration,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TargetError {
    #[error("`{0}` is not a base URL; give one like http://127.0.0.1:8080")]
    NotAUrl(String),
    #[error("only http:// can be played, not `{0}`; measure behind the TLS proxy")]
    NotHttp(String),
}

impl Target {
    /// The server at `base_url`, with 512 connections (well below the usual limit on open files)
    /// and a timeout of ten seconds per call.
    pub fn at(base_url: &str) -> Result<Target, TargetError> {
        let not_a_url = || TargetError::NotAUrl(base_url.to_owned());
        let Ok(uri) = base_url.parse::<Uri>() else { return Err(not_a_url()) };
        let scheme = uri.scheme_str().ok_or_else(not_a_url)?;
        if scheme != "http" {
            return Err(TargetError::NotHttp(scheme.to_owned()));
        }
        let host = uri.host().ok_or_else(not_a_url)?;
        let port = uri.port_u16().unwrap_or(80);
        Ok(Target {
            authority: format!("{host}:{port}"),
            prefix: uri.path().trim_end_matches('/').to_owned(),
            connections_max: 512,
            spreads_addresses: false,
            is_one_address: false,
            request_timeout: Duration::from_secs(10),
        })
    }

    /// The same server, called over `n_addresses` connections in turn. If it is on loopback, each
    /// of them has a loopback address of its own, and the server's limits per address apply to the
    /// fans as to people at home.
    #[must_use]
    pub fn from_addresses(self, n_addresses: usize) -> Target {
        Target { connections_max: n_addresses, spreads_addresses: true, ..self }
    }

    /// The same server, called by clients who share one address, such as the gates of a hall.
    #[must_use]
    pub fn from_one_address(self) -> Target {
        Target { is_one_address: true, ..self }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}{}", self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_needs_a_scheme_and_a_host_and_may_have_a_path() {
        let base = |text: &str| Target::at(text).map(|target| target.base_url());
        assert_eq!(base("http://127.0.0.1:8080"), Ok("http://127.0.0.1:8080".into()));
        assert_eq!(base("http://tickets.example/kr/"), Ok("http://tickets.example:80/kr".into()));
        assert_eq!(base("http://[::1]:8080/"), Ok("http://[::1]:8080".into()));
        assert_eq!(base("https://a.example"), Err(TargetError::NotHttp("https".into())));
        assert!(base("localhost").is_err() && base("/api").is_err() && base("").is_err());
    }
}
