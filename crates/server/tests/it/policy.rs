//! Who may call what: every route of the published document, by everybody, in every state of a
//! token. A route that says nothing about who may call it fails here.

use crate::client::{Answer, Api, send};
use crate::world::World;
use app::seals::Seals;
use app::sessions::{Caller, Sessions};
use domain::accounts::{ACCESS_TOKEN_LENGTH, Role};
use domain::{SessionId, UserId};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// What anybody may call without being logged in. Whatever else has no lock is a mistake.
const PUBLIC: [&str; 21] = [
    "GET /api/auth/options",
    "GET /api/auth/{provider}/callback",
    "GET /api/auth/{provider}/start",
    "GET /api/events",
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
    "POST /api/auth/login",
    "POST /api/auth/refresh",
    "POST /api/auth/signup",
    "POST /api/auth/signup/confirm",
    "POST /api/payment/return/{gateway}",
    "POST /api/payment/sandbox/{id}",
    "POST /api/payment/webhooks/{gateway}",
];

struct Route {
    method: Method,
    template: String,
    is_locked: bool,
}

impl Route {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.template)
    }

    /// The path, with an id that nobody has wherever it wants one.
    fn path(&self) -> String {
        let nobody = "0190a000-0000-7000-8000-000000000000";
        let fill =
            |part: &str| if part.starts_with('{') { nobody.to_owned() } else { part.to_owned() };
        self.template.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    async fn call(&self, api: &Api) -> Answer {
        let call = api.call(self.method.clone(), &self.path()).header("Idempotency-Key", "key");
        send(if self.method == Method::GET { call } else { call.json(&json!({})) }).await
    }
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
            routes.push(Route { method, template: template.clone(), is_locked });
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
    let platform = world.platform();
    let now = platform.now();
    let caller = Caller {
        user: UserId::new(platform.chance.id(now)),
        session: SessionId::new(platform.chance.id(now)),
        role: Role::Admin,
    };
    let jti = platform.chance.id(now);
    let ours = platform.sessions.issue(caller, jti, now);
    let hour_ago = now.minus(ACCESS_TOKEN_LENGTH + Duration::from_secs(1));
    let (head, signature) = ours.rsplit_once('.').unwrap();
    let (header, claims) = head.split_once('.').unwrap();
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0";
    let forged = [
        ("old", platform.sessions.issue(caller, jti, hour_ago)),
        ("from tomorrow", platform.sessions.issue(caller, jti, now.plus(ACCESS_TOKEN_LENGTH))),
        ("another house's", Sessions::new(&Seals::new(&[9; 32])).issue(caller, jti, now)),
        ("unsigned", format!("{unsigned}.{claims}.")),
        ("signed, but it says that it is not", format!("{unsigned}.{claims}.{signature}")),
        ("cut", ours[..ours.len() - 1].to_owned()),
        ("without a signature", format!("{header}.{claims}.")),
        ("nonsense", "nonsense".to_owned()),
    ];
    let ended = platform.sessions.issue(caller, jti, now);
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
async fn a_fan_gets_into_no_room_of_the_organisers_and_nobody_finds_what_is_not_theirs() {
    let world = World::start().await;
    let fan = world.fan().await;
    for route in routes(&world).await {
        let name = route.name();
        // A stream does not end, and who has logged out is nobody.
        if route.template.ends_with("/stream") || route.template == "/api/auth/logout" {
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
