//! The shipped proxies have Podo's default limits.

use crate::process::deploy::text_of;
use podo::config::DEFAULT;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A number among the default settings.
fn setting(name: &str) -> u32 {
    let line = DEFAULT.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
    line.unwrap().parse().unwrap()
}

/// All numbers that follow `before` in a file.
fn numbers(file: &str, before: &str) -> Vec<u32> {
    let text = text_of(file);
    let number = |rest: &str| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    };
    text.split(before).skip(1).map(number).collect()
}

#[test]
fn nginx_has_the_budget_of_an_address() {
    let (rate, connections) =
        (setting("requests_per_second_per_ip"), setting("connections_per_ip"));
    let file = "nginx/nginx.conf";
    assert!(text_of(file).contains("r/s;"), "per second");
    let gates = setting("gate_requests_per_second_per_ip");
    assert_eq!(numbers(file, " rate="), [rate, gates]);
    assert_eq!(numbers(file, " burst="), [rate, gates], "as many at once as Podo lets through");
    assert_eq!(numbers(file, "limit_conn open "), [connections]);
}

#[test]
fn haproxy_has_the_budget_of_an_address() {
    let file = "haproxy/haproxy.cfg";
    assert!(text_of(file).contains("gpc0_rate(1s)"), "per second");
    assert_eq!(numbers(file, "sc0_gpc0_rate ge "), [setting("requests_per_second_per_ip")]);
    assert_eq!(numbers(file, "sc0_gpc1_rate ge "), [setting("gate_requests_per_second_per_ip")]);
}

#[test]
fn the_ingress_has_the_budget_of_an_address() {
    let (rate, connections) =
        (setting("requests_per_second_per_ip"), setting("connections_per_ip"));
    let file = "kubernetes/5-ingress.yaml";
    assert_eq!(numbers(file, "/limit-rps: \""), [rate]);
    assert_eq!(numbers(file, "/limit-burst-multiplier: \""), [1]);
    assert_eq!(numbers(file, "/limit-connections: \""), [connections]);
}

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Sends one request over a new connection; returns the status.
fn ask(port: u16) -> Option<u16> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream
        .write_all(b"GET /api/events HTTP/1.1\r\nHost: podo\r\nConnection: close\r\n\r\n")
        .ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    line.split(' ').nth(1)?.parse().ok()
}

/// A real HAProxy without nodes: it responds 503 to what it would forward, 429 to the rest. An
/// address over its budget is slowed down, not locked out.
#[test]
fn haproxy_refuses_what_is_beyond_the_budget_and_no_more() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = text_of("haproxy/haproxy.cfg");
    let is_kept = |line: &&str| !line.trim_start().starts_with("server ");
    let settings: Vec<&str> = settings.lines().filter(is_kept).collect();
    let settings = settings.join("\n") + "\n";
    let settings = settings.replace("bind :8080", &format!("bind 127.0.0.1:{port}"));
    // A test may open fewer files than a busy proxy.
    let settings = settings.replace("maxconn 200000", "maxconn 100");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("haproxy.cfg");
    std::fs::write(&file, settings).unwrap();
    let haproxy = Command::new("/usr/sbin/haproxy").arg("-db").arg("-f").arg(&file).spawn();
    let _haproxy = Running(haproxy.expect("Debian's package `haproxy`"));
    let start = Instant::now();
    while ask(port).is_none() {
        assert!(start.elapsed() < Duration::from_secs(20), "HAProxy does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    let rate = f64::from(setting("requests_per_second_per_ip"));
    let (start, mut n_handed_on, mut n_refused) = (Instant::now(), 0, 0);
    while start.elapsed() < Duration::from_millis(3_500) {
        match ask(port).unwrap() {
            503 => n_handed_on += 1,
            429 => n_refused += 1,
            status => panic!("{status}"),
        }
    }
    let most = rate * (start.elapsed().as_secs_f64() + 1.0);
    println!("{n_handed_on} handed on, {n_refused} refused, at most {most:.0}");
    assert!(f64::from(n_handed_on) <= most, "{n_handed_on} handed on, at most {most}");
    assert!(f64::from(n_handed_on) >= 1.5 * rate, "{n_handed_on} handed on, {n_refused} refused");
}
