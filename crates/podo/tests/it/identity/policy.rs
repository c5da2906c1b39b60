//! Permissions: every documented route, by every role, with every state of a token. A route without
//! a declared policy fails here.

#[path = "policy/events.rs"]
mod events;
#[path = "policy/own_events.rs"]
mod own_events;
#[path = "policy/roles.rs"]
mod roles;

use crate::support::client::{Answer, Api, send};
use crate::support::world::World;
use podo_app::identity::keyring::Keyring;
use podo_app::identity::sessions::{Caller, Sessions};
use podo_app::operations::port::audit::{AuditQuery, AuditView};
use podo_app::store::Order;
use podo_domain::identity::permissions::Permission;
use podo_domain::identity::{ACCESS_TOKEN_LENGTH, Role};
use podo_domain::{SessionId, Timestamp, UserId};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Routes without a login. Any other route without security is a mistake.
const PUBLIC: [&str; 36] = [
    "GET /api/auth/options",
    "GET /api/auth/pages",
    "GET /api/auth/pages/{kind}",
    "GET /api/auth/{provider}/callback",
    "GET /api/auth/{provider}/start",
    "GET /api/booking/draws/{id}",
    "GET /api/booking/draws/{id}/applications",
    "GET /api/events",
    "GET /api/events/cards",
    "GET /api/events/suggestions",
    "GET /api/events/{id}",
    "GET /api/payment/gateways",
    "GET /api/payment/return/{gateway}",
    "GET /api/queue/{id}/draw",
    "GET /api/queue/{id}/progress",
    "GET /api/schedules/{id}",
    "GET /api/schedules/{id}/layout",
    "GET /api/schedules/{id}/layout/{hash}",
    "GET /api/schedules/{id}/seats",
    "GET /api/schedules/{id}/seats/stream",
    "GET /media/{file}",
    "POST /api/auth/invitation",
    "POST /api/auth/invitation/accept",
    "POST /api/auth/login",
    "POST /api/auth/password/forgotten",
    "POST /api/auth/password/reset",
    "POST /api/auth/refresh",
    "POST /api/auth/signup",
    "POST /api/auth/signup/confirm",
    "POST /api/payment/return/{gateway}",
    "POST /api/payment/sandbox/{id}",
    "POST /api/payment/sandbox/{id}/deposit",
    "POST /api/payment/webhooks/{gateway}",
    "POST /api/tickets/claim",
    "POST /api/tickets/claim/signup",
    "POST /api/users/unsubscribe",
];

struct Route {
    method: Method,
    template: String,
    is_locked: bool,
    /// The policy type in the handler's signature; organiser routes have one.
    policy: Option<String>,
    permission: Option<Permission>,
    scope: Option<String>,
}

impl Route {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.template)
    }

    /// The path, with an unknown id in each placeholder.
    fn path(&self) -> String {
        self.path_of("0190a000-0000-7000-8000-000000000000")
    }

    fn path_of(&self, id: &str) -> String {
        let fill = |part: &str| if part.starts_with('{') { id.to_owned() } else { part.to_owned() };
        self.template.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    async fn call(&self, api: &Api) -> Answer {
        self.call_at(api, &self.path()).await
    }

    async fn call_at(&self, api: &Api, path: &str) -> Answer {
        let call = api.call(self.method.clone(), path).header("Idempotency-Key", "key");
        if self.is_stream() {
            return head_of(call).await;
        }
        send(if self.method == Method::GET { call } else { call.json(&json!({})) }).await
    }

    fn is_stream(&self) -> bool {
        self.template.ends_with("/stream")
    }
}

/// The response of a stream, which has no end: its body is read only if it is a refusal.
async fn head_of(call: reqwest::RequestBuilder) -> Answer {
    let response = call.send().await.expect("the server answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = if status == 200 { String::new() } else { response.text().await.unwrap() };
    Answer { status, headers, text }
}

async fn routes(world: &World) -> Vec<Route> {
    let document = world.stranger.get("/api/openapi.json").await.expect(200);
    let mut routes = Vec::new();
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Ok(method) = method.to_uppercase().parse() else { continue };
            let is_locked = operation["security"]
                .as_array()
                .is_some_and(|locks| locks.iter().any(|lock| lock.get("accessToken").is_some()));
            let declared = &operation["x-podo-policy"];
            let policy = declared["type"].as_str().map(str::to_owned);
            let permission = declared["permission"].as_str();
            let permission = permission.map(|name| Permission::parse(name).unwrap());
            let scope = declared["scope"].as_str().map(str::to_owned);
            let template = template.clone();
            routes.push(Route { method, template, is_locked, policy, permission, scope });
        }
    }
    assert!(routes.len() > 50, "{} routes", routes.len());
    routes
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_says_who_may_call_it() {
    let world = World::start().await;
    let open = routes(&world).await.into_iter().filter(|route| !route.is_locked);
    let open: BTreeSet<String> = open.map(|route| route.name()).collect();
    let public: BTreeSet<String> = PUBLIC.iter().map(ToString::to_string).collect();
    assert_eq!(open, public);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_route_opens_only_with_a_live_token_of_ours() {
    let world = World::start().await;
    let context = world.context();
    let now = context.now();
    let caller = Caller {
        user: UserId::new(context.rng.id(now)),
        session: SessionId::new(context.rng.id(now)),
        role: Role::Admin,
    };
    let jti = context.rng.id(now);
    let ours = context.identity.sessions.issue(caller, jti, now);
    let hour_ago = now.minus(ACCESS_TOKEN_LENGTH + Duration::from_secs(1));
    let (head, signature) = ours.rsplit_once('.').unwrap();
    let (header, claims) = head.split_once('.').unwrap();
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0";
    let forged = [
        ("old", context.identity.sessions.issue(caller, jti, hour_ago)),
        (
            "from tomorrow",
            context.identity.sessions.issue(caller, jti, now.plus(ACCESS_TOKEN_LENGTH)),
        ),
        ("another house's", Sessions::new(&Keyring::new(&[9; 32])).issue(caller, jti, now)),
        ("unsigned", format!("{unsigned}.{claims}.")),
        ("signed, but it says that it is not", format!("{unsigned}.{claims}.{signature}")),
        ("cut", ours[..ours.len() - 1].to_owned()),
        ("without a signature", format!("{header}.{claims}.")),
        ("nonsense", "nonsense".to_owned()),
    ];
    let ended = context.identity.sessions.issue(caller, jti, now);
    let ended = world.stranger.with_token(&ended);
    ended.post("/api/auth/logout", &json!({})).await.expect(204);
    for route in routes(&world).await.iter().filter(|route| route.is_locked) {
        let name = route.name();
        let answer = route.call(&world.stranger).await;
        assert_eq!(code_of(&answer), (401, "LOGIN_REQUIRED".to_owned()), "{name} without a token");
        for (kind, token) in &forged {
            let answer = route.call(&world.stranger.with_token(token)).await;
            let expected = (401, "LOGIN_REQUIRED".to_owned());
            assert_eq!(code_of(&answer), expected, "{name} with a token that is {kind}");
        }
        let answer = route.call(&ended).await;
        assert!((400..500).contains(&answer.status), "{name} after logging out: {}", answer.text);
        let may_tell = ["POST /api/booking/seats/select"].contains(&name.as_str());
        assert!(may_tell || answer.status == 401, "{name} after logging out: {}", answer.text);
    }
}

fn code_of(answer: &Answer) -> (u16, String) {
    let problem: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    (answer.status, problem["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_is_refused_on_organiser_routes_and_foreign_ids_are_not_found() {
    let world = World::start().await;
    let fan = world.fan().await;
    for route in routes(&world).await {
        let name = route.name();
        // A logout would end the session.
        if route.template == "/api/auth/logout" {
            continue;
        }
        let is_organisers = route.template.starts_with("/api/admin/");
        let answer = route.call(&fan.api).await;
        assert!(answer.status < 500, "{name}: {}", answer.text);
        if is_organisers {
            assert_eq!(code_of(&answer), (403, "ADMIN_ONLY".to_owned()), "{name}");
        } else if route.method == Method::GET && route.template.contains("{id}") {
            assert_eq!(answer.status, 404, "{name}: {}", answer.text);
        }
        let answer = route.call(&world.organiser).await;
        assert!(answer.status < 500, "{name} by an organiser: {}", answer.text);
    }
}

/// Undocumented routes, which the tests above don't call. None of them shows personal data without
/// that person's session.
const UNDOCUMENTED: [&str; 22] = [
    "/",
    "/api/layout.schema.json",
    "/api/openapi.json",
    "/business",
    "/enter",
    "/enter/forgotten",
    "/enter/reset",
    "/events/{id}",
    "/healthz",
    "/join",
    "/join/confirm",
    "/livez",
    "/metrics",
    "/privacy",
    "/problems",
    "/queue/{id}",
    "/queue/{id}/apply",
    "/queue/{id}/verify",
    "/readyz",
    "/standby/{id}",
    "/terms",
    "/tickets",
];

/// All paths that the code registers manually instead of through utoipa.
fn registered_by_hand(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut registered_by_hand(&path));
            continue;
        }
        if path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let code = std::fs::read_to_string(&path).unwrap();
        for other in [".nest(", ".nest_service(", ".route_service("] {
            assert!(!code.contains(other), "{}: this test does not read {other}", path.display());
        }
        for call in code.split(".route(").skip(1) {
            let text = call.trim_start().strip_prefix('"').and_then(|text| text.split_once('"'));
            let (route, _) = text.unwrap_or_else(|| panic!("{}: not a literal", path.display()));
            found.insert(route.to_owned());
        }
    }
    found
}

#[test]
fn a_route_outside_the_document_is_a_known_one() {
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(registered_by_hand(&code), set(&UNDOCUMENTED));
}

const ADMIN: &str = "/api/admin/";

/// Routes that need a recent login. One that leaves this list moves money with an old login.
const RECENT_AUTH: [&str; 11] = [
    "DELETE /api/admin/team/{id}",
    "POST /api/admin/events/{id}/cancel",
    "POST /api/admin/keys",
    "POST /api/admin/payments/{id}/refund",
    "POST /api/admin/payments/{id}/refunds/{refund}/resolve",
    "POST /api/admin/payments/{id}/resolve",
    "POST /api/admin/schedules/{id}/cancel",
    "POST /api/admin/team/invitations",
    "POST /api/admin/users/{id}/wallet",
    "PUT /api/admin/team/{id}",
    "PUT /api/admin/users/{id}/role",
];

/// Routes that are not audited: they change nothing and show no personal data.
const UNAUDITED: &[&str] = &[
    "GET /api/admin/events",
    "GET /api/admin/events/{id}",
    "GET /api/admin/events/{id}/refund-policy",
    "GET /api/admin/events/{id}/settlement",
    "GET /api/admin/events/{id}/settlement.csv",
    "GET /api/admin/gate/shows",
    "GET /api/admin/halls/{id}/gates",
    "GET /api/admin/halls/{id}/template",
    "GET /api/admin/jobs",
    "GET /api/admin/mail-templates",
    "GET /api/admin/mail-templates/{name}",
    "GET /api/admin/keys",
    "GET /api/admin/reconciliation",
    "GET /api/admin/schedules/{id}/allocations",
    "GET /api/admin/schedules/{id}/attendance",
    "GET /api/admin/schedules/{id}/cash-up",
    "GET /api/admin/schedules/{id}/phases",
    "GET /api/admin/schedules/{id}/prices",
    "GET /api/admin/schedules/{id}/price-options",
    "GET /api/admin/schedules/{id}/promotions",
    "GET /api/admin/schedules/{id}/attendance.csv",
    "GET /api/admin/schedules/{id}/gates",
    "GET /api/admin/schedules/{id}/layout",
    "GET /api/admin/schedules/{id}/course",
    "GET /api/admin/schedules/{id}/sale-report",
    "GET /api/admin/schedules/{id}/live",
    "GET /api/admin/schedules/{id}/live/stream",
    "GET /api/admin/schedules/{id}/queue",
    "GET /api/admin/schedules/{id}/refunds",
    "GET /api/admin/schedules/{id}/statistics",
    "GET /api/admin/simulation",
    "GET /api/admin/venues",
    "GET /api/admin/verify",
    "POST /api/admin/layouts/preview",
];

/// The routes with one of these policies.
fn with_policy(routes: &[Route], names: &[&str]) -> BTreeSet<String> {
    let has = |route: &&Route| route.policy.as_deref().is_some_and(|it| names.contains(&it));
    routes.iter().filter(has).map(Route::name).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_of_the_organisers_declares_its_policy() {
    let world = World::start().await;
    let routes = routes(&world).await;
    for route in &routes {
        let is_organisers = route.template.starts_with(ADMIN);
        assert_eq!(route.policy.is_some(), is_organisers, "{}: {:?}", route.name(), route.policy);
    }
    assert_eq!(with_policy(&routes, &["recent-auth"]), set(&RECENT_AUTH));
    assert_eq!(with_policy(&routes, &["allowed"]), set(UNAUDITED));
    let lists = ["audit", "payments", "reservations", "schedules/{id}/issued-orders", "users"];
    let lists = lists.map(|list| format!("GET {ADMIN}{list}"));
    assert_eq!(with_policy(&routes, &["audited-export"]), lists.into_iter().collect());
    let list = format!("GET {ADMIN}schedules/{{id}}/gate-list");
    assert_eq!(with_policy(&routes, &["audited-start"]), [list].into_iter().collect());
    let known = ["allowed", "audited", "recent-auth", "audited-export", "audited-start"];
    assert_eq!(
        with_policy(&routes, &known).len(),
        routes.iter().filter(|it| it.policy.is_some()).count()
    );
}

/// The latest entries of the audit log, by number.
async fn newest_entries(world: &World) -> Vec<AuditView> {
    let everything = AuditQuery {
        actor: None,
        action: None,
        subject: None,
        from: Timestamp::from_ms(0),
        to: Timestamp::FAR_FUTURE,
        order: Order::Newest,
        cursor: None,
        limit: 5,
    };
    podo_app::operations::audit::entries(world.context(), everything).await.unwrap().items
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_route_of_the_organisers_declares_is_what_it_does() {
    let world = World::with(&[("PODO_ADMIN_PROOF_MINUTES", "10")]).await;
    for route in routes(&world).await {
        let Some(policy) = route.policy.as_deref() else { continue };
        let name = route.name();
        let before = newest_entries(&world).await.first().map_or(0, |it| it.seq);
        let answer = route.call(&world.organiser).await;
        let asks_again = code_of(&answer).1 == "REAUTH_REQUIRED";
        assert_eq!(asks_again, policy == "recent-auth", "{name}: {}", answer.text);
        let entries = newest_entries(&world).await;
        let is_call = |it: &&AuditView| before < it.seq && it.subject.ends_with(&route.path());
        let is_noted = entries.iter().any(|it| is_call(&it));
        assert_eq!(is_noted, policy.starts_with("audited"), "{name}: {entries:?}");
        if policy == "audited-export" {
            let path = format!("{}?format=%63sv&reason=x", route.path());
            let file = world.organiser.get(&path).await;
            assert_eq!(code_of(&file), (403, "REAUTH_REQUIRED".to_owned()), "{name}");
        }
    }
}
