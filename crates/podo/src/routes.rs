//! The routes and their shared state.

pub(crate) mod booking;
pub mod catalog;
pub(crate) mod identity;
pub(crate) mod messaging;
mod no_js;
pub(crate) mod operations;
pub(crate) mod payments;
mod tickets;
pub mod waiting_room;

use crate::config::roles::Roles;
use crate::http::address_budgets::Shares;
use crate::http::assets;
use crate::http::edge::embeds::EmbedOrigins;
use crate::http::listener::Patience;
use crate::http::proxies::Proxies;
use crate::jobs::Job;
use crate::jobs::tasks::Tasks;
use crate::routes::booking::seat_list::BookingLists;
use crate::routes::catalog::layouts::EncodedLayouts;
use crate::routes::catalog::seat_feed::SeatFeed;
use crate::routes::waiting_room::streams::Streams;
use crate::simulation::Simulation;
use crate::telemetry::Metrics;
use axum::Router;
use axum::routing::get;
use podo_adapters::gateways::sandbox::Sandbox;
use podo_app::AppContext;
use podo_app::operations::clock::SyncedClock;
use std::net::SocketAddr;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use crate::http::edge::{Room, network_of};

pub use crate::http::edge::{Edge, RequestId, Tracing};
pub use crate::http::problem::{ApiError, problem_codes};

/// State shared by all handlers.
pub struct AppState {
    pub context: Arc<AppContext>,
    pub clock: Arc<SyncedClock>,
    /// `None` if the node takes real money.
    pub sandbox: Option<Arc<Sandbox>>,
    pub tasks: Tasks,
    pub metrics: Metrics,
    pub layouts: EncodedLayouts,
    pub booking_lists: BookingLists,
    pub seat_feed: Arc<SeatFeed>,
    pub streams: Arc<Streams>,
    pub simulation: Arc<Simulation>,
    /// The address this node listens on.
    pub address: SocketAddr,
    pub requests_per_second_per_ip: u32,
    pub requests_per_minute_per_user: u32,
    pub gate_requests_per_second_per_ip: u32,
    pub gate_requests_per_minute_per_user: u32,
    pub connections_per_ip: u32,
    /// Open event streams per client address.
    pub streams_open: Arc<Shares>,
    /// Bytes of responses that each client address has not read yet.
    pub unsent: Arc<Shares>,
    pub patience: Patience,
    pub proxies: Proxies,
    /// The public URL, if the settings name it: `https://podo.kr`.
    pub home: String,
    /// The organisers' own sites.
    pub embeds: EmbedOrigins,
    pub roles: Roles,
    /// Records requests as spans, if tracing is on.
    pub tracing: Option<Tracing>,
    /// Whether the admin listener serves the metrics instead of this one.
    pub has_inner: bool,
    /// Every job and when it runs.
    pub jobs: Vec<(Job, String)>,
}

pub(crate) type App = Arc<AppState>;

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
        .routes(routes!(identity::accounts::sign_up))
        .routes(routes!(identity::accounts::confirm_sign_up))
        .routes(routes!(identity::accounts::reauth))
        .routes(routes!(identity::accounts::log_in))
        .routes(routes!(identity::accounts::refresh))
        .routes(routes!(identity::accounts::log_out))
        .routes(routes!(identity::profile::me))
        .routes(routes!(identity::profile::change))
        .routes(routes!(identity::profile::change_password))
        .routes(routes!(identity::profile::withdraw))
        .routes(routes!(identity::profile::logins))
        .routes(routes!(identity::profile::sessions))
        .routes(routes!(identity::profile::end_session))
        .routes(routes!(catalog::events::list_events))
        .routes(routes!(catalog::events::list_event_cards))
        .routes(routes!(catalog::events::suggest_events))
        .routes(routes!(catalog::events::show_event))
        .routes(routes!(catalog::events::show_schedule))
        .routes(routes!(catalog::seats::show_layout))
        .routes(routes!(catalog::seats::show_named_layout))
        .routes(routes!(catalog::seats::show_seats))
        .routes(routes!(catalog::seat_stream::stream))
        .routes(routes!(booking::seats::seats))
        .routes(routes!(booking::seats::select))
        .routes(routes!(booking::seats::best))
        .routes(routes!(booking::seats::suggest))
        .routes(routes!(booking::seats::release))
        .routes(routes!(booking::phases::my_phases))
        .routes(routes!(booking::phases::verify_phase))
        .routes(routes!(
            booking::standby::stand_by,
            booking::standby::my_standby,
            booking::standby::leave_standby
        ))
        .routes(routes!(booking::seats::my_reservations))
        .routes(routes!(booking::seats::my_reservation))
        .routes(routes!(booking::seats::cancel))
        .routes(routes!(booking::order::choose_order))
        .routes(routes!(payments::checkout::gateways))
        .routes(routes!(payments::checkout::request))
        .routes(routes!(payments::checkout::pay_from_wallet))
        .routes(routes!(payments::checkout::confirm))
        .routes(routes!(payments::checkout::cancel))
        .routes(routes!(payments::checkout::my_payment))
        .routes(routes!(payments::sandbox::choose))
        .routes(routes!(payments::sandbox::deposit))
        .merge(payments::deposits::routes())
        .merge(booking::draws::routes())
        .merge(catalog::images::routes())
        .merge(identity::email_proof::routes())
        .merge(identity::certification::routes())
        .merge(identity::api_keys::routes())
        .merge(identity::legal::routes())
        .merge(identity::recovery::routes())
        .merge(identity::team::routes())
        .merge(identity::second_factor::routes())
        .merge(identity::bot_signals::routes())
        .merge(identity::social::routes())
        .merge(messaging::announcements::routes())
        .merge(messaging::notifications::routes())
        .merge(payments::refunds::routes())
        .merge(payments::receipts::routes())
        .merge(payments::gateway_webhooks::routes())
        .merge(payments::wallet::routes())
        .merge(tickets::routes())
        .merge(payments::reports::routes())
        .merge(waiting_room::queue::routes())
        .merge(operations::admin::routes())
}

/// The OpenAPI document, generated from the handlers.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = documented().to_openapi();
    document.info.version = crate::telemetry::VERSION.to_owned();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("accessToken", SecurityScheme::Http(bearer));
    crate::http::openapi::polish(document)
}

fn health() -> Router<App> {
    Router::new()
        .route("/livez", get(operations::health::livez))
        .route("/readyz", get(operations::health::readyz))
        .route("/healthz", get(operations::health::readyz))
}

fn metrics() -> Router<App> {
    Router::new().route("/metrics", get(operations::health::metrics))
}

/// The routes of the admin listener, for operators only.
pub(crate) fn inner_router(state: App) -> Router {
    health()
        .merge(metrics())
        .fallback(async || ApiError::no_route())
        .method_not_allowed_fallback(crate::http::problem::method_not_allowed)
        .with_state(state)
}

/// All routes of this process, behind the edge.
pub(crate) fn router(state: App) -> Router {
    let (api, _) = documented().split_for_parts();
    let metrics = if state.has_inner { Router::new() } else { metrics() };
    api.merge(health())
        .merge(metrics)
        .route("/problems", get(crate::http::problem::page::show))
        .route("/api/openapi.json", get(crate::http::openapi::show))
        .route("/api/layout.schema.json", get(operations::admin::layout_schema))
        .merge(no_js::routes())
        .fallback(assets::serve)
        .method_not_allowed_fallback(crate::http::problem::method_not_allowed)
        .with_state(state)
}
