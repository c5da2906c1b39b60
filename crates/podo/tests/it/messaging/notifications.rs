//! Notifications by e-mail, SMS and push, to fakes that speak the real protocols.

use crate::messaging::messages::{confirmed, one_seat};
use crate::support::client::{Api, text};
use crate::support::world::{Plan, World, until};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mail_parser::MessageParser;
use podo_app::messaging::envelope::encode;
use podo_testbed::stand_ins::post_box::{Received, ReceivedEmail};
use podo_testbed::{MailServer, PostBox};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The fake of SNS and Google: token, push, SMS.
fn provider(received: &Received) -> (u16, String) {
    match received.path.as_str() {
        "/token" => (200, json!({ "access_token": "granted", "expires_in": 3600 }).to_string()),
        "/v1/projects/podo/messages:send" if received.body.contains("old-phone") => {
            let detail = json!({ "errorCode": "UNREGISTERED" });
            (404, json!({ "error": { "status": "NOT_FOUND", "details": [detail] } }).to_string())
        }
        "/v1/projects/podo/messages:send" => (200, json!({ "name": "1" }).to_string()),
        _ => (200, "<PublishResponse><MessageId>1</MessageId></PublishResponse>".to_owned()),
    }
}

/// A service account with its own key; the test keeps the public key.
fn service_account(folder: &TempDir, home: &str) -> String {
    let key = folder.path().join("key.pem");
    let made = Command::new("openssl")
        .args(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out"])
        .arg(&key)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let account = json!({
        "project_id": "podo",
        "client_email": "podo@podo.iam.example",
        "private_key": std::fs::read_to_string(&key).unwrap(),
        "token_uri": format!("{home}/token"),
    });
    let file = folder.path().join("account.json");
    std::fs::write(&file, account.to_string()).unwrap();
    file.display().to_string()
}

/// Whether the assertion in a token request was signed with the account's key.
fn is_signed(folder: &TempDir, assertion: &str) -> bool {
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("signed"), signed).unwrap();
    std::fs::write(file("signature"), URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let mut verify = Command::new("openssl");
    verify.args(["dgst", "-sha256", "-prverify"]).arg(file("key.pem"));
    verify.arg("-signature").arg(file("signature")).arg(file("signed"));
    verify.output().unwrap().status.success()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_goes_out_once_over_every_channel_that_the_fan_wants() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let (mail, provider) = (MailServer::start().unwrap(), PostBox::start(provider).unwrap());
    let account = service_account(&folder, &provider.url());
    let settings = [
        ("PODO_SMTP_URL", mail.url()),
        ("PODO_SMTP_FROM", "Podo <tickets@podo.example>".to_owned()),
        ("PODO_SNS_REGION", "ap-northeast-2".to_owned()),
        ("PODO_SNS_URL", provider.url()),
        ("PODO_SNS_ACCESS_KEY", "AKIDEXAMPLE".to_owned()),
        ("PODO_SNS_SECRET_KEY", "secret".to_owned()),
        ("PODO_FCM_URL", provider.url()),
        ("PODO_FCM_ACCOUNT_FILE", account),
    ];
    let settings: Vec<(&str, &str)> =
        settings.iter().map(|(key, it)| (*key, it.as_str())).collect();
    let world = World::with(&settings).await;
    let fan = world.fan().await;
    // The welcome notification goes by e-mail only.
    let path = "/api/users/me/notifications/sent";
    until("the welcome is sent", async || {
        let sent = fan.api.get(path).await.expect(200);
        (sent["items"][0]["status"] == "SENT").then_some(())
    })
    .await;
    let phone = json!({ "phone": "010-1234-5678" });
    let changed = fan.api.call(reqwest::Method::PATCH, "/api/users/me").json(&phone);
    crate::support::client::send(changed).await.expect(200);
    let wishes = json!({ "language": "en", "email": true, "sms": true, "push": true });
    fan.api.put("/api/users/me/notifications", &wishes).await.expect(200);
    for token in ["new-phone", "old-phone"] {
        fan.api.post("/api/users/me/devices", &json!({ "token": token })).await.expect(201);
    }
    // The mail server first responds with a temporary error.
    mail.put_off(1);
    let show = world.show(Plan::default()).await;
    let mut data = one_seat();
    data["userId"] = json!(fan.id);
    data["seatIds"] = json!(["a", "b"]);
    data["totalAmount"] = json!(300_000);
    let message = confirmed(&world, &show, &data);
    let envelope = encode(&message).unwrap();
    let bus = &world.context().messaging.bus;
    let sent = (0..1_000).map(|_| bus.publish(&envelope));
    for sent in futures::future::join_all(sent).await {
        sent.unwrap();
    }
    let statuses = until("every channel is done", async || {
        world.clock.advance(Duration::from_secs(1));
        let sent = fan.api.get(path).await.expect(200);
        let mut sent = sent["items"].as_array().unwrap().clone();
        sent.retain(|it| it["messageId"] == message.id.to_string());
        let is_open = |it: &Value| it["status"] == "PENDING" || it["status"] == "SENDING";
        (sent.len() == 4 && !sent.iter().any(is_open)).then_some(sent)
    })
    .await;
    let mut seen: Vec<(String, String)> =
        statuses.iter().map(|it| (text(it, "channel"), text(it, "status"))).collect();
    seen.sort();
    let expected = [("EMAIL", "SENT"), ("PUSH", "FAILED"), ("PUSH", "SENT"), ("SMS", "SENT")];
    assert_eq!(seen, expected.map(|(channel, it)| (channel.to_owned(), it.to_owned())));
    check_mail(&mail);
    check_calls(&folder, &provider.received());
}

fn check_mail(mail: &MailServer) {
    let mut mails = mail.emails();
    let parse = |mail: &ReceivedEmail| {
        MessageParser::default().parse(mail.text.as_bytes()).unwrap().into_owned()
    };
    mails.retain(|mail| parse(mail).subject() == Some("Your booking is complete"));
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].to.ends_with("@podo.example"), "{mails:?}");
    let parsed = parse(&mails[0]);
    let plain = parsed.body_text(0).unwrap();
    assert!(plain.contains("2 seats, ₩300,000 paid."), "{plain}");
    assert!(parsed.message_id().is_some());
}

fn check_calls(folder: &TempDir, received: &[Received]) {
    let of =
        |path: &str| -> Vec<&Received> { received.iter().filter(|it| it.path == path).collect() };
    let sms = of("/");
    assert_eq!(sms.len(), 1, "one SMS");
    assert!(sms[0].body.contains("PhoneNumber=%2B82101234567"), "{}", sms[0].body);
    let signed = sms[0].header("authorization");
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{signed}");
    assert!(signed.contains("/ap-northeast-2/sns/aws4_request"), "{signed}");
    let pushes = of("/v1/projects/podo/messages:send");
    assert_eq!(pushes.len(), 2, "one push to each device");
    assert!(pushes.iter().all(|it| it.header("authorization") == "Bearer granted"));
    let tokens = of("/token");
    assert_eq!(tokens.len(), 1, "the access token is kept");
    let assertion = tokens[0].body.rsplit_once("assertion=").unwrap().1;
    assert!(is_signed(folder, assertion), "{assertion}");
    let claims = URL_SAFE_NO_PAD.decode(assertion.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], "podo@podo.iam.example");
    assert_eq!(claims["scope"], "https://www.googleapis.com/auth/firebase.messaging");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_named_twice_keeps_its_id() {
    let world = World::start().await;
    let fan = world.fan().await;
    let path = "/api/users/me/devices";
    let first = fan.api.post(path, &json!({ "token": "my-phone" })).await.expect(201);
    let again = fan.api.post(path, &json!({ "token": "my-phone" })).await.expect(201);
    assert_eq!(first["id"], again["id"]);
    let other = world.fan().await;
    let theirs = other.api.post(path, &json!({ "token": "my-phone" })).await.expect(201);
    assert_ne!(first["id"], theirs["id"], "a phone that changes hands is a new device");
    let gone = format!("{path}/{}", text(&first, "id"));
    fan.api.delete(&gone).await.expect(404);
    other.api.delete(&format!("{path}/{}", text(&theirs, "id"))).await.expect(204);
}

/// NHN Cloud's Alimtalk, the credential endpoint of ECS, and SNS.
fn phone_providers(received: &Received) -> (u16, String) {
    match received.path.as_str() {
        "/role" => {
            let granted = json!({ "AccessKeyId": "ASIAROLE", "SecretAccessKey": "secret",
                "Token": "session-token", "Expiration": "2099-01-01T00:00:00Z" });
            (200, granted.to_string())
        }
        path if path.starts_with("/alimtalk/") => {
            let done = json!({ "header": { "isSuccessful": true, "resultCode": 0 },
                "message": { "requestId": "1", "sendResults": [{ "resultCode": 0 }] } });
            (200, done.to_string())
        }
        _ => (200, "<PublishResponse><MessageId>1</MessageId></PublishResponse>".to_owned()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn korean_numbers_get_an_alimtalk_and_others_a_text_message() {
    let provider = PostBox::start(phone_providers).unwrap();
    let (url, role) = (provider.url(), format!("{}/role", provider.url()));
    let settings = [
        ("PODO_ALIMTALK_URL", url.as_str()),
        ("PODO_ALIMTALK_APP_KEY", "app"),
        ("PODO_ALIMTALK_SECRET_KEY", "nhn-secret"),
        ("PODO_ALIMTALK_SENDER_KEY", "channel"),
        ("PODO_ALIMTALK_TEMPLATE_PREFIX", "P_"),
        ("PODO_ALIMTALK_FALLBACK_NUMBER", "0215771577"),
        ("PODO_SNS_REGION", "ap-northeast-2"),
        ("PODO_SNS_URL", url.as_str()),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "task"),
    ];
    let world = World::with(&settings).await;
    let show = world.show(Plan::default()).await;
    let fans = [world.fan_inside(&show).await, world.fan_inside(&show).await];
    for (fan, phone, seat) in [(&fans[0], "010-1234-5678", 0), (&fans[1], "+12025550123", 1)] {
        let changed = fan.api.call(reqwest::Method::PATCH, "/api/users/me");
        crate::support::client::send(changed.json(&json!({ "phone": phone }))).await.expect(200);
        let wishes = json!({ "language": "ko", "email": true, "sms": true, "push": true });
        fan.api.put("/api/users/me/notifications", &wishes).await.expect(200);
        fan.buy(&show, seat).await;
    }
    let received = until("both are sent", async || {
        let received = provider.received();
        let has = |words: &str| received.iter().any(|it| it.body.contains(words));
        (has("P_booking_confirmed") && has("PhoneNumber=%2B12025550123")).then_some(received)
    })
    .await;
    let talk = received.iter().find(|it| it.body.contains("P_booking_confirmed")).unwrap();
    assert_eq!(talk.path, "/alimtalk/v2.3/appkeys/app/messages");
    assert_eq!(talk.header("x-secret-key"), "nhn-secret");
    assert!(!talk.header("x-nc-api-idempotency-key").is_empty());
    let body: Value = serde_json::from_str(&talk.body).unwrap();
    assert_eq!(body["senderKey"], "channel");
    let to = &body["recipientList"][0];
    assert_eq!(to["recipientNo"], "01012345678");
    assert_eq!(to["templateParameter"]["title"], "포도 콘서트");
    assert_eq!(to["templateParameter"]["seats"], "A-1");
    assert_eq!(to["resendParameter"]["resendSendNo"], "0215771577");
    let sms = received.iter().find(|it| it.path == "/").unwrap();
    assert!(sms.body.contains("PhoneNumber=%2B12025550123"), "{}", sms.body);
    assert_eq!(sms.header("x-amz-security-token"), "session-token");
    let signed = sms.header("authorization");
    assert!(signed.contains("Credential=ASIAROLE/"), "{signed}");
    assert!(signed.contains("x-amz-security-token"), "{signed}");
    let role = received.iter().find(|it| it.path == "/role").unwrap();
    assert_eq!(role.header("authorization"), "task");
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_in_the_language_of_the_first_log_in_until_the_fan_chooses() {
    let world = World::with(&[]).await;
    let account = json!({ "email": "reader@podo.kr", "password": "green-grapes-2026" });
    let mut asked = account.clone();
    asked["name"] = json!("Reader");
    world.stranger.post("/api/auth/signup", &asked).await.expect(201);
    let log_in = async |accepted: Option<&str>| {
        let request = world.stranger.call(reqwest::Method::POST, "/api/auth/login").json(&account);
        let request = match accepted {
            Some(language) => request.header("Accept-Language", language),
            None => request,
        };
        let session = crate::support::client::send(request).await.expect(200);
        world.stranger.with_token(&text(&session, "accessToken"))
    };
    let path = "/api/users/me/notifications";
    let settings = async |api: &Api| api.get(path).await.expect(200);
    let api = log_in(None).await;
    assert_eq!(settings(&api).await["language"], "ko", "a program names no language");
    let api = log_in(Some("fr-FR, ja;q=0.5")).await;
    assert_eq!(settings(&api).await["language"], "en");
    let api = log_in(Some("ko")).await;
    assert_eq!(settings(&api).await["language"], "en", "the first log-in counts");
    let quiet = json!({ "language": "en", "email": false, "sms": true, "push": true });
    api.put(path, &quiet).await.expect(200);
    let choose = format!("{path}/language");
    api.put(&choose, &json!({ "language": "ko" })).await.expect(204);
    let now = settings(&api).await;
    assert_eq!(
        (&now["language"], &now["email"], &now["sms"]),
        (&json!("ko"), &json!(false), &json!(true))
    );
    api.put(&choose, &json!({ "language": "fr" })).await.expect(422);
    world.stranger.put(&choose, &json!({ "language": "ko" })).await.expect(401);
    world.finish().await;
}
