//! Exports spans to a collector: OTLP over HTTP, as JSON. The existing crates bring a hundred
//! dependencies; this sends one document.

use crate::gateways::tls;
use podo_app::operations::traces::{Span, SpanKind, Spans};
use reqwest::Client;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Queue limit; further spans are dropped, and the log shows how many.
const WAITING_MAX: usize = 8_192;

/// Spans per call.
const BATCH_MAX: usize = 512;

/// How long a span waits for others at most.
const COLLECT_FOR: Duration = Duration::from_secs(1);

const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Collects spans from all tasks.
pub struct Otlp {
    sender: Sender<Span>,
    n_lost: Arc<AtomicU64>,
}

/// Sends the collected spans.
pub struct Exporter {
    receiver: Receiver<Span>,
    n_lost: Arc<AtomicU64>,
    client: Client,
    url: String,
    node: String,
}

/// Both ends. `endpoint` is the collector, such as `http://127.0.0.1:4318`; `node` names this
/// process.
pub fn open(endpoint: &str, node: String) -> Result<(Otlp, Exporter), String> {
    let (sender, receiver) = channel(WAITING_MAX);
    let client = Client::builder()
        .tls_backend_preconfigured(tls()?)
        .timeout(ANSWER_WITHIN)
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())?;
    let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let n_lost = Arc::new(AtomicU64::new(0));
    let otlp = Otlp { sender, n_lost: n_lost.clone() };
    Ok((otlp, Exporter { receiver, n_lost, client, url, node }))
}

impl Spans for Otlp {
    fn record(&self, span: Span) {
        if self.sender.try_send(span).is_err() {
            self.n_lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Exporter {
    /// Sends until `stopped` resolves, and then the rest.
    pub async fn run(mut self, stopped: impl Future<Output = ()>) {
        let mut stopped = std::pin::pin!(stopped);
        let mut is_over = false;
        while !is_over {
            is_over = tokio::select! {
                () = &mut stopped => true,
                () = tokio::time::sleep(COLLECT_FOR) => false,
            };
            self.send_waiting().await;
        }
    }

    async fn send_waiting(&mut self) {
        let n_lost = self.n_lost.swap(0, Ordering::Relaxed);
        if n_lost > 0 {
            tracing::warn!(n_lost, "Span queue full; spans dropped");
        }
        let mut batch = Vec::new();
        while let Ok(span) = self.receiver.try_recv() {
            batch.push(span);
            if batch.len() >= BATCH_MAX {
                self.send(&std::mem::take(&mut batch)).await;
            }
        }
        if !batch.is_empty() {
            self.send(&batch).await;
        }
    }

    /// A failed batch is dropped, because traces are best effort.
    async fn send(&self, batch: &[Span]) {
        let body = document(batch, &self.node);
        let sent = self.client.post(&self.url).json(&body).send().await;
        let refused = sent.and_then(reqwest::Response::error_for_status).err();
        if let Some(error) = refused {
            let error = error.without_url();
            tracing::warn!(%error, spans = batch.len(), "Span export failed");
        }
    }
}

fn document(batch: &[Span], node: &str) -> Value {
    let resource = [("service.name", "podo"), ("service.instance.id", node)];
    let resource: Vec<Value> = resource.iter().map(|(key, value)| text(key, value)).collect();
    let spans: Vec<Value> = batch.iter().map(span_in).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "podo" }, "spans": spans }],
    }] })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn span_in(span: &Span) -> Value {
    let start_us = u128::try_from(span.started_at.ms()).unwrap_or(0) * 1_000;
    let end_us = start_us + u128::from(span.took_us);
    let attributes: Vec<Value> =
        span.attributes.iter().map(|(key, value)| text(key, value)).collect();
    let kind = match span.kind {
        SpanKind::Server => 2,
        SpanKind::Consumer => 5,
    };
    json!({
        "traceId": format!("{:032x}", span.at.trace),
        "spanId": format!("{:016x}", span.at.span),
        "parentSpanId": span.parent.map_or(String::new(), |parent| format!("{parent:016x}")),
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": (start_us * 1_000).to_string(),
        "endTimeUnixNano": (end_us * 1_000).to_string(),
        "attributes": attributes,
        "status": { "code": if span.is_failed { 2 } else { 0 } },
    })
}
