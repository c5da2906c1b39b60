//! The client for organisers' servers. It calls public addresses only, checked at the moment of the
//! call.

use crate::gateways::tls;
use async_trait::async_trait;
use ipnet::IpNet;
use podo_app::messaging::port::webhook_client::{
    AnswerLimits, Answered, Post, Posted, WebhookClient,
};
use podo_domain::Refusal;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, RequestBuilder, Response, Url};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// Most questions at once. A slow server of one organiser must not hold a connection for each fan of
/// an opening.
const QUESTIONS_MAX: usize = 64;

pub struct HttpWebhookClient {
    http: Client,
    questions: Semaphore,
    allowed: Arc<Vec<IpNet>>,
}

impl HttpWebhookClient {
    /// `allowed` are private networks that may be called all the same.
    pub fn new(allowed: Vec<IpNet>) -> Result<HttpWebhookClient, String> {
        let allowed = Arc::new(allowed);
        let http = Client::builder()
            .tls_backend_preconfigured(tls()?)
            .dns_resolver(Arc::new(PublicNames { allowed: allowed.clone() }))
            .connect_timeout(CONNECT_WITHIN)
            .timeout(ANSWER_WITHIN)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(HttpWebhookClient { http, questions: Semaphore::new(QUESTIONS_MAX), allowed })
    }

    fn request(&self, post: &Post) -> RequestBuilder {
        let request = self.http.post(&post.url).header("content-type", "application/json");
        let request =
            post.headers.iter().fold(request, |it, (name, value)| it.header(*name, value));
        request.body(post.body.clone())
    }

    /// Names are checked when they are resolved; an IP address in the URL is checked here.
    fn is_callable(&self, url: &str) -> bool {
        let Ok(url) = url.parse::<Url>() else { return false };
        let Some(host) = url.host_str() else { return false };
        let has_no_secrets = url.username().is_empty() && url.password().is_none();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
        let is_ours = address.is_some_and(|address| is_in(&self.allowed, address));
        let is_public = address.is_none_or(is_public);
        match url.scheme() {
            "https" => has_no_secrets && (is_ours || is_public),
            "http" => has_no_secrets && is_ours,
            _ => false,
        }
    }
}

#[async_trait]
impl WebhookClient for HttpWebhookClient {
    fn check(&self, url: &str) -> Result<(), Refusal> {
        if self.is_callable(url) { Ok(()) } else { Err(Refusal::WebhookUrlRefused) }
    }

    async fn post(&self, post: &Post) -> Posted {
        if !self.is_callable(&post.url) {
            return Posted::Failed("this address is not called".to_owned());
        }
        match self.request(post).send().await {
            Ok(response) => Posted::Answered(response.status().as_u16()),
            Err(error) => Posted::Failed(describe(&error)),
        }
    }

    async fn ask(&self, post: &Post, limits: AnswerLimits) -> Answered {
        if !self.is_callable(&post.url) {
            return Answered::Not("this address is not called".to_owned());
        }
        let Ok(_permit) = self.questions.try_acquire() else {
            return Answered::Not("too many questions are open".to_owned());
        };
        // The timeout covers the body too.
        let response = match self.request(post).timeout(limits.within).send().await {
            Ok(response) => response,
            Err(error) => return Answered::Not(describe(&error)),
        };
        let status = response.status().as_u16();
        match read(response, limits.bytes_max).await {
            Ok(body) => Answered::With(status, body),
            Err(reason) => Answered::Not(reason),
        }
    }
}

/// The body, if it isn't too long.
async fn read(mut response: Response, bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| describe(&error))? {
        if bytes_max < body.len() + part.len() {
            return Err("the response is too long".to_owned());
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// The innermost cause, which says most.
fn describe(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(deeper) = reason.source() {
        reason = deeper;
    }
    reason.to_string()
}

/// Resolves names to permitted addresses. The check belongs here, because a name may resolve to
/// another address than before (DNS rebinding).
struct PublicNames {
    allowed: Arc<Vec<IpNet>>,
}

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.allowed.clone();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let may_call =
                |it: &SocketAddr| is_public(it.ip()) || is_in(&allowed, it.ip().to_canonical());
            let addresses: Vec<SocketAddr> = found.filter(may_call).collect();
            if addresses.is_empty() {
                return Err("the name stands for no public address".into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

fn is_in(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !is_special
}

/// Globally routable unicast only, without ranges that embed a private IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let is_global = parts[0] & 0xe000 == 0x2000;
    let is_documentation = parts[0] == 0x2001 && parts[1] == 0x0db8;
    let is_special = parts[0] == 0x2001 && parts[1] < 0x0200;
    let is_6to4 = parts[0] == 0x2002;
    is_global && !is_documentation && !is_special && !is_6to4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(allowed: &[&str], url: &str) -> bool {
        let allowed = allowed.iter().map(|network| network.parse().unwrap()).collect();
        HttpWebhookClient::new(allowed).unwrap().check(url).is_err()
    }

    #[test]
    fn addresses_inside_are_refused_however_they_are_written() {
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "0",
            "10.0.0.8",
            "172.16.3.4",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[fe80::1]",
            "[fd00::1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "[::]",
        ] {
            assert!(refused(&[], &format!("https://{host}/hook")), "{host}");
        }
        for host in ["podo.example", "8.8.8.8", "[2606:4700::1111]", "93.184.216.34:8443"] {
            assert!(!refused(&[], &format!("https://{host}/hook")), "{host}");
        }
    }

    #[test]
    fn only_https_leaves_the_house_unless_the_network_is_ours() {
        assert!(refused(&[], "http://8.8.8.8/"));
        assert!(refused(&[], "ftp://8.8.8.8/"));
        assert!(refused(&[], "https://user:secret@8.8.8.8/"));
        assert!(refused(&[], "nonsense"));
        assert!(!refused(&["127.0.0.0/8"], "http://127.0.0.1:9000/hook"));
        assert!(refused(&["127.0.0.0/8"], "http://10.0.0.1:9000/hook"));
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_called() {
        let webhook_client = HttpWebhookClient::new(Vec::new()).unwrap();
        let post = Post {
            url: "https://localhost:1/hook".to_owned(),
            headers: Vec::new(),
            body: "{}".to_owned(),
        };
        let posted = webhook_client.post(&post).await;
        let reason = "the name stands for no public address";
        assert_eq!(posted, Posted::Failed(reason.to_owned()));
    }
}
