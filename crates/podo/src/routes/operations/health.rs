//! Liveness and metrics.

pub(crate) use crate::routes::operations::ready::readyz;

use crate::jobs::Job;
use crate::routes::App;
use crate::telemetry::{InvariantLabel, JobLabel, KindLabel, ScheduleLabel, WorkerLabel};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use podo_app::catalog::port::ScheduleRecord;
use podo_domain::Timestamp;
use podo_domain::booking::reconciliation::Kind;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use std::sync::atomic::{AtomicU64, Ordering};

/// The process is running. Checks nothing else, so that a slow database doesn't get it killed.
pub(crate) async fn livez() -> &'static str {
    "ok"
}

pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    if let Err(error) = refresh_gauges(&app).await {
        tracing::warn!(%error, "The store does not respond; gauges are stale");
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.encode())
}

/// Gauges are read at every scrape.
async fn refresh_gauges(app: &App) -> podo_app::Result<()> {
    let (context, metrics) = (&app.context, &app.metrics);
    let now = context.now();
    count_rate_limits(app);
    let backlog = context.store.backlog().await?;
    metrics.outbox_pending.set(i64::try_from(backlog.pending).unwrap_or(i64::MAX));
    let n_paid = context.payments.purchases.load(Ordering::Relaxed);
    metrics.purchases.inner().store(n_paid, Ordering::Relaxed);
    if let Some(offset) = app.clock.offset() {
        metrics.clock_offset.set(-offset.ms as f64 / 1_000.0);
    }
    metrics.outbox_dead.set(i64::try_from(backlog.dead).unwrap_or(i64::MAX));
    let age_ms = backlog.oldest_pending_at.map_or(0, |at| now.ms() - at.ms()).max(0);
    metrics.messages.lag.set(age_ms as f64 / 1_000.0);
    metrics.messages.bus_lag.set(i64::try_from(context.messaging.bus.lag()).unwrap_or(i64::MAX));
    count_messages(app).await?;
    count_overdue(app, now).await?;
    count_reconciliation(app);
    count_broken(app).await?;
    metrics.leads.clear();
    for job in context.store.leads_of(context.node, now).await? {
        metrics.leads.get_or_create(&JobLabel { job }).set(1);
    }
    count_queues(app, now).await
}

/// The findings of the last check, on any node.
async fn count_broken(app: &App) -> podo_app::Result<()> {
    let (store, metrics) = (&app.context.store, &app.metrics);
    let n_stopped = store.stopped_sales().await?.len();
    metrics.sales_stopped.set(i64::try_from(n_stopped).unwrap_or(i64::MAX));
    let Some(report) = store.last_report().await? else { return Ok(()) };
    let findings: Vec<serde_json::Value> =
        serde_json::from_str(&report.findings).map_err(podo_app::Error::broken)?;
    metrics.invariants_broken.clear();
    for finding in findings {
        let invariant = finding["id"].as_str().unwrap_or_default().to_owned();
        let n_broken = finding["nBroken"].as_i64().unwrap_or(0);
        metrics.invariants_broken.get_or_create(&InvariantLabel { invariant }).set(n_broken);
    }
    Ok(())
}

async fn count_messages(app: &App) -> podo_app::Result<()> {
    let (context, metrics) = (&app.context, &app.metrics.messages);
    // Topics without dead letters show zero, so that an alert can resolve.
    metrics.dead_letters.clear();
    let names = podo_app::messaging::workers::ALL.iter().map(|worker| worker.name());
    for worker in names.chain([podo_app::messaging::port::dead_letters::RELAY]) {
        metrics.dead_letters.get_or_create(&WorkerLabel { worker: worker.to_owned() }).set(0);
    }
    for (worker, n_open) in context.store.open_dead_letters().await? {
        let n_open = i64::try_from(n_open).unwrap_or(i64::MAX);
        metrics.dead_letters.get_or_create(&WorkerLabel { worker }).set(n_open);
    }
    for (worker, tally) in context.messaging.worker_rounds.all() {
        let label = WorkerLabel { worker: worker.to_owned() };
        let set = |family: &Family<WorkerLabel, Counter>, number: u64| {
            family.get_or_create(&label).inner().store(number, Ordering::Relaxed);
        };
        set(&metrics.consumed, tally.done);
        set(&metrics.dead_lettered, tally.failed);
    }
    for (job, tally) in context.operations.job_rounds.all() {
        let label = JobLabel { job: job.to_owned() };
        let set = |family: &Family<JobLabel, Counter>, number: u64| {
            family.get_or_create(&label).inner().store(number, Ordering::Relaxed);
        };
        set(&metrics.job_rounds, tally.rounds);
        set(&metrics.job_done, tally.done);
        set(&metrics.job_failed, tally.failed);
    }
    for run in context.store.job_runs().await? {
        let label = JobLabel { job: run.job };
        metrics.job_last.get_or_create(&label).set(run.started_at.ms() / 1_000);
    }
    Ok(())
}

/// Kinds without overdue items show zero, so that an alert can resolve.
async fn count_overdue(app: &App, now: Timestamp) -> podo_app::Result<()> {
    let (context, metrics) = (&app.context, &app.metrics.overdue);
    let overdue = context.store.overdue(now).await?;
    let kinds = [
        ("refund_due", overdue.refunds_due),
        ("payment_unknown", overdue.payments_unknown),
        ("notification_undelivered", overdue.notifications),
        ("webhook_undelivered", overdue.deliveries),
    ];
    for (kind, waiting) in kinds {
        let label = KindLabel { kind };
        metrics.count.get_or_create(&label).set(i64::try_from(waiting.count).unwrap_or(i64::MAX));
        let age = waiting.oldest_at.map_or(0.0, |at| now.since(at).as_secs_f64());
        metrics.age.get_or_create(&label).set(age);
    }
    metrics.put_off.clear();
    for job in Job::ALL {
        metrics.put_off.get_or_create(&JobLabel { job: job.name().to_owned() }).set(0);
    }
    for (job, n_items) in overdue.put_off {
        let n_items = i64::try_from(n_items).unwrap_or(i64::MAX);
        metrics.put_off.get_or_create(&JobLabel { job }).set(n_items);
    }
    Ok(())
}

async fn count_queues(app: &App, now: Timestamp) -> podo_app::Result<()> {
    let (context, metrics) = (&app.context, &app.metrics);
    let gauge = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    context
        .waiting_room
        .waits
        .fetch()
        .into_iter()
        .for_each(|seconds| metrics.queue.wait.observe(seconds));
    metrics.queue.streams.set(gauge(app.streams.n_open()));
    let percent = context.operations.latency_window.percent(context.now());
    metrics.queue.admit_ratio.set(f64::from(percent) / 100.0);
    // Removes the series of finished schedules.
    for family in [&metrics.queue_waiting, &metrics.queue_active, &metrics.queue.gathered] {
        family.clear();
    }
    for family in [&metrics.queue.admitted, &metrics.queue.abandoned, &metrics.queue.expired] {
        family.clear();
    }
    let alive = context.store.schedules_alive(now).await?;
    for record in alive.iter().flat_map(ScheduleRecord::rooms) {
        let counts = context.waiting_room.queue.counts(record.schedule, now).await?;
        let label = ScheduleLabel { schedule: record.schedule.to_string() };
        metrics.queue_waiting.get_or_create(&label).set(gauge(counts.waiting));
        metrics.queue_active.get_or_create(&label).set(gauge(counts.inside));
        metrics.queue.gathered.get_or_create(&label).set(gauge(counts.gathered));
        let set = |family: &Family<ScheduleLabel, Counter>, number: u64| {
            family.get_or_create(&label).inner().store(number, Ordering::Relaxed);
        };
        set(&metrics.queue.admitted, counts.admitted);
        set(&metrics.queue.abandoned, counts.left);
        set(&metrics.queue.expired, counts.expired);
    }
    Ok(())
}

fn count_rate_limits(app: &App) {
    let (limits, metrics) = (&app.context.operations.rate_limits, &app.metrics.rate_limits);
    metrics.nodes.set(limits.n_nodes().into());
    let set = |counter: &Counter, total: &AtomicU64| {
        counter.inner().store(total.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    set(&metrics.syncs, &limits.totals.reports);
    set(&metrics.sync_failures, &limits.totals.failures);
    set(&metrics.synced_keys, &limits.totals.keys);
}

/// Copies counts that the reconciliation keeps.
fn count_reconciliation(app: &App) {
    let totals = app.context.booking.reconciliation.totals();
    let metrics = &app.metrics;
    metrics.reconcile_rounds.inner().store(totals.rounds, Ordering::Relaxed);
    let suspected = i64::try_from(totals.suspected).unwrap_or(i64::MAX);
    metrics.reconcile_suspected.set(suspected);
    for kind in Kind::ALL {
        let label = KindLabel { kind: kind.as_str() };
        let healed = totals.healed.get(&kind).copied().unwrap_or(0);
        metrics.reconcile_healed.get_or_create(&label).inner().store(healed, Ordering::Relaxed);
    }
}
