//! Personal data is never stored or logged in plain text (I23), and keys can be rotated.

use crate::booking::phases::presale;
use crate::messaging::mails::{mail_with, parse};
use crate::support::canary;
use crate::support::client::{Api, text};
use crate::support::fan::Fan;
use crate::support::world::{World, config};
use podo::bootstrap;
use podo_app::identity::key_rotation::reencrypt;
use podo_app::identity::port::encrypted_fields::EncryptedTable;
use podo_testbed::{Gateways, Launch, MailServer, TempDir};
use serde_json::json;
use std::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn no_personal_data_is_found_in_the_database_or_the_log() {
    let portone = Gateways::start().unwrap();
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo"));
    let settings = canary::settings(&portone);
    let launch = settings.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
    let launch = launch.env("RUST_LOG", "debug").env("PODO_CONFIRM_EMAIL", "on");
    let mut podo = launch.start().unwrap();
    let secrets = canary::live(podo.url(), &portone).await;
    // The files as a thief finds them, before any cleanup.
    podo.kill_9().unwrap();
    assert_eq!(canary::found_in(&podo.data(), &secrets), Vec::<String>::new());
    let log = podo.log_path();
    assert_eq!(canary::found_in(log.parent().unwrap(), &secrets), Vec::<String>::new());
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect(line);
        assert!(entry["timestamp"].is_string() && entry["level"].is_string(), "{line}");
    }
    // The control: the search itself works.
    std::fs::write(podo.data().join("canary"), format!("x{}y", secrets[0])).unwrap();
    assert_eq!(canary::found_in(&podo.data(), &secrets).len(), 1);
}

/// The token at the end of the link in a mail.
async fn mailed_token(server: &MailServer, subject: &str, page: &str) -> String {
    let received = mail_with(server, subject).await;
    let mail = parse(&received);
    let words = mail.body_text(0).unwrap().into_owned();
    let found = words.split(page).nth(1).unwrap_or_else(|| panic!("{page} in {words}"));
    found.split_whitespace().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_mailed_link_is_in_no_log_and_no_file() {
    let server = MailServer::start().unwrap();
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo"))
        .env("RUST_LOG", "trace")
        .env("PODO_SMTP_URL", server.url())
        .env("PODO_SMTP_FROM", "Podo <tickets@podo.example>")
        .env("PODO_PUBLIC_URL", "https://tickets.podo.example")
        .env("PODO_CONFIRM_EMAIL", "off");
    let launch = canary::BOSS.iter().fold(launch, |launch, (name, it)| launch.env(name, *it));
    let mut podo = launch.start().unwrap();
    let stranger = Api::at(podo.url());
    let boss = canary::boss(&stranger).await;
    let account =
        json!({ "email": "fan@podo.kr", "password": "sour green grapes", "name": "포도" });
    let user = text(&stranger.post("/api/auth/signup", &account).await.expect(201), "userId");
    let session = json!({ "email": "fan@podo.kr", "password": "sour green grapes" });
    let session = stranger.post("/api/auth/login", &session).await.expect(200);
    let fan = stranger.with_token(&text(&session, "accessToken"));
    canary::buy(&boss, Fan { id: user.parse().unwrap(), api: fan.clone() }).await;
    let tickets = fan.get("/api/tickets").await.expect(200);
    let offer = format!("/api/tickets/{}/transfer", text(&tickets["items"][0], "id"));
    fan.post_new(&offer, &json!({ "email": "friend@podo.kr" })).await.expect(202);
    let claim = mailed_token(&server, "티켓을 받아 주세요", "/#/claim/").await;
    let body = json!({ "email": "gate@podo.kr", "role": "GATE" });
    boss.post("/api/admin/team/invitations", &body).await.expect(201);
    let invitation =
        mailed_token(&server, "포도 운영팀에 초대받았어요", "/admin#/invitation/").await;
    let body = json!({ "email": "fan@podo.kr" });
    stranger.post("/api/auth/password/forgotten", &body).await.expect(202);
    let reset = mailed_token(&server, "비밀번호를 다시 설정해 주세요", "/#/reset/").await;
    // Each is used as its page uses it, first with a mistake.
    for (path, token) in [
        ("/api/auth/invitation", &invitation),
        ("/api/tickets/claim", &claim),
        ("/api/auth/password/reset", &reset),
    ] {
        let cut = json!({ "token": token[..token.len() - 1], "password": "sweet red grapes" });
        assert!(stranger.post(path, &cut).await.status >= 400, "{path} with a cut token");
    }
    let of = |token: &str| json!({ "token": token });
    stranger.post("/api/auth/invitation", &of(&invitation)).await.expect(200);
    stranger.post("/api/tickets/claim", &of(&claim)).await.expect(200);
    let new = json!({ "token": reset, "password": "sweet red grapes" });
    stranger.post("/api/auth/password/reset", &new).await.expect(204);
    podo.kill_9().unwrap();
    let log = podo.log_path();
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("\"DEBUG\""), "the log is at its most talkative");
    let secrets = [claim, invitation, reset];
    for folder in [log.parent().unwrap(), &podo.data()] {
        assert_eq!(canary::found_in(folder, &secrets), Vec::<String>::new());
    }
    // The control: the search itself works.
    std::fs::write(podo.data().join("canary"), &secrets[2]).unwrap();
    assert_eq!(canary::found_in(&podo.data(), &secrets).len(), 1);
}

/// The numbers of the keys that encrypted the names in a database.
fn key_numbers(data: &std::path::Path) -> Vec<u8> {
    key_numbers_of(data, "select distinct substr(name, 1, 1) from users")
}

fn key_numbers_of(data: &std::path::Path, sql: &str) -> Vec<u8> {
    let database = rusqlite::Connection::open(data.join("podo.db")).unwrap();
    let mut rows = database.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
    rows.query_map([], read).unwrap().map(|bytes| bytes.unwrap()[0]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_of_personal_fields_can_be_changed() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let (first, second) = ("11".repeat(32), "22".repeat(32));
    let with = |keys: &[(&str, &str)]| {
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
        keys.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).start().unwrap()
    };
    let mut podo = with(&[]);
    let api = Api::at(podo.url());
    for number in 0..5 {
        let body = json!({ "email": format!("fan{number}@podo.kr"), "name": "김포도",
            "password": "sour green grapes", "phone": "010-1234-5678" });
        api.post("/api/auth/signup", &body).await.expect(201);
    }
    podo.terminate().unwrap();
    assert_eq!(key_numbers(folder.path()), [1]);
    let rotate = |keys: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.env_clear().envs(keys.iter().copied()).args(["admin", "rotate-keys", "--data"]);
        let output = command.arg(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(rotate(&[]).starts_with("Re-encrypted 0 rows"));
    let printed = rotate(&[("PODO_FIELD_SECRET", &first)]);
    assert!(printed.starts_with("Re-encrypted 5 rows"), "{printed}");
    let both = [("PODO_FIELD_SECRET", &*second), ("PODO_FIELD_SECRET_PREVIOUS", &*first)];
    assert!(rotate(&both).starts_with("Re-encrypted 5 rows"));
    assert!(rotate(&both).starts_with("Re-encrypted 0 rows"), "what is done is passed over");
    let numbers = key_numbers(folder.path());
    assert!(numbers.len() == 1 && numbers[0] > 1, "{numbers:?}");
    let podo = with(&[("PODO_FIELD_SECRET", &second)]);
    let body = json!({ "email": "fan3@podo.kr", "password": "sour green grapes" });
    let session = Api::at(podo.url()).post("/api/auth/login", &body).await.expect(200);
    assert_eq!(text(&session["user"], "name"), "김포도");
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_of_the_desk_are_encrypted_with_the_new_key_too() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let (first, second) = ("11".repeat(32), "22".repeat(32));
    let with = |secret: &str| {
        let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder.path());
        let launch = canary::BOSS.iter().fold(launch, |launch, (name, it)| launch.env(name, *it));
        launch.env("PODO_FIELD_SECRET", secret).start().unwrap()
    };
    let mut podo = with(&first);
    let stranger = Api::at(podo.url());
    let boss = canary::boss(&stranger).await;
    let account =
        json!({ "email": "fan@podo.kr", "password": "sour green grapes", "name": "포도" });
    let user = text(&stranger.post("/api/auth/signup", &account).await.expect(201), "userId");
    let session = json!({ "email": "fan@podo.kr", "password": "sour green grapes" });
    let session = stranger.post("/api/auth/login", &session).await.expect(200);
    let fan = stranger.with_token(&text(&session, "accessToken"));
    canary::buy(&boss, Fan { id: user.parse().unwrap(), api: fan }).await;
    podo.terminate().unwrap();
    let fields = ["name", "phone", "note"];
    let numbers = || {
        fields.map(|field| {
            let sql = format!("select distinct substr({field}, 1, 1) from issued_orders");
            key_numbers_of(folder.path(), &sql)
        })
    };
    let before = numbers();
    let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
    let keys = [("PODO_FIELD_SECRET", &second), ("PODO_FIELD_SECRET_PREVIOUS", &first)];
    command.env_clear().envs(keys).args(["admin", "rotate-keys", "--data"]);
    let output = command.arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (old, new) in before.iter().zip(numbers()) {
        assert!(old.len() == 1 && new.len() == 1 && *old != new, "{old:?} → {new:?}");
    }
    let podo = with(&second);
    let boss = canary::boss(&Api::at(podo.url())).await;
    let query = serde_urlencoded::to_string([("query", canary::CUSTOMER)]).unwrap();
    let found = boss.get(&format!("/api/admin/support/search?{query}")).await.expect(200);
    assert_eq!(found["bookings"][0]["customer"], canary::CUSTOMER, "still found by its name");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secret_of_a_member_webhook_gets_the_new_key_and_stays_the_same() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let older = config(folder.path(), &[]);
    let world = World::on(&older, bootstrap::context(&older).await.unwrap()).await;
    let (show, [phase, _]) = presale(&world, "MEMBERS").await;
    let path = format!("/api/admin/phases/{phase}/member-webhook");
    let body = json!({ "url": "https://club.podo.example/" });
    let secret = text(&world.organiser.put(&path, &body).await.expect(200), "secret");
    let newer = config(folder.path(), &[("PODO_FIELD_SECRET", &"11".repeat(32))]);
    let context = bootstrap::context(&newer).await.unwrap().context;
    for n_reencrypted in [1, 0] {
        let round = reencrypt(&context, EncryptedTable::PhaseWebhooks, None, 10).await.unwrap();
        assert_eq!((round.n_seen, round.n_reencrypted), (1, n_reencrypted));
    }
    let stored = context.store.member_webhook(show.schedule.phase(1)).await.unwrap().unwrap();
    assert!(context.keyring.is_current(&stored.secret));
    let place = format!("phase_webhooks.secret.{phase}");
    assert_eq!(context.keyring.decrypt(&place, &stored.secret).unwrap(), secret);
}
