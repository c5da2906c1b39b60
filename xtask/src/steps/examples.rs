//! `cargo xtask test --only examples`: a purchase with curl, of which a Kafka consumer and a webhook
//! receiver get the message. The generated clients have a step of their own (`clients`).

use crate::podo::{ORGANISER, Server};
use crate::shell::{command, python_package, read, root, run};
use crate::shop::{self, Shop};
use anyhow::{Context, bail, ensure};
use podo_testbed::kafka::OPTIONS;
use podo_testbed::{Kafka, free_port};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const KAFKA_CLIENT: &str = "2.16.1";

/// A message reaches Kafka and an endpoint within seconds; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn check() -> anyhow::Result<()> {
    let mut tests = command("python3", &["-B", "-m", "unittest"]);
    run(tests.current_dir(root().join("examples/webhook-receiver")))?;
    let kafka = Kafka::start()?;
    let server = Server::start_with("examples", &settings(&kafka))?;
    let shop = Shop::open(&server.url, ORGANISER)?;
    let receiver = start_receiver(&server)?;
    let consumer = start_consumer(&kafka, &server)?;

    let mut buy = command("examples/curl.sh", &[&server.url]);
    let said = read(buy.env("PODO_SCHEDULE", &shop.schedule))?;
    print!("{said}");
    let booking = field(&said, "booking")?;
    ensure!(field(&said, "tickets")? == "2", "two tickets were asked for");

    let consumed = consumer.wait_for(booking)?;
    ensure!(consumed.contains(" won"), "{consumed}");
    let received = receiver.wait_for(booking)?;
    ensure!(received.starts_with("ReservationConfirmed "), "{received}");
    receiver.refuse_a_forgery()
}

fn settings(kafka: &Kafka) -> [(&'static str, String); 5] {
    [
        ("PODO_BUS_URL", kafka.url()),
        ("PODO_BUS_OPTIONS", options()),
        ("PODO_BUS_IDEMPOTENCE", "off".to_owned()),
        ("PODO_BUS_CREATE_TOPICS", "off".to_owned()),
        ("PODO_WEBHOOK_ALLOW", "127.0.0.1".to_owned()),
    ]
}

/// What a client has to set to talk to the broker of the tests.
fn options() -> String {
    OPTIONS.map(|(name, value)| format!("{name}={value}")).join(",")
}

/// The word behind a name at the start of a line.
fn field<'a>(text: &'a str, name: &str) -> anyhow::Result<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map(str::trim).with_context(|| format!("no `{name}` in {text}"))
}

fn start_receiver(server: &Server) -> anyhow::Result<Example> {
    let port = free_port()?.to_string();
    let token = shop::log_in(&server.url, ORGANISER)?;
    let endpoint = json!({
        "url": format!("http://127.0.0.1:{port}/podo"), "types": ["ReservationConfirmed"],
    });
    let made = shop::send(&server.url, "POST /api/admin/webhooks", &token, &endpoint)?;
    let mut python =
        command("python3", &["examples/webhook-receiver/receiver.py", "--port", &port]);
    python.env("PODO_WEBHOOK_SECRET", shop::text(&made, "secret")?);
    let receiver = Example::start("webhook-receiver", python)?;
    receiver.wait_for("listening on ")?;
    Ok(Example { port, ..receiver })
}

fn start_consumer(kafka: &Kafka, server: &Server) -> anyhow::Result<Example> {
    let mut python = Command::new(python_package("confluent-kafka", KAFKA_CLIENT)?);
    python.arg(root().join("examples/kafka-consumer/consumer.py"));
    let brokers = kafka.url();
    let brokers = brokers.strip_prefix("kafka://").context("the broker has no address")?;
    python.args(["--count", "1", "--brokers", brokers, "--book"]);
    // That broker allows no longer session.
    let options = format!("{},session.timeout.ms=10000", options());
    python.arg(server.folder.join("bookings.db")).env("KAFKA_OPTIONS", options);
    Example::start("kafka-consumer", python)
}

/// A running example, ended when dropped.
struct Example {
    name: &'static str,
    process: Process,
    lines: Receiver<String>,
    port: String,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Example {
    fn start(name: &'static str, mut program: Command) -> anyhow::Result<Example> {
        let mut process = Process(program.stdout(Stdio::piped()).spawn().context(name)?);
        let output = process.0.stdout.take().context("no stdout")?;
        Ok(Example { name, process, lines: lines_of(output), port: String::new() })
    }

    /// Waits for a line with these words and gives it.
    fn wait_for(&self, words: &str) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.with_context(|| format!("{} never said `{words}`", self.name))?;
            println!("{}: {line}", self.name);
            if line.contains(words) {
                return Ok(line);
            }
        }
    }

    fn refuse_a_forgery(mut self) -> anyhow::Result<()> {
        let address = format!("http://127.0.0.1:{}/podo", self.port);
        let mut forge = command("curl", &["--silent", "--output", "/dev/null", "--data", "{}"]);
        forge.args(["--header", "webhook-id: msg_1", "--header", "webhook-timestamp: 1"]);
        forge.args(["--header", "webhook-signature: v1,AAAA", "--write-out", "%{http_code}"]);
        let status = read(forge.arg(address))?;
        ensure!(status == "401", "a forged webhook was answered with {status}");
        if let Some(ended) = self.process.0.try_wait()? {
            bail!("{} ended by itself ({ended})", self.name);
        }
        Ok(())
    }
}

fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[test]
fn the_consumer_names_the_client_that_is_tested() {
    let page = std::fs::read_to_string(root().join("examples/kafka-consumer/README.md")).unwrap();
    assert!(page.contains(&format!("confluent-kafka=={KAFKA_CLIENT}\n")), "{page}");
}

#[test]
fn a_field_is_the_rest_of_its_line() {
    let text = "date         1\nbooking      B-2\n";
    assert_eq!(field(text, "booking").unwrap(), "B-2");
    assert!(field(text, "tickets").is_err());
}
