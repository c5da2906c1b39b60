//! HTTP: the routes, and what every request passes.

mod accounts;
mod admin;
mod answer;
mod booking;
mod catalog;
mod cookies;
mod csv;
mod document;
mod edge;
mod email_proof;
mod error;
mod extract;
mod health;
mod identity;
mod language;
mod notifications;
mod payment;
mod plain;
mod problems;
mod profile;
mod queue;
mod refunds;
mod reports;
mod sandbox;
mod seats;
mod second_factor;
mod signals;
mod social;
mod standby;
mod tickets;
mod wallet;
mod webhooks;

use crate::assets;
use crate::booking_list::BookingLists;
use crate::jobs::Job;
use crate::layouts::Layouts;
use crate::proxies::Proxies;
use crate::roles::Roles;
use crate::seat_feed::SeatFeed;
use crate::shares::Shares;
use crate::simulation::Simulation;
use crate::streams::Streams;
use crate::tasks::Tasks;
use crate::telemetry::Metrics;
use crate::web::Patience;
use adapters::gateways::sandbox::Sandbox;
use app::Platform;
use app::clock::SyncedClock;
use axum::Router;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use edge::{Room, network_of};

pub use edge::{
    Ask, Edge, Headers, RequestId, Told, Tracing, Wish, schedule_in_body, schedule_in_query,
    seats_in_body,
};
pub use error::{ApiError, problem_codes};

/// What handlers share.
pub struct Shared {
    pub platform: Arc<Platform>,
    pub clock: Arc<SyncedClock>,
    /// `None` where real money is taken.
    pub sandbox: Option<Arc<Sandbox>>,
    pub tasks: Tasks,
    pub metrics: Metrics,
    pub layouts: Layouts,
    pub booking_lists: BookingLists,
    pub seat_feed: Arc<SeatFeed>,
    pub streams: Arc<Streams>,
    pub simulation: Arc<Simulation>,
    /// Where this node listens.
    pub address: SocketAddr,
    pub requests_per_second_per_ip: u32,
    pub requests_per_minute_per_user: u32,
    pub connections_per_ip: u32,
    /// Streams that addresses listen to.
    pub streams_open: Arc<Shares>,
    /// Bytes of answers that addresses have not taken yet.
    pub unsent: Arc<Shares>,
    pub patience: Patience,
    pub proxies: Proxies,
    /// Where fans reach us, if the settings say it: `https://podo.kr`.
    pub home: String,
    pub roles: Roles,
    /// Whether and where requests are recorded.
    pub tracing: Option<Tracing>,
    /// Whether another listener shows the metrics, so that this one does not.
    pub has_inner: bool,
    /// Every job and when it runs.
    pub jobs: Vec<(Job, String)>,
}

type App = Arc<Shared>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Podo",
        description = "Tickets for concerts that sell out in minutes: waiting room, seat map, \
                       holds, payments, wallet, tickets.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    servers((url = "/", description = "This server"))
)]
struct Document;

fn documented() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(accounts::sign_up))
        .routes(routes!(accounts::confirm_sign_up))
        .routes(routes!(accounts::reauth))
        .routes(routes!(accounts::log_in))
        .routes(routes!(accounts::refresh))
        .routes(routes!(accounts::log_out))
        .routes(routes!(profile::me))
        .routes(routes!(profile::change))
        .routes(routes!(profile::change_password))
        .routes(routes!(profile::withdraw))
        .routes(routes!(profile::logins))
        .routes(routes!(profile::sessions))
        .routes(routes!(profile::end_session))
        .routes(routes!(catalog::list_events))
        .routes(routes!(catalog::show_event))
        .routes(routes!(catalog::show_schedule))
        .routes(routes!(seats::show_layout))
        .routes(routes!(seats::show_named_layout))
        .routes(routes!(seats::show_seats))
        .routes(routes!(seats::stream))
        .routes(routes!(booking::seats))
        .routes(routes!(booking::select))
        .routes(routes!(booking::best))
        .routes(routes!(booking::release))
        .routes(routes!(standby::stand_by, standby::my_standby, standby::leave_standby))
        .routes(routes!(booking::my_reservations))
        .routes(routes!(booking::my_reservation))
        .routes(routes!(booking::cancel))
        .routes(routes!(payment::gateways))
        .routes(routes!(payment::request))
        .routes(routes!(payment::confirm))
        .routes(routes!(payment::cancel))
        .routes(routes!(payment::my_payment))
        .routes(routes!(sandbox::choose))
        .merge(email_proof::routes())
        .merge(identity::routes())
        .merge(second_factor::routes())
        .merge(signals::routes())
        .merge(social::routes())
        .merge(notifications::routes())
        .merge(refunds::routes())
        .merge(webhooks::routes())
        .merge(wallet::routes())
        .merge(tickets::routes())
        .merge(reports::routes())
        .merge(queue::routes())
        .merge(admin::routes())
}

/// The OpenAPI document, made from the handlers.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = documented().to_openapi();
    document.info.version = crate::telemetry::VERSION.to_owned();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("accessToken", SecurityScheme::Http(bearer));
    document::polish(document)
}

fn health() -> Router<App> {
    Router::new()
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/healthz", get(health::readyz))
}

fn metrics() -> Router<App> {
    Router::new().route("/metrics", get(health::metrics))
}

/// What is for operators only, on a listener of its own.
fn inner_router(shared: App) -> Router {
    health()
        .merge(metrics())
        .fallback(async || ApiError::no_route())
        .method_not_allowed_fallback(error::method_not_allowed)
        .with_state(shared)
}

/// Everything that this process answers, behind the edge.
fn router(shared: App) -> Router {
    let (api, _) = documented().split_for_parts();
    let metrics = if shared.has_inner { Router::new() } else { metrics() };
    api.merge(health())
        .merge(metrics)
        .route("/problems", get(problems::show))
        .route("/api/openapi.json", get(document::show))
        .route("/api/layout.schema.json", get(admin::layout_schema))
        .merge(plain::routes())
        .fallback(assets::serve)
        .method_not_allowed_fallback(error::method_not_allowed)
        .with_state(shared)
}
