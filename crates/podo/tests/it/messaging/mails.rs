//! E-mails as mail programs see them: parts, headers, attachments, and what they say.

use crate::support::client::{send, text};
use crate::support::fan::Fan;
use crate::support::world::{PRICE, Plan, Show, World, until};
use mail_parser::{Message, MessageParser, MimeHeaders, PartType};
use podo_testbed::MailServer;
use podo_testbed::stand_ins::post_box::ReceivedEmail;
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A server that sends mail, with an organiser's look.
pub(crate) async fn mail_world(mail: &MailServer) -> World {
    let url = mail.url();
    let settings = [
        ("PODO_SMTP_URL", url.as_str()),
        ("PODO_SMTP_FROM", "Podo <tickets@podo.example>"),
        ("PODO_CONFIRM_EMAIL", "off"),
        ("PODO_PUBLIC_URL", "https://tickets.podo.example"),
        ("PODO_BRAND_NAME", "청포도 극장"),
        ("PODO_BRAND_COLOR", "#0a7f5a"),
        ("PODO_MAIL_REPLY_TO", "help@podo.example"),
    ];
    World::with(&settings).await
}

/// Waits for the mail whose subject starts like this.
pub(crate) async fn mail_with(server: &MailServer, subject: &str) -> ReceivedEmail {
    until(subject, async || {
        let is_it = |mail: &ReceivedEmail| {
            let parsed = parse(mail);
            parsed.subject().is_some_and(|it| it.starts_with(subject))
        };
        server.emails().into_iter().find(is_it)
    })
    .await
}

pub(crate) fn parse(mail: &ReceivedEmail) -> Message<'_> {
    MessageParser::default().parse(mail.text.as_bytes()).unwrap()
}

fn n_mails(server: &MailServer, subject: &str) -> usize {
    let emails = server.emails();
    let is_it =
        |mail: &&ReceivedEmail| parse(mail).subject().is_some_and(|it| it.starts_with(subject));
    emails.iter().filter(is_it).count()
}

/// The words of a PDF.
pub(crate) fn pdf_text(pdf: &[u8]) -> String {
    let folder = tempfile::TempDir::with_prefix("podo-").unwrap();
    let file = folder.path().join("ticket.pdf");
    std::fs::write(&file, pdf).unwrap();
    let made = Command::new("pdftotext")
        .args(["-enc", "UTF-8", "-layout"])
        .arg(&file)
        .arg("-")
        .output()
        .expect("pdftotext is in the package poppler-utils");
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_is_confirmed_with_everything_that_a_fan_needs() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 2).await;
    let received = mail_with(&server, "예매가 완료되었어요").await;
    let mail = parse(&received);
    assert_eq!(mail.subject().unwrap(), "예매가 완료되었어요 · 포도 콘서트");
    assert!(mail.message_id().unwrap().ends_with("@podo.example"), "{:?}", mail.message_id());
    assert_eq!(mail.reply_to().unwrap().first().unwrap().address().unwrap(), "help@podo.example");
    assert!(mail.header("List-Unsubscribe").is_none(), "a booking is no newsletter");
    assert!(received.text.contains("multipart/alternative"), "{}", received.text);
    let (html, plain) = (mail.body_html(0).unwrap(), mail.body_text(0).unwrap());
    for part in [html.as_ref(), plain.as_ref()] {
        for words in ["포도 콘서트", "포도 아레나", "대극장", "A-3", "50,000원", "신분증"]
        {
            assert!(part.contains(words), "{words}: {part}");
        }
        assert!(part.contains(&bought.booking_number), "{part}");
        assert!(part.contains("년") && part.contains("요일"), "the date is in words: {part}");
    }
    assert!(plain.contains("https://tickets.podo.example/#/tickets"), "{plain}");
    assert!(plain.contains("https://map.kakao.com/?q="), "{plain}");
    assert!(html.contains("#0a7f5a") && html.contains("청포도 극장"), "{html}");
    let files: Vec<_> = mail.attachments().collect();
    assert_eq!(files.len(), 2);
    let pdf = files[0].contents();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() <= 200_000, "{} bytes", pdf.len());
    let words = pdf_text(pdf);
    for part in ["포도 콘서트", "A-3", "VIP", "Fan", &bought.booking_number] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(files[1].attachment_name().unwrap(), format!("{}.ics", bought.booking_number));
    let PartType::Text(calendar) = &files[1].body else { panic!("{:?}", files[1].body) };
    assert!(calendar.contains("BEGIN:VEVENT"), "{calendar}");
    world.finish().await;
}

async fn move_show(world: &World, show: &Show, by: Duration) {
    let path = format!("/api/schedules/{}", show.schedule);
    let view = world.stranger.get(&path).await.expect(200);
    let later = |field: &str| {
        let at: podo_domain::Timestamp = text(&view, field).parse().unwrap();
        at.plus(by)
    };
    let body = json!({ "startsAt": later("startsAt"), "endsAt": later("endsAt") });
    let path = format!("/api/admin/schedules/{}", show.schedule);
    send(world.organiser.call(Method::PATCH, &path).json(&body)).await.expect(200);
}

async fn preview(fan: &Fan, reservation: &str) -> Value {
    let path = format!("/api/booking/reservations/{reservation}/refund");
    fan.api.get(&path).await.expect(200)
}

async fn changes(fan: &Fan) -> Vec<Value> {
    let changes = fan.api.get("/api/booking/changes").await.expect(200);
    changes["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_accepts_a_new_date_or_gets_everything_back_once() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let policy = json!({ "steps": [{ "daysBefore": 60, "feePercent": 30 },
                                   { "daysBefore": 0, "feePercent": 40 }] });
    let path = format!("/api/admin/events/{}/refund-policy", show.event);
    world.organiser.put(&path, &policy).await.expect(200);
    let (stays, leaves) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let kept = stays.buy(&show, 0).await;
    let given = leaves.buy(&show, 1).await;
    assert_eq!(preview(&leaves, &given.reservation).await["feePercent"], 30);
    assert_eq!(changes(&leaves).await, Vec::<Value>::new());
    move_show(&world, &show, 24 * HOUR).await;
    let open = changes(&leaves).await;
    assert_eq!((open.len(), &open[0]["reservationId"]), (1, &json!(given.reservation)));
    assert_ne!(open[0]["before"]["startsAt"], open[0]["after"]["startsAt"]);
    until("both are notified", async || (n_mails(&server, "공연 일정이") == 2).then_some(())).await;
    let accept =
        |reservation: &str| format!("/api/booking/reservations/{reservation}/accept-change");
    leaves.api.post(&accept(&kept.reservation), &json!({})).await.refused(404, "NOT_FOUND");
    for _again in 0..2 {
        stays.api.post(&accept(&kept.reservation), &json!({})).await.expect(204);
    }
    assert_eq!(changes(&stays).await, Vec::<Value>::new());
    assert_eq!(preview(&stays, &kept.reservation).await["feePercent"], 30);
    assert_eq!(preview(&leaves, &given.reservation).await["feePercent"], 0);
    let canceled = leaves.cancel(&given.reservation).await.expect(200);
    assert_eq!((&canceled["refundAmount"], &canceled["fee"]), (&json!(PRICE), &json!(0)));
    leaves.cancel(&given.reservation).await.refused(409, "ALREADY_CANCELED");
    leaves.api.post(&accept(&given.reservation), &json!({})).await.refused(404, "NOT_FOUND");
    assert_eq!(leaves.balance().await, PRICE);
    // A second change asks those who stayed once more.
    move_show(&world, &show, 24 * HOUR).await;
    assert_eq!(changes(&stays).await.len(), 1);
    assert_eq!(n_mails(&server, "공연 일정이"), 2, "the one who left gets no mail about it");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_venue_is_announced_only_if_the_organiser_says_so() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    fan.buy(&show, 0).await;
    let venues = world.organiser.get("/api/admin/venues").await.expect(200);
    let path = format!("/api/admin/venues/{}", text(&venues["items"][0], "id"));
    let patch =
        async |body: Value| send(world.organiser.call(Method::PATCH, &path).json(&body)).await;
    patch(json!({ "address": "올림픽로 1-1" })).await.expect(204);
    assert_eq!(changes(&fan).await, Vec::<Value>::new());
    patch(json!({ "timeZone": "Mars/Base" })).await.refused(422, "INVALID");
    patch(json!({ "name": "새 아레나", "timeZone": "Asia/Tokyo", "announce": true }))
        .await
        .expect(204);
    let received = mail_with(&server, "공연 장소가").await;
    let plain = parse(&received).body_text(0).unwrap().into_owned();
    assert!(plain.contains("→ 새 아레나") && plain.contains("(JST)"), "{plain}");
    assert_eq!(changes(&fan).await[0]["after"]["venueName"], "새 아레나");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_goes_out_once_before_the_opening_and_can_be_ended() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan { opens_in: 2 * HOUR, ..Plan::default() }).await;
    let fans = world.fans(2).await;
    let path = format!("/api/schedules/{}/reminder", show.schedule);
    for fan in &fans {
        for _again in 0..2 {
            fan.api.put(&path, &json!({})).await.expect(204);
        }
    }
    let reminders = fans[0].api.get("/api/users/me/reminders").await.expect(200);
    assert_eq!(reminders["items"], json!([show.schedule]));
    fans[1].api.delete(&path).await.expect(204);
    world.clock.advance(HOUR + HOUR / 2 + HOUR / 60);
    let received = mail_with(&server, "곧 티켓이 열려요").await;
    let mail = parse(&received);
    let header = |name: &str| mail.header_raw(name).unwrap().trim().to_owned();
    let unsubscribe = header("List-Unsubscribe");
    assert_eq!(header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    let link = unsubscribe.trim_matches(['<', '>']).replace("\r\n ", "");
    let path = link.strip_prefix("https://tickets.podo.example").unwrap();
    // As a mail program sends it: a form, without a login.
    let click = world.stranger.call(Method::POST, path);
    let click = click.header("Content-Type", "application/x-www-form-urlencoded");
    send(click.body("List-Unsubscribe=One-Click")).await.expect(204);
    world
        .stranger
        .post(&path.replace("token=", "token=A"), &json!({}))
        .await
        .refused(404, "NOT_FOUND");
    let fan = world.again(&fans[0]);
    let settings = fan.api.get("/api/users/me/notifications").await.expect(200);
    assert_eq!((&settings["reminders"], &settings["email"]), (&json!(false), &json!(true)));
    world.clock.advance(HOUR);
    let late = world.again(&fans[1]);
    let path = format!("/api/schedules/{}/reminder", show.schedule);
    late.api.put(&path, &json!({})).await.refused(409, "SALE_BEGUN");
    assert_eq!(n_mails(&server, "곧 티켓이 열려요"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_is_reminded_of_an_opening_that_was_planned_later() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let first = world.show(Plan::default()).await;
    let fans = world.fans(2).await;
    let path = format!("/api/events/{}/follow", first.event);
    for fan in &fans {
        let followed = fan.api.put(&path, &json!({})).await.expect(200);
        assert_eq!(followed["artist"], json!("청포도밴드"));
    }
    let mine = fans[0].api.get("/api/users/me/artists").await.expect(200);
    assert_eq!(mine["items"], json!(["청포도밴드"]));
    // The artist as an address writes it.
    let end = "/api/users/me/artists?artist=%EC%B2%AD%ED%8F%AC%EB%8F%84%EB%B0%B4%EB%93%9C";
    fans[1].api.delete(end).await.expect(204);
    world.show(Plan { opens_in: 2 * HOUR, ..Plan::default() }).await;
    world.clock.advance(HOUR + HOUR / 2 + HOUR / 60);
    let received = mail_with(&server, "곧 티켓이 열려요").await;
    assert!(parse(&received).header("List-Unsubscribe").is_some());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(n_mails(&server, "곧 티켓이 열려요"), 1, "not the fan who stopped");
    let unknown = "/api/events/0190a000-0000-7000-8000-000000000000/follow";
    world.again(&fans[0]).api.put(unknown, &json!({})).await.refused(404, "NOT_FOUND");
    world.stranger.put(&path, &json!({})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn ticket_holders_are_reminded_the_day_before() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    world.clock.advance(24 * HOUR * 29 + HOUR);
    let received = mail_with(&server, "내일 공연이에요").await;
    let mail = parse(&received);
    assert!(mail.body_text(0).unwrap().contains(&bought.booking_number));
    assert!(mail.header("List-Unsubscribe").is_some());
    assert_eq!(mail.attachments().count(), 2, "the tickets are at hand");
    world.clock.advance(HOUR);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(n_mails(&server, "내일 공연이에요"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_sides_of_a_transfer_are_notified() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let friend = world.fan_at("friend@podo.example").await;
    let path = format!("/api/tickets/{}/transfer", bought.ticket);
    let offer = json!({ "email": "friend@podo.example" });
    fan.api.post_new(&path, &offer).await.expect(202);
    mail_with(&server, "티켓을 보냈어요").await;
    assert_eq!(mail_with(&server, "티켓이 도착했어요").await.to, "friend@podo.example");
    let path = format!("/api/tickets/{}/accept", bought.ticket);
    friend.api.post_new(&path, &json!({})).await.expect(200);
    mail_with(&server, "티켓이 전달되었어요").await;
    let received = mail_with(&server, "이제 내 티켓이에요").await;
    let mail = parse(&received);
    assert_eq!(received.to, "friend@podo.example");
    assert_eq!(mail.attachments().count(), 2);
    let plain = mail.body_text(0).unwrap();
    assert!(!plain.contains("50,000원"), "the price is the buyer's business: {plain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_previews_every_template_and_sends_a_test() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let path = "/api/admin/mail-templates";
    let list = world.organiser.get(path).await.expect(200);
    assert_eq!(list["canSend"], true);
    for name in list["items"].as_array().unwrap() {
        for language in ["ko", "en"] {
            let path = format!("{path}/{}?language={language}", name.as_str().unwrap());
            let shown = world.organiser.get(&path).await.expect(200);
            assert!(text(&shown, "html").contains("청포도 극장"), "{shown}");
        }
    }
    world.organiser.get(&format!("{path}/nonsense")).await.refused(404, "NOT_FOUND");
    let path = format!("{path}/booking-confirmed/test");
    let sent = world.organiser.post(&path, &json!({ "language": "en" })).await.expect(200);
    assert_eq!(sent, json!({ "sent": true }));
    let received = mail_with(&server, "[TEST] Your booking is complete").await;
    assert!(parse(&received).body_html(0).unwrap().contains("SEREIN"));
    world
        .fan()
        .await
        .api
        .post(&path, &json!({ "language": "en" }))
        .await
        .refused(403, "ADMIN_ONLY");
}

/// Invitations, resets and changes of address are mails as all others are.
#[tokio::test(flavor = "multi_thread")]
async fn mails_about_accounts_have_the_organiser_s_look_and_their_own_language() {
    let server = MailServer::start().unwrap();
    let world = mail_world(&server).await;
    let password = "sour green grapes";
    let body = json!({ "email": "fan@podo.kr", "password": password, "name": "포도" });
    world.stranger.post("/api/auth/signup", &body).await.expect(201);
    let body = json!({ "email": "fan@podo.kr", "password": password });
    let session = world.stranger.post("/api/auth/login", &body).await.expect(200);
    let fan = world.stranger.with_token(&text(&session, "accessToken"));
    let forgot = async |email: &str, language: &str| {
        let call = world.stranger.call(Method::POST, "/api/auth/password/forgotten");
        let call = call.header("Accept-Language", language).json(&json!({ "email": email }));
        send(call).await.expect(202);
    };
    forgot("fan@podo.kr", "en").await;
    forgot("unknown@podo.kr", "ko").await;
    let body = json!({ "email": "gate@podo.kr", "role": "GATE" });
    world.organiser.post("/api/admin/team/invitations", &body).await.expect(201);
    let body = json!({ "email": "new@podo.kr", "password": password });
    let change = fan.post("/api/users/me/email", &body).await.expect(202);
    let code_mail = mail_with(&server, "이메일 변경 확인 코드").await;
    let code_text = parse(&code_mail).body_text(0).unwrap().into_owned();
    let code = crate::identity::admin_sessions::code_in(&code_text);
    let body = json!({ "changeId": change["changeId"], "code": code });
    fan.post("/api/users/me/email/confirm", &body).await.expect(204);
    for (subject, to, part) in [
        ("Set a new password", "fan@podo.kr", "https://tickets.podo.example/#/reset/"),
        ("이 이메일로 가입한 계정이 없어요", "unknown@podo.kr", "소셜 로그인"),
        (
            "포도 운영팀에 초대받았어요",
            "gate@podo.kr",
            "https://tickets.podo.example/admin#/invitation/",
        ),
        ("이메일 변경 확인 코드", "new@podo.kr", code.as_str()),
        ("계정의 이메일이 바뀌었어요", "fan@podo.kr", "고객센터"),
    ] {
        let received = mail_with(&server, subject).await;
        assert!(received.to.contains(to), "{subject}: {}", received.to);
        let mail = parse(&received);
        assert_eq!(
            mail.reply_to().unwrap().first().unwrap().address().unwrap(),
            "help@podo.example"
        );
        let (html, plain) = (mail.body_html(0).unwrap(), mail.body_text(0).unwrap());
        for body in [&html, &plain] {
            assert!(body.contains(part), "{subject}: {body}");
            assert!(body.contains("청포도 극장"), "{subject}: {body}");
            assert!(!body.contains("{link}"), "{subject}: {body}");
        }
        assert!(html.contains("#0a7f5a"), "{subject}: {html}");
    }
}
