//! The organiser's legal pages, and consent to them at sign-up.

use crate::support::client::{Answer, text};
use crate::support::world::World;
use podo_domain::identity::permissions::{Membership, TeamRole};
use serde_json::{Value, json};

const PASSWORD: &str = "sour green grapes";

async fn publish(world: &World, kind: &str, ko: &str) -> Value {
    let body = json!({ "ko": ko, "en": format!("# {kind}") });
    world.organiser.put(&format!("/api/admin/pages/{kind}"), &body).await.expect(200)
}

async fn sign_up(world: &World, email: &str, consents: Option<Value>) -> Answer {
    let mut body = json!({ "email": email, "password": PASSWORD, "name": "포도" });
    if let Some(consents) = consents {
        body["consents"] = consents;
    }
    world.stranger.post("/api/auth/signup", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn required_boxes_follow_the_published_pages_and_versions_are_kept() {
    let world = World::start().await;
    sign_up(&world, "early@podo.kr", None).await.expect(201);
    publish(&world, "terms", "# 처음").await;
    assert_eq!(publish(&world, "terms", "# 약관").await["version"], 2);
    publish(&world, "privacy", "# 개인정보").await;
    let all = json!({ "terms": true, "privacy": true, "age": true, "marketing": true });
    sign_up(&world, "fan@podo.kr", None).await.refused(422, "CONSENT_REQUIRED");
    for missing in ["terms", "privacy", "age"] {
        let mut some = all.clone();
        some[missing] = json!(false);
        let refused = sign_up(&world, "fan@podo.kr", Some(some)).await;
        refused.refused(422, "CONSENT_REQUIRED");
    }
    sign_up(&world, "fan@podo.kr", Some(all)).await.expect(201);
    let body = json!({ "email": "fan@podo.kr", "password": PASSWORD });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    let fan = world.stranger.with_token(&text(&session, "accessToken"));
    let given = fan.get("/api/users/me/consents").await.expect(200);
    let given: Vec<(String, Value)> = given["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(it, "kind"), it["version"].clone()))
        .collect();
    assert!(given.contains(&("TERMS".to_owned(), json!(2))), "{given:?}");
    assert!(given.contains(&("PRIVACY".to_owned(), json!(1))), "{given:?}");
    assert!(given.contains(&("MARKETING".to_owned(), Value::Null)), "{given:?}");
    assert_eq!(given.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_sign_up_keeps_its_consents() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    publish(&world, "terms", "# 약관").await;
    let all = json!({ "terms": true, "age": true });
    let asked = sign_up(&world, "fan@podo.kr", Some(all)).await.expect(202);
    publish(&world, "terms", "# 새 약관").await;
    let code = crate::identity::admin_sessions::notification(&world, "가입 확인 코드", 1).await;
    let code = crate::identity::admin_sessions::code_in(&code);
    let body = json!({ "signUpId": asked["signUpId"], "code": code });
    let made = world.stranger.post("/api/auth/signup/confirm", &body).await.expect(201);
    let user = text(&made, "userId").parse().unwrap();
    let kept = world.context().store.consents_of(user).await.unwrap();
    let versions: Vec<Option<u32>> = kept.iter().map(|it| it.consent.version).collect();
    assert_eq!(versions, [None, Some(1)], "the version that was shown: {kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_rendered_without_scripts_and_earlier_versions_stay() {
    let world = World::start().await;
    world.stranger.get("/terms").await.expect(404);
    world.stranger.get("/api/auth/pages/terms").await.refused(404, "NOT_FOUND");
    world.stranger.get("/api/auth/pages/nothing").await.refused(404, "NOT_FOUND");
    publish(&world, "terms", "# 제1조\n\n<script>alert(1)</script> [x](javascript:alert(1))").await;
    let page = world.stranger.get("/terms").await;
    assert!(page.text.contains("제1조") && page.text.contains("&lt;script&gt;"), "{}", page.text);
    assert!(!page.text.contains("<script>alert") && !page.text.contains("href=\"javascript"));
    publish(&world, "terms", "# 제2조").await;
    let first = world.stranger.get("/api/auth/pages/terms?version=1").await.expect(200);
    assert!(text(&first, "ko").contains("제1조"));
    let list = world.stranger.get("/api/auth/pages").await.expect(200);
    assert_eq!(list["items"], json!([{ "kind": "TERMS", "version": 2, "path": "/terms" }]));
    // The plain sign-up form asks for the same boxes.
    let form = world.stranger.get("/join").await.text;
    assert!(form.contains("name=\"terms\"") && form.contains("name=\"age\""), "{form}");
    assert!(!form.contains("name=\"privacy\""), "not published: {form}");
    let viewer = world.member(Membership::preset(TeamRole::Viewer)).await;
    let body = json!({ "ko": "x", "en": "x" });
    let refused = viewer.put("/api/admin/pages/terms", &body).await;
    refused.refused(403, "PERMISSION_MISSING");
}
