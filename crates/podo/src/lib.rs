//! The program `podo`: command line, settings, wiring, HTTP routes and background loops.
//!
//! [`cli`] parses the command, [`config`] reads the settings, [`bootstrap`] chooses an engine for
//! each port, and [`server`] starts the listeners and the jobs. [`http`] is what every request
//! passes: limits, sessions, problems, the OpenAPI document. [`routes`] has one module per room
//! with the handlers.
//!
//! # A route
//!
//! A handler converts HTTP to a use case of `podo-app` and back, and decides nothing itself. Its
//! arguments say who may call it; its `utoipa::path` describes it in the OpenAPI document.
//!
//! ```text
//! /// The fan's tickets, newest first.
//! #[utoipa::path(get, path = "/api/tickets", tag = "tickets", security(("accessToken" = [])),
//!     params(PageParams),
//!     responses((status = 200, body = Page<TicketView>), (status = 401, body = Problem)))]
//! pub(crate) async fn my_tickets(
//!     State(app): State<App>,
//!     Fan(caller): Fan,
//!     Params(params): Params<PageParams>,
//! ) -> ApiResult<Json<Page<TicketView>>> {
//!     let page = page(params.limit, params.cursor)?;
//!     Ok(Json(holders::my_tickets(&app.context, caller.user, page).await?))
//! }
//! ```
//!
//! Register it with `routes!(my_tickets)` in the module's `routes()`. A handler for organisers
//! takes a policy type such as `Audited<ManageEvents, OfEvent>` first and is registered with
//! `guarded!`, which doesn't compile without one. The test `identity::policy` calls every route with
//! every kind of token. CONTRIBUTING.md ("Add a route") lists the remaining files.
//!
//! The hottest calls, entering the queue, polling and selecting seats, also have a fast path in
//! front of hyper (`http/edge/fast_path.rs`) that runs the same functions.

pub mod bootstrap;
pub mod cli;
pub mod config;
pub mod http;
pub mod jobs;
pub mod routes;
pub mod server;
mod simulated_fans;
mod simulation;
pub mod telemetry;
