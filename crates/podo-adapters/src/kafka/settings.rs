//! Kafka client settings.

use podo_domain::messaging::messages::Topic;
use rdkafka::ClientConfig;
use std::path::PathBuf;
use std::time::Duration;

/// Secrets are in plain text, so this has no `Debug`.
#[derive(Clone, Default)]
pub struct KafkaSettings {
    /// `host:port,host:port`.
    pub brokers: String,
    /// The prefix of every topic and group, so that several installations can share the brokers.
    pub prefix: String,
    /// Whether to create missing topics; brokers before 0.10.1 only create them by themselves.
    pub makes_topics: bool,
    pub partitions: u32,
    pub replication: u32,
    pub retention: Duration,
    /// Whether brokers deduplicate repeated sends; those before 0.11 can't.
    pub idempotence: bool,
    /// `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`.
    pub security: String,
    /// `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.
    pub mechanism: String,
    pub username: String,
    pub password: String,
    /// Trusted CA certificates (PEM); the system's by default.
    pub ca: Option<PathBuf>,
    /// Any other property of librdkafka.
    pub options: Vec<(String, String)>,
}

impl KafkaSettings {
    pub(super) fn name_of(&self, topic: Topic) -> String {
        format!("{}{}", self.prefix, topic.as_str())
    }

    pub(super) fn topic_of(&self, name: &str) -> Option<Topic> {
        name.strip_prefix(&self.prefix).and_then(Topic::parse)
    }

    fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.brokers).set("client.id", "podo");
        // A silently dead broker is given up after the first request that stays unanswered for this
        // long, and one that never answers a new connection sooner.
        config.set("socket.timeout.ms", "10000").set("socket.keepalive.enable", "true");
        config.set("socket.connection.setup.timeout.ms", "5000");
        config.set("security.protocol", &self.security);
        if self.security.starts_with("sasl") {
            config.set("sasl.mechanism", &self.mechanism);
            config.set("sasl.username", &self.username).set("sasl.password", &self.password);
        }
        if let Some(ca) = &self.ca {
            config.set("ssl.ca.location", ca.display().to_string());
        }
        // Reconnects within a second after brokers come back.
        config.set("reconnect.backoff.ms", "100").set("reconnect.backoff.max.ms", "1000");
        config
    }

    /// Applied last, so that an operator can override anything.
    fn with_options(&self, mut config: ClientConfig) -> ClientConfig {
        for (key, value) in &self.options {
            config.set(key, value);
        }
        config
    }

    /// A record counts as sent once every in-sync replica has it, and a retry after a broken
    /// connection keeps the order: with idempotence by sequence numbers, without it by one request
    /// in flight.
    pub(super) fn producer(&self) -> ClientConfig {
        let mut config = self.client();
        config.set("acks", "all").set("message.timeout.ms", "5000").set("linger.ms", "5");
        config.set("partitioner", "murmur2_random");
        match self.idempotence {
            true => config.set("enable.idempotence", "true"),
            false => config.set("max.in.flight.requests.per.connection", "1"),
        };
        self.with_options(config)
    }

    pub(super) fn admin(&self) -> ClientConfig {
        self.with_options(self.client())
    }

    pub(super) fn consumer(&self, group: &str) -> ClientConfig {
        let mut config = self.client();
        config.set("group.id", format!("{}{group}", self.prefix));
        config.set("enable.auto.commit", "false").set("enable.auto.offset.store", "false");
        config.set("auto.offset.reset", "earliest").set("allow.auto.create.topics", "true");
        config.set("session.timeout.ms", "6000").set("heartbeat.interval.ms", "1500");
        // Also how long the group waits for a member that may be dead: much longer than a round.
        config.set("max.poll.interval.ms", "60000");
        config.set("fetch.wait.max.ms", "100").set("topic.metadata.refresh.interval.ms", "10000");
        // The interval of lag statistics.
        config.set("statistics.interval.ms", "2000");
        self.with_options(config)
    }
}
