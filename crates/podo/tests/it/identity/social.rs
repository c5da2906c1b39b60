//! Social login, against a fake OpenID Connect provider.

use crate::identity::admin_sessions::{code_in, notification};
use crate::support::client::{Answer, Api, send, text};
use crate::support::world::World;
use podo_testbed::IdentityProvider;
use podo_testbed::stand_ins::identity_provider::{CLIENT_ID, CLIENT_SECRET, TokenFault};
use reqwest::{Client, Method, redirect};
use serde_json::{Value, json};
use std::time::Duration;

async fn world_with(provider: &IdentityProvider) -> World {
    world_with_more(provider, &[]).await
}

/// The same with more settings.
async fn world_with_more(provider: &IdentityProvider, more: &[(&str, &str)]) -> World {
    let url = provider.url();
    let settings = [
        ("PODO_PUBLIC_URL", "https://podo.example"),
        ("PODO_KAKAO_ISSUER", url.as_str()),
        ("PODO_KAKAO_CLIENT_ID", CLIENT_ID),
        ("PODO_KAKAO_CLIENT_SECRET", CLIENT_SECRET),
        ("PODO_GOOGLE_ISSUER", url.as_str()),
        ("PODO_GOOGLE_CLIENT_ID", CLIENT_ID),
        ("PODO_GOOGLE_CLIENT_SECRET", CLIENT_SECRET),
    ];
    World::with(&[&settings[..], more].concat()).await
}

/// A browser that doesn't follow redirects.
struct Browser {
    http: Client,
    url: String,
}

/// A login that the browser started.
struct Begun {
    cookie: String,
    /// The callback's query string.
    query: String,
}

impl Browser {
    fn new(world: &World) -> Browser {
        let http = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        Browser { http, url: world.running.url() }
    }

    /// Goes to the provider, where a user is logged in, and gets redirected back.
    async fn begin(&self, provider: &str) -> Begun {
        let start = format!("{}/api/auth/{provider}/start", self.url);
        let answer = send(self.http.get(start)).await;
        answer.expect(303);
        self.follow(provider, &answer, answer.header("location")).await
    }

    /// The same from the response of a call that started it.
    async fn follow(&self, provider: &str, answer: &Answer, page: &str) -> Begun {
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        let page = send(self.http.get(page)).await;
        page.expect(302);
        let back = format!("https://podo.example/api/auth/{provider}/callback?");
        let query = page.header("location").strip_prefix(&back).unwrap().to_owned();
        Begun { cookie, query }
    }

    async fn come_back(&self, provider: &str, begun: &Begun) -> Answer {
        let url = format!("{}/api/auth/{provider}/callback?{}", self.url, begun.query);
        send(self.http.get(url).header("Cookie", &begun.cookie)).await
    }

    async fn log_in(&self, provider: &str) -> Answer {
        let begun = self.begin(provider).await;
        self.come_back(provider, &begun).await
    }
}

/// The user that a response's cookies log in.
async fn me(world: &World, answer: &Answer) -> Value {
    answer.expect(303);
    assert_eq!(answer.header("location"), "/?welcome");
    let call = world.stranger.call(Method::GET, "/api/users/me");
    send(call.header("Cookie", cookies(answer))).await.expect(200)
}

/// The cookies that a response sets, as the browser sends them back.
fn cookies(answer: &Answer) -> String {
    let cookies = answer.headers.get_all("set-cookie").iter();
    let cookies: Vec<_> =
        cookies.map(|it| it.to_str().unwrap().split(';').next().unwrap()).collect();
    cookies.join("; ")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_log_in_makes_an_account_and_the_next_finds_it() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let browser = Browser::new(&world);
    let kakao_account =
        json!({ "email": "Fan@Podo.kr", "is_email_valid": true, "is_email_verified": true });
    kakao.log_in(json!({ "sub": "42", "email": "Fan@Podo.kr", "nickname": "포도팬",
        "kakao_account": kakao_account }));
    let first = me(&world, &browser.log_in("kakao").await).await;
    assert_eq!(
        (text(&first, "email"), text(&first, "name")),
        ("fan@podo.kr".into(), "포도팬".into())
    );
    kakao.log_in(json!({ "sub": "42", "email": "moved@podo.kr" }));
    let second = me(&world, &browser.log_in("kakao").await).await;
    assert_eq!(first["id"], second["id"]);
    // The same subject at another provider is another user, and so is another subject here.
    kakao.log_in(json!({ "sub": "42" }));
    let google = me(&world, &browser.log_in("google").await).await;
    assert_ne!(first["id"], google["id"]);
    assert_eq!(google["email"], "");
    // An account without a password doesn't accept an empty one.
    let body = json!({ "email": "fan@podo.kr", "password": "" });
    world.stranger.post("/api/auth/login", &body).await.refused(401, "LOGIN_FAILED");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_has_an_account_is_not_taken_over() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let body = json!({ "email": "fan@podo.kr", "password": "sour green grapes", "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    kakao.log_in(json!({ "sub": "7", "email": "fan@podo.kr", "email_verified": true }));
    let browser = Browser::new(&world);
    browser.log_in("kakao").await.refused(409, "SOCIAL_NOT_LINKED");
    // An unverified address is dropped.
    kakao.log_in(json!({ "sub": "8", "email": "fan@podo.kr", "email_verified": false }));
    let other = me(&world, &browser.log_in("kakao").await).await;
    assert_eq!(other["email"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_the_provider_has_not_verified_is_not_linked_to_an_account() {
    let service = IdentityProvider::start().unwrap();
    let url = service.url();
    let naver = [
        ("PODO_NAVER_ISSUER", url.as_str()),
        ("PODO_NAVER_CLIENT_ID", CLIENT_ID),
        ("PODO_NAVER_CLIENT_SECRET", CLIENT_SECRET),
    ];
    let world = world_with_more(&service, &naver).await;
    let browser = Browser::new(&world);
    let address = "victim@podo.kr";
    let kakao = |valid: bool, verified: bool| json!({ "email": address, "is_email_valid": valid, "is_email_verified": verified });
    // A missing claim is not a yes, and neither is an undocumented one.
    let claims = [
        ("google", json!({ "sub": "1", "email": address })),
        ("google", json!({ "sub": "2", "email": address, "email_verified": "no" })),
        ("google", json!({ "sub": "3", "email": address, "kakao_account": kakao(true, true) })),
        ("kakao", json!({ "sub": "1", "email": address })),
        ("kakao", json!({ "sub": "2", "email": address, "kakao_account": kakao(true, false) })),
        ("kakao", json!({ "sub": "3", "email": address, "kakao_account": kakao(false, true) })),
        ("naver", json!({ "sub": "1", "email": address })),
        ("naver", json!({ "sub": "2", "email": address, "email_verified": true })),
    ];
    let mut believed = Vec::new();
    for (provider, person) in claims {
        service.log_in(person.clone());
        let answer = browser.log_in(provider).await;
        // The second account with the same address is refused.
        if answer.status == 409 || me(&world, &answer).await["email"] != "" {
            believed.push(format!("{provider}: {person}"));
        }
    }
    assert!(believed.is_empty(), "{believed:#?}");
    // The control: the documented claim of each provider is trusted.
    service.log_in(json!({ "sub": "9", "email": address, "email_verified": true }));
    let account = me(&world, &browser.log_in("google").await).await;
    assert_eq!(account["email"], address);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_elsewhere_is_linked_by_who_is_logged_in_and_by_nothing_else() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let password = "sour green grapes";
    let person = |email: &str| json!({ "email": email, "password": password, "name": "포도" });
    let log_in = async |email: &str| {
        world.stranger.post("/api/auth/signup", &person(email)).await.expect(201);
        let body = json!({ "email": email, "password": password });
        let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
        world.stranger.with_token(&text(&session, "accessToken"))
    };
    let (fan, other) = (log_in("fan@podo.kr").await, log_in("other@podo.kr").await);
    let browser = Browser::new(&world);
    kakao.log_in(json!({ "sub": "7", "email": "fan@podo.kr", "email_verified": true }));
    browser.log_in("kakao").await.refused(409, "SOCIAL_NOT_LINKED");
    let right = json!({ "password": password });
    let begin = async |api: &Api, body: &Value| api.post("/api/users/me/social/kakao", body).await;
    begin(&fan, &json!({ "password": "wrong" })).await.refused(403, "PASSWORD_WRONG");
    fan.post("/api/users/me/social/naver", &right).await.refused(404, "NOT_FOUND");
    let link = async |api: &Api| {
        let answer = begin(api, &right).await;
        let begun = browser.follow("kakao", &answer, &text(&answer.expect(200), "url")).await;
        browser.come_back("kakao", &begun).await
    };
    let linked = link(&fan).await;
    linked.expect(303);
    assert_eq!(linked.header("location"), "/?linked=kakao#/me");
    let items = fan.get("/api/users/me/social").await.expect(200);
    assert_eq!(items["items"][0]["service"], "kakao");
    let me_by_kakao = me(&world, &browser.log_in("kakao").await).await;
    assert_eq!(me_by_kakao["email"], "fan@podo.kr");
    link(&fan).await.expect(303);
    link(&other).await.refused(409, "SOCIAL_TAKEN");
    // A link fails after a logout in the meantime.
    kakao.log_in(json!({ "sub": "9" }));
    let answer = begin(&other, &right).await;
    let begun = browser.follow("kakao", &answer, &text(&answer.expect(200), "url")).await;
    other.post("/api/auth/logout", &json!({})).await.expect(204);
    browser.come_back("kakao", &begun).await.refused(401, "LOGIN_REQUIRED");
    let unlink = async |api: &Api, service: &str| {
        let path = format!("/api/users/me/social/{service}");
        send(api.call(Method::DELETE, &path).json(&right)).await
    };
    unlink(&fan, "google").await.refused(404, "NOT_FOUND");
    unlink(&fan, "kakao").await.expect(204);
    kakao.log_in(json!({ "sub": "7", "email": "fan@podo.kr", "email_verified": true }));
    browser.log_in("kakao").await.refused(409, "SOCIAL_NOT_LINKED");
    // An account whose only login is Kakao keeps the link.
    kakao.log_in(json!({ "sub": "10" }));
    let only = browser.log_in("kakao").await;
    let cookies = only.headers.get_all("set-cookie").iter().map(|it| it.to_str().unwrap());
    let access = cookies.into_iter().find_map(|it| it.strip_prefix("__Host-podo_access="));
    let only = world.stranger.with_token(access.unwrap().split(';').next().unwrap());
    unlink(&only, "kakao").await.refused(409, "LAST_LOGIN");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_provider_response_starts_no_session() {
    let google = IdentityProvider::start().unwrap();
    let world = world_with(&google).await;
    let browser = Browser::new(&world);
    for fault in TokenFault::ALL {
        google.break_tokens(fault);
        let answer = browser.log_in("google").await;
        assert_eq!(answer.status, 401, "{fault:?}: {}", answer.text);
        answer.refused(401, "SOCIAL_FAILED");
        assert!(answer.headers.get("set-cookie").is_none(), "{fault:?}");
    }
    google.break_tokens(TokenFault::None);
    me(&world, &browser.log_in("google").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_browser_that_began_ends_it_and_only_once() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let browser = Browser::new(&world);
    let (mine, theirs) = (browser.begin("kakao").await, browser.begin("kakao").await);
    // An attacker injects the callback of their own login.
    let mixed = Begun { cookie: mine.cookie.clone(), query: theirs.query.clone() };
    browser.come_back("kakao", &mixed).await.refused(401, "SOCIAL_FAILED");
    let nothing = Begun { cookie: String::new(), query: mine.query.clone() };
    browser.come_back("kakao", &nothing).await.refused(401, "SOCIAL_FAILED");
    browser.come_back("google", &mine).await.refused(401, "SOCIAL_FAILED");
    me(&world, &browser.come_back("kakao", &mine).await).await;
    browser.come_back("kakao", &mine).await.refused(401, "SOCIAL_FAILED");
    let late = browser.begin("kakao").await;
    world.clock.advance(Duration::from_secs(601));
    browser.come_back("kakao", &late).await.refused(401, "SOCIAL_FAILED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_shown_the_problem_on_a_page_and_unknown_services_are_nowhere() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let call = world.stranger.call(Method::GET, "/api/auth/kakao/callback?error=access_denied");
    let browser = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
    let call = browser.execute(call.header("Accept", "text/html").build().unwrap());
    let answer = call.await.unwrap();
    assert_eq!(answer.headers()["location"], "/?problem=SOCIAL_FAILED");
    let api: &Api = &world.stranger;
    let options = api.get("/api/auth/options").await.expect(200);
    assert_eq!(
        options,
        json!({ "social": ["kakao", "google"], "identity": false,
        "confirmEmail": false })
    );
    api.get("/api/auth/naver/start").await.refused(404, "NOT_FOUND");
    api.get("/api/auth/myspace/start").await.refused(404, "NOT_FOUND");
}

/// An account without a password here gets one by the link of an e-mail, and another address by a
/// recent log-in at its service.
#[tokio::test(flavor = "multi_thread")]
async fn an_account_of_another_service_sets_a_password_and_changes_its_address() {
    let kakao = IdentityProvider::start().unwrap();
    let world = world_with(&kakao).await;
    let browser = Browser::new(&world);
    let person = json!({ "sub": "42", "email": "fan@podo.kr", "nickname": "포도팬",
        "email_verified": true, "kakao_account": { "email": "fan@podo.kr", "is_email_valid": true,
        "is_email_verified": true } });
    kakao.log_in(person.clone());
    let first = me(&world, &browser.log_in("kakao").await).await;
    assert_eq!(first["hasPassword"], false, "{first}");
    let forgot = json!({ "email": "fan@podo.kr" });
    world.stranger.post("/api/auth/password/forgotten", &forgot).await.expect(202);
    let mailed = notification(&world, "비밀번호를 다시 설정해 주세요", 1).await;
    let token = mailed.split_whitespace().last().unwrap().rsplit('/').next().unwrap();
    let body = json!({ "token": token, "password": "sweet red grapes" });
    world.stranger.post("/api/auth/password/reset", &body).await.expect(204);
    world.stranger.post("/api/auth/password/reset", &body).await.refused(404, "LINK_INVALID");
    let body = json!({ "email": "fan@podo.kr", "password": "sweet red grapes" });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    let fan = world.stranger.with_token(&text(&session, "accessToken"));
    let profile = fan.get("/api/users/me").await.expect(200);
    assert_eq!((&profile["id"], &profile["hasPassword"]), (&first["id"], &json!(true)));
    // The service still logs in to the same account.
    kakao.log_in(person);
    assert_eq!(me(&world, &browser.log_in("kakao").await).await["id"], first["id"]);

    kakao.log_in(json!({ "sub": "77", "nickname": "청포도" }));
    let answer = browser.log_in("kakao").await;
    let other = me(&world, &answer).await;
    assert_eq!((&other["email"], &other["hasPassword"]), (&json!(""), &json!(false)));
    let call = async |path: &str, body: &Value| {
        let call = world.stranger.call(Method::POST, path).header("Cookie", cookies(&answer));
        send(call.json(body)).await
    };
    let body = json!({ "email": "other@podo.kr", "password": "" });
    let change = call("/api/users/me/email", &body).await.expect(202);
    let code = code_in(&notification(&world, "이메일 변경 확인 코드", 1).await);
    let body = json!({ "changeId": change["changeId"], "code": code });
    call("/api/users/me/email/confirm", &body).await.expect(204);
    let changed = me(&world, &answer).await;
    assert_eq!((&changed["id"], &changed["email"]), (&other["id"], &json!("other@podo.kr")));
    assert_eq!(changed["emailVerified"], true);
    // Later the log-in is no proof any more.
    world.clock.advance(Duration::from_secs(11 * 60));
    let body = json!({ "email": "third@podo.kr", "password": "" });
    call("/api/users/me/email", &body).await.refused(403, "PASSWORD_WRONG");
}
