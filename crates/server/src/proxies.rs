//! Who asks, when proxies stand in between.

use ipnet::IpNet;
use std::net::IpAddr;

/// The proxies whose word about their clients counts. Anybody else's `X-Forwarded-For` is only text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Reads addresses and networks, such as `10.0.0.7` and `10.0.0.0/8`.
    pub fn parse(texts: &[String]) -> Result<Proxies, String> {
        let parse = |text: &String| {
            let network = text.parse::<IpNet>().ok();
            let network = network.or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            network.ok_or_else(|| format!("`{text}` is no address and no network"))
        };
        texts.iter().map(parse).collect::<Result<_, _>>().map(Proxies)
    }

    pub fn trusts(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.iter().any(|network| network.contains(&ip))
    }

    /// The address behind the proxies: each of ours adds the one it was asked by at the end, so the
    /// last that is not ours is the client, and what stands before it the client may have made up.
    pub fn client(&self, peer: IpAddr, forwarded_for: Option<&str>) -> IpAddr {
        let mut client = peer.to_canonical();
        for hop in forwarded_for.unwrap_or_default().rsplit(',') {
            if !self.trusts(client) {
                break;
            }
            let Ok(hop) = hop.trim().parse::<IpAddr>() else { break };
            client = hop.to_canonical();
        }
        client
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn client(peer: &str, forwarded_for: &str) -> String {
        let ours = ["10.0.0.0/8".to_owned(), "::1".to_owned()];
        let proxies = Proxies::parse(&ours).unwrap();
        proxies.client(peer.parse().unwrap(), Some(forwarded_for)).to_string()
    }

    #[test]
    fn only_our_own_proxies_are_believed() {
        assert_eq!(client("10.0.0.1", "203.0.113.7"), "203.0.113.7");
        assert_eq!(client("198.51.100.1", "203.0.113.7"), "198.51.100.1", "not one of ours");
        assert_eq!(client("::1", "203.0.113.7, 10.2.3.4"), "203.0.113.7", "two of ours");
        assert_eq!(client("::ffff:10.0.0.1", "203.0.113.7"), "203.0.113.7");
    }

    #[test]
    fn what_a_client_writes_in_front_changes_nothing() {
        assert_eq!(client("10.0.0.1", "1.2.3.4, 203.0.113.7"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "10.9.9.9, 203.0.113.7"), "203.0.113.7");
        assert_eq!(client("10.0.0.1", "nonsense"), "10.0.0.1");
        assert_eq!(client("10.0.0.1", ""), "10.0.0.1");
    }

    #[test]
    fn nonsense_in_the_settings_is_named() {
        let error = Proxies::parse(&["10.0.0.0/33".to_owned()]).unwrap_err();
        assert!(error.contains("10.0.0.0/33"), "{error}");
    }
}
