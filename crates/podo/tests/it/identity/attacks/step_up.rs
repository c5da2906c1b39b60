//! Bypassing the step-up, and reading data reserved for organisers.

use crate::identity::admin_sessions::notification;
use crate::support::client::{Api, text};
use crate::support::world::{World, accounts};
use podo_domain::identity::Role;
use serde_json::json;
use std::time::Duration;

const PASSWORD: &str = "sour green grapes";

/// An organiser whose login is too old for calls that move money or export people's data.
async fn organiser_of_this_morning(world: &World) -> Api {
    let body = json!({ "email": "boss@podo.kr", "password": PASSWORD });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    world.clock.advance(Duration::from_secs(11 * 60));
    let body = json!({ "refreshToken": text(&session, "refreshToken") });
    let session = world.stranger.post("/api/auth/refresh", &body).await.expect(200);
    world.stranger.with_token(&text(&session, "accessToken"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encoded_format_parameter_does_not_bypass_step_up_for_exports() {
    let world = World::with(&[
        ("PODO_ADMIN_EMAIL", "boss@podo.kr"),
        ("PODO_ADMIN_PASSWORD", PASSWORD),
        ("PODO_ADMIN_PROOF_MINUTES", "10"),
    ])
    .await;
    let boss = organiser_of_this_morning(&world).await;
    let spellings =
        ["format=csv", "format=%63sv", "%66ormat=csv", "%66%6fr%6dat=%63%73%76", "&format=cs%76"];
    for list in ["users", "payments", "reservations", "audit"] {
        for spelling in spellings {
            let path = format!("/api/admin/{list}?reason=an+audit&{spelling}");
            boss.get(&path).await.refused(403, "REAUTH_REQUIRED");
        }
        boss.get(&format!("/api/admin/{list}?format=%6ason")).await.expect(200);
    }
    // The control: after a step-up, each of them returns a file.
    let proof = json!({ "password": PASSWORD });
    boss.post("/api/auth/reauth", &proof).await.expect(204);
    for spelling in spellings {
        let path = format!("/api/admin/users?reason=an+audit&{spelling}");
        let file = boss.get(&path).await;
        assert_eq!((file.status, file.header("content-type")), (200, "text/csv; charset=utf-8"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_cannot_read_the_codes_of_sign_ups() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(202);
    notification(&world, "가입 확인 코드", 1).await;
    let staff = accounts(world.context(), 1, Role::Staff).await;
    let staff = world.stranger.with_token(&staff[0].1);
    staff.get("/api/admin/users").await.expect(200);
    staff.get("/api/admin/mailbox").await.refused(403, "PERMISSION_MISSING");
    staff.get("/api/admin/mailbox?limit=%31").await.refused(403, "PERMISSION_MISSING");
}
