//! The client's address behind proxies.

use ipnet::IpNet;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};

/// The header in which our proxies name their client. The other one is untrusted, because a proxy
/// that doesn't know it passes on what the client wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    #[default]
    XForwardedFor,
    /// RFC 7239.
    Forwarded,
}

/// The trusted proxies. The header counts only if it comes from one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    networks: Vec<IpNet>,
    header: ForwardedHeader,
}

impl Proxies {
    /// Parses addresses and networks, such as `10.0.0.7` and `10.0.0.0/8`.
    pub fn parse(texts: &[String], header: ForwardedHeader) -> Result<Proxies, String> {
        let parse = |text: &String| {
            let network = text.parse::<IpNet>().ok();
            let network = network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            network.ok_or_else(|| format!("`{text}` is neither an address nor a network"))
        };
        let networks = texts.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Proxies { networks, header })
    }

    pub fn trusts(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.networks.iter().any(|network| network.contains(&ip))
    }

    pub fn header(&self) -> ForwardedHeader {
        self.header
    }

    /// The client's address. Each trusted proxy appends its peer, to the last header line or on a
    /// new one, so all `lines` are read from the end: the last address that isn't trusted is the
    /// client, and the client may have forged everything before it.
    pub fn client<'h>(
        &self,
        peer: IpAddr,
        lines: impl DoubleEndedIterator<Item = &'h str>,
    ) -> IpAddr {
        let mut client = peer.to_canonical();
        for hop in lines.rev().flat_map(|line| line.rsplit(',')) {
            if !self.trusts(client) {
                break;
            }
            let Some(hop) = self.read_hop(hop.trim()) else { break };
            client = hop.to_canonical();
        }
        client
    }

    fn read_hop(&self, hop: &str) -> Option<IpAddr> {
        match self.header {
            ForwardedHeader::XForwardedFor => read_address(hop),
            ForwardedHeader::Forwarded => {
                let pairs = hop.split(';').filter_map(|pair| pair.trim().split_once('='));
                let mut named = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
                read_address(named.next()?.1.trim().trim_matches('"'))
            }
        }
    }
}

/// An address with or without a port: `203.0.113.7`, `203.0.113.7:80`, `[2001:db8::1]:80`.
fn read_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse::<IpAddr>().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn client(peer: &str, forwarded_for: &str) -> String {
        let ours = ["10.0.0.0/8".to_owned(), "::1".to_owned()];
        let proxies = Proxies::parse(&ours, ForwardedHeader::XForwardedFor).unwrap();
        proxies.client(peer.parse().unwrap(), forwarded_for.lines()).to_string()
    }

    #[test]
    fn only_our_own_proxies_are_believed() {
        assert_eq!(client("10.0.0.1", "203.0.113.7"), "203.0.113.7");
        assert_eq!(client("198.51.100.1", "203.0.113.7"), "198.51.100.1", "not a trusted proxy");
        assert_eq!(client("::1", "203.0.113.7, 10.2.3.4"), "203.0.113.7", "two trusted proxies");
        assert_eq!(client("::ffff:10.0.0.1", "203.0.113.7"), "203.0.113.7");
    }

    #[test]
    fn what_a_client_writes_in_front_changes_nothing() {
        assert_eq!(client("10.0.0.1", "1.2.3.4, 203.0.113.7"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "10.9.9.9, 203.0.113.7"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(client("10.0.0.1", ""), "10.0.0.1");
    }

    /// Some proxies add a header line instead of appending to the client's.
    #[test]
    fn all_lines_are_one_list() {
        assert_eq!(client("10.0.0.1", "1.2.3.4\n203.0.113.7"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "1.2.3.4\n203.0.113.7\n10.0.0.2"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "203.0.113.7:4711"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "[2001:db8::1]:80"), "2001:db8::1");
    }

    #[test]
    fn the_standard_header_is_read_where_the_proxies_write_it() {
        let ours = ["10.0.0.0/8".to_owned()];
        let proxies = Proxies::parse(&ours, ForwardedHeader::Forwarded).unwrap();
        let client = |lines: &str| proxies.client([10, 0, 0, 1].into(), lines.lines()).to_string();
        assert_eq!(client("for=203.0.113.7;proto=https;by=10.0.0.1"), "203.0.113.7");
        assert_eq!(client("proto=https; For=\"[2001:db8::17]:4711\""), "2001:db8::17");
        assert_eq!(client("for=1.2.3.4, for=203.0.113.7, for=10.0.0.2"), "203.0.113.7");
        assert_eq!(client("for=1.2.3.4\nfor=203.0.113.7"), "203.0.113.7");
        for hidden in ["for=unknown", "for=_secret", "by=203.0.113.7", "203.0.113.7", ""] {
            assert_eq!(client(hidden), "10.0.0.1", "{hidden}");
        }
    }

    #[test]
    fn nonsense_in_the_settings_is_named() {
        let nonsense = ["10.0.0.0/33".to_owned()];
        let error = Proxies::parse(&nonsense, ForwardedHeader::default()).unwrap_err();
        assert!(error.contains("10.0.0.0/33"), "{error}");
    }
}
