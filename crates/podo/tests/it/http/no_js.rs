//! The pages without JavaScript, and the caching of pages and assets.

use crate::identity::admin_sessions::{code_in, notification};
use crate::support::client::{Answer, send};
use crate::support::world::{Plan, World};
use reqwest::Method;
use serde_json::json;

async fn page(world: &World, path: &str, cookie: &str) -> Answer {
    let call = world.stranger.call(Method::GET, path);
    send(call.header("Accept", "text/html").header("Cookie", cookie)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_and_an_event_are_there_without_scripts() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let list = page(&world, "/", "").await;
    assert_eq!(list.status, 200);
    let link = list.text.split("href=\"").find(|part| part.starts_with("/events/")).unwrap();
    let address = link.split('"').next().unwrap().to_owned();
    let event = page(&world, &address, "").await;
    assert_eq!(event.status, 200);
    assert!(event.text.contains(&format!("/queue/{}", show.schedule)), "{}", event.text);
    assert!(event.text.contains("og:title"));
    let nothing = page(&world, "/events/0190a000-0000-7000-8000-000000000000", "").await;
    assert_eq!(nothing.status, 404);
    assert!(nothing.text.contains("<h1>"), "people get a page");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_waits_and_sees_tickets_without_scripts() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let settings = format!("/api/admin/schedules/{}/queue", show.schedule);
    world.organiser.put(&settings, &Plan::default().queue("PAUSED")).await.expect(200);
    let queue = format!("/queue/{}", show.schedule);
    let stranger = page(&world, &queue, "").await;
    assert!(stranger.text.contains("/enter?next=/queue/"), "{}", stranger.text);
    let body = serde_json::json!({
        "email": "plain@podo.kr", "password": "grapes-in-the-sun", "name": "김포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let cookie = log_in(&world, &queue).await;
    let door = page(&world, &queue, &cookie).await;
    assert!(door.text.contains("method=\"post\""), "{}", door.text);
    let entered = world.stranger.call(Method::POST, &queue).header("Cookie", &cookie);
    send(entered).await.expect(200);
    let waiting = page(&world, &queue, &cookie).await;
    assert!(waiting.text.contains("http-equiv=\"refresh\""), "{}", waiting.text);
    let again = page(&world, &queue, &cookie).await;
    let place = |answer: &Answer| answer.text.split("hero num\">").nth(1).unwrap()[..1].to_owned();
    assert_eq!((place(&waiting), place(&again)), ("1".to_owned(), "1".to_owned()));
    let tickets = page(&world, "/tickets", &cookie).await;
    assert_eq!(tickets.status, 200);
    assert!(!tickets.text.contains("/enter?next"), "{}", tickets.text);
}

/// The test client follows redirects and drops their cookies.
async fn log_in(world: &World, next: &str) -> String {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let form = [("email", "plain@podo.kr"), ("password", "grapes-in-the-sun"), ("next", next)];
    let address = format!("{}/enter", world.running.url());
    let answer = client.build().unwrap().post(address).form(&form).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("__Host-") && cookie.contains("HttpOnly"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

async fn send_form(world: &World, path: &str, fields: &[(&str, &str)]) -> Answer {
    send(world.stranger.call(Method::POST, path).form(fields)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_up_without_scripts_asks_for_the_mailed_code() {
    let world = World::with(&[("PODO_CONFIRM_EMAIL", "on")]).await;
    let fan = [("email", "plain@podo.kr"), ("name", "김포도"), ("next", "/tickets")];
    let common = [&fan[..], &[("password", "12345678")]].concat();
    let refused = send_form(&world, "/join", &common).await;
    assert!(refused.text.contains("너무 흔한 비밀번호예요."), "{}", refused.text);
    assert!(refused.text.contains("value=\"plain@podo.kr\""), "what was right is kept");
    let good = [&fan[..], &[("password", "grapes-in-the-sun")]].concat();
    let asked = send_form(&world, "/join", &good).await;
    let sign_up = asked.text.split("name=\"sign_up\" value=\"").nth(1).unwrap();
    let sign_up = sign_up.split('"').next().unwrap();
    let code = code_in(&notification(&world, "가입 확인 코드", 1).await);
    let confirm = async |code: &str| {
        let fields = [("sign_up", sign_up), ("code", code), ("next", "/tickets")];
        send_form(&world, "/join/confirm", &fields).await
    };
    assert!(confirm("nothing").await.text.contains("role=\"alert\""));
    let done = confirm(&code).await;
    assert!(done.text.contains("action=\"/enter\""), "{}", done.text);
    let cookie = log_in(&world, "/tickets").await;
    assert_eq!(page(&world, "/tickets", &cookie).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_password_is_set_again_without_scripts() {
    let world = World::start().await;
    let account =
        json!({ "email": "plain@podo.kr", "password": "sour green grapes", "name": "포도" });
    world.stranger.post("/api/auth/signup", &account).await.expect(201);
    let entrance = page(&world, "/enter", "").await;
    assert!(entrance.text.contains("href=\"/enter/forgotten\""), "{}", entrance.text);
    let asked = page(&world, "/enter/forgotten", "").await;
    assert!(asked.text.contains("action=\"/enter/forgotten\""), "{}", asked.text);
    let forgot =
        async |email: &str| send_form(&world, "/enter/forgotten", &[("email", email)]).await;
    let wrong = forgot("no address").await;
    assert!(wrong.text.contains("role=\"alert\"") && wrong.text.contains("no address"));
    // The page doesn't say who has an account.
    let (known, unknown) = (forgot("plain@podo.kr").await, forgot("no@podo.kr").await);
    assert_eq!(known.text, unknown.text);
    let link = notification(&world, "비밀번호를 다시 설정해 주세요", 1).await;
    let token = link.split_whitespace().last().unwrap();
    let link = format!("https://podo.example/#/reset/{token}");
    let reset = async |token: &str, password: &str| {
        send_form(&world, "/enter/reset", &[("token", token), ("password", password)]).await
    };
    let common = reset(&link, "12345678").await;
    assert!(common.text.contains("너무 흔한 비밀번호예요."), "{}", common.text);
    assert!(common.text.contains(token), "what was right is kept");
    let wrong = reset("nonsense", "grapes-in-the-sun").await;
    assert!(wrong.text.contains("role=\"alert\""), "{}", wrong.text);
    let done = reset(&link, "grapes-in-the-sun").await;
    assert!(done.text.contains("href=\"/enter\"") && !done.text.contains(token), "{}", done.text);
    assert!(reset(&link, "another-grape-2028").await.text.contains("role=\"alert\""));
    let cookie = log_in(&world, "/tickets").await;
    assert_eq!(page(&world, "/tickets", &cookie).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_on_another_site_can_neither_sign_up_nor_join_a_list() {
    let world = World::start().await;
    for path in ["/join", "/enter", "/enter/reset", "/standby/0190a000-0000-7000-8000-000000000000"]
    {
        let call = world.stranger.call(Method::POST, path).header("Origin", "https://evil.example");
        send(call.form(&[("email", "a@b.kr")])).await.refused(403, "ORIGIN_FORBIDDEN");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_are_kept_for_ever_and_pages_are_asked_for_again() {
    let world = World::start().await;
    for address in ["/", "/admin"] {
        let first = page(&world, address, "").await;
        assert_eq!(first.header("cache-control"), "no-cache");
        let tag = first.header("etag").to_owned();
        let call = world.stranger.call(Method::GET, address).header("If-None-Match", tag);
        assert_eq!(send(call).await.status, 304, "{address}");
        let part = first.text.split("src=\"").nth(1).unwrap().split('"').next().unwrap();
        let script = world.stranger.call(Method::GET, part).header("Accept-Encoding", "br");
        let script = script.send().await.unwrap();
        let header = |name: &str| script.headers()[name].to_str().unwrap().to_owned();
        assert!(header("cache-control").contains("immutable"), "{part}");
        assert_eq!(header("content-encoding"), "br");
    }
    let lost = page(&world, "/nowhere", "").await;
    assert_eq!(lost.status, 404);
    assert!(lost.header("content-type").starts_with("text/html"));
    world.stranger.get("/nowhere").await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateways_page_may_run_the_scripts_of_that_gateway_and_no_other_page_any() {
    let world = World::start().await;
    let companies = ["tosspayments.com", "portone.io", "inicis.com", "kcp.co.kr"];
    for (address, own) in [
        ("/", None),
        ("/admin", None),
        ("/pay/sandbox", None),
        ("/pay/gateway/toss", Some("tosspayments.com")),
        ("/pay/gateway/portone", Some("portone.io")),
        ("/pay/gateway/identity", Some("portone.io")),
        ("/pay/gateway/inicis", Some("inicis.com")),
        ("/pay/gateway/kcp", Some("kcp.co.kr")),
        ("/pay/gateway/stripe", Some("js.stripe.com")),
    ] {
        let answer = page(&world, address, "").await;
        assert_eq!(answer.status, 200, "{address}");
        let policy = answer.header("content-security-policy");
        for company in companies {
            assert_eq!(policy.contains(company), own == Some(company), "{address}: {policy}");
        }
        assert!(!policy.contains("script-src 'unsafe"), "{policy}");
    }
    assert_eq!(page(&world, "/pay/gateway/unknown", "").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_without_scripts_speak_the_reader_s_language() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let read = async |language: &str, path: &str| {
        let call = world.stranger.call(Method::GET, path).header("Accept-Language", language);
        send(call.header("Accept", "text/html")).await
    };
    for (language, tag, title, book) in [
        ("ja-JP,ja;q=0.9,en;q=0.5", "ja", "公演", "予約する"),
        ("zh-CN,zh;q=0.9", "zh-Hans", "演出", "购票"),
    ] {
        let list = read(language, "/").await;
        assert!(list.text.contains(&format!("<html lang=\"{tag}\">")), "{}", list.text);
        assert!(list.text.contains(&format!("<h1>{title}</h1>")), "{}", list.text);
        assert!(list.text.contains("Machine translation, not yet reviewed."));
        let event = read(language, &format!("/events/{}", show.event)).await;
        assert!(event.text.contains(book), "{}", event.text);
        let missing = read(language, "/events/0190a000-0000-7000-8000-000000000000").await;
        assert_eq!(missing.status, 404);
        // What the server refuses is English for them, and the answer says so.
        let call = world.stranger.call(Method::GET, "/api/users/me");
        let refused = send(call.header("Accept-Language", language)).await;
        assert_eq!(refused.header("content-language"), "en");
    }
    assert!(!read("en", "/").await.text.contains("Machine translation"));
}
