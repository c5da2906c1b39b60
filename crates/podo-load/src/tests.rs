//! Fans against a stub over real HTTP.

#[path = "tests_stub.rs"]
mod stub;

use crate::{
    Arrival, CheckoutPlan, Ending, FanAccount, FanProof, Favour, LoadPlan, PhasePart, Progress,
    Report, Step, TypeChoice, run,
};
use podo_domain::{PhaseId, ScheduleId};
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;
use stub::{PAYMENT, RESERVATION, RecordedRequest, Stub, refusal, seat_map};
use uuid::Uuid;

const SELECT: &str = "POST /api/booking/seats/select";
const PAY: &str = "POST /api/payment/wallet";
const CONFIRM: &str = "POST /api/payment/confirm";
const RELEASE: &str = "DELETE /api/booking/seats/release";

fn schedule() -> ScheduleId {
    ScheduleId::with_room_for_seats(Uuid::from_u128(7 << 64))
}

fn one_fan() -> LoadPlan {
    let poll_cap = Some(Duration::from_millis(1));
    LoadPlan { fans: 1, seats_per_fan_max: 1, poll_cap, ..LoadPlan::for_schedule(schedule()) }
}

async fn play(plan: LoadPlan, stub: &Stub) -> Report {
    let account = |fan: u32| FanAccount { access_token: format!("access-{fan}") };
    let accounts = (0..plan.fans).map(account).collect();
    run(plan, stub.target.clone(), accounts, |_| ()).await
}

#[tokio::test]
async fn a_fan_waits_looks_holds_and_pays_with_the_right_credentials() {
    let stub = Stub::start(|_| None).await;
    let report = play(one_fan(), &stub).await;
    assert_eq!((report.ended(Ending::Bought), report.unexpected), (1, 0), "{report}");
    let purchase = &report.purchases[0];
    assert_eq!(purchase.reservation_id.to_string(), RESERVATION);
    assert_eq!(purchase.payment_id.to_string(), PAYMENT);
    assert_eq!((purchase.booking_number.as_str(), purchase.seat_ids.len()), ("B-1", 1));
    let select = &stub.seen(SELECT)[0];
    assert_eq!(select.header("authorization"), "Bearer access-0");
    assert_eq!(select.header("entry-token"), "entry-1");
    let pay = &stub.seen(PAY)[0];
    assert_ne!(select.header("idempotency-key"), pay.header("idempotency-key"));
    assert_eq!(pay.body, json!({ "reservationId": RESERVATION, "amount": 150_000 }));
    for step in [Step::Enter, Step::Seats, Step::Select, Step::Pay, Step::Bought] {
        assert_eq!(report.step(step).map(|step| step.count), Some(1), "{step:?}");
    }
}

#[tokio::test]
async fn a_fan_of_a_phase_verifies_waits_in_its_room_and_pays_for_what_was_chosen() {
    let phase = PhaseId::new(Uuid::from_u128(9));
    let (verify, order) = (
        format!("POST /api/booking/phases/{phase}/verify"),
        format!("PUT /api/booking/reservations/{RESERVATION}/order"),
    );
    let (asked, chosen) = (verify.clone(), order.clone());
    let stub = Stub::start(move |seen: &RecordedRequest| match &seen.route {
        route if *route == asked => Some((200, json!({ "eligible": true }))),
        route if *route == chosen => Some((200, json!({ "amount": 120_000 }))),
        _ => None,
    })
    .await;
    let proof = Some(FanProof::Member);
    let plan = LoadPlan {
        phases: vec![PhasePart { phase, fans: 1, proof, seats: None }],
        checkout: CheckoutPlan {
            types: vec![TypeChoice { id: 3, grades: None }],
            typed_share: 1.0,
            codes: vec!["GRAPES".to_owned()],
            code_share: 1.0,
        },
        ..one_fan()
    };
    let report = play(plan, &stub).await;
    assert_eq!((report.ended(Ending::Bought), report.unexpected), (1, 0), "{report}");
    let member = json!({ "membershipNumber": "M-0", "name": "Fan 0" });
    assert_eq!(stub.seen(&verify)[0].body, member);
    assert_eq!(stub.seen("POST /api/queue/enter")[0].body["phaseId"], json!(phase));
    let seat = &stub.seen(SELECT)[0].body["seatIds"][0];
    let expected = json!({ "seats": [{ "seatId": seat, "ticketTypeId": 3 }], "code": "GRAPES" });
    assert_eq!(stub.seen(&order)[0].body, expected);
    assert_eq!(stub.seen(PAY)[0].body["amount"], 120_000);
}

#[tokio::test]
async fn a_fan_polls_with_the_place_token_until_admitted() {
    let stub = Stub::start(|seen: &RecordedRequest| {
        let waiting = json!({ "state": "WAITING", "canEnter": false, "position": 3,
            "pollAfterMs": 60_000, "token": "place-9" });
        let admitted = json!({ "state": "ADMITTED", "canEnter": true, "entryToken": "entry-9" });
        match (seen.route.as_str(), seen.nth) {
            ("POST /api/queue/enter", _) | ("GET /api/queue/status", 0..3) => Some((200, waiting)),
            ("GET /api/queue/status", _) => Some((200, admitted)),
            _ => None,
        }
    })
    .await;
    let report = play(one_fan(), &stub).await;
    assert_eq!(report.ended(Ending::Bought), 1, "{report}");
    let polls = stub.seen("GET /api/queue/status");
    assert_eq!(polls.len(), 4);
    assert!(polls.iter().all(|poll| poll.header("queue-token") == "place-9"));
    assert_eq!(stub.seen(SELECT)[0].header("entry-token"), "entry-9");
}

#[tokio::test]
async fn a_fan_who_loses_a_race_looks_again_under_a_new_key() {
    let stub = Stub::start(|seen: &RecordedRequest| match (seen.route.as_str(), seen.nth) {
        (SELECT, 0) => refusal(409, "SEAT_TAKEN"),
        _ => None,
    })
    .await;
    let report = play(LoadPlan { favour: Favour::Front, ..one_fan() }, &stub).await;
    assert_eq!((report.ended(Ending::Bought), report.unexpected), (1, 0), "{report}");
    assert_eq!(report.refusals["select 409 SEAT_TAKEN"], 1);
    let selects = stub.seen(SELECT);
    assert_ne!(selects[0].header("idempotency-key"), selects[1].header("idempotency-key"));
    assert_eq!(selects[0].body["seatIds"], json!([schedule().seat(1)]));
}

#[tokio::test]
async fn a_fan_who_loses_every_race_goes_home() {
    let lose = |seen: &RecordedRequest| {
        if seen.route == SELECT { refusal(409, "SEAT_TAKEN") } else { None }
    };
    let stub = Stub::start(lose).await;
    let report = play(LoadPlan { picks_max: 3, ..one_fan() }, &stub).await;
    assert_eq!(report.ended(Ending::LostRace), 1, "{report}");
    assert_eq!(stub.seen(SELECT).len(), 3);
}

#[tokio::test]
async fn a_busy_server_is_counted_and_asked_again_under_the_same_key() {
    let stub = Stub::start(|seen: &RecordedRequest| match (seen.route.as_str(), seen.nth) {
        (PAY, 0) => refusal(503, "UNAVAILABLE"),
        _ => None,
    })
    .await;
    let report = play(one_fan(), &stub).await;
    assert_eq!((report.ended(Ending::Bought), report.unexpected), (1, 1), "{report}");
    assert_eq!(report.refusals["pay 503 UNAVAILABLE"], 1);
    assert_eq!(report.samples[0].status, Some(503));
    let payments = stub.seen(PAY);
    assert_eq!(payments[0].header("idempotency-key"), payments[1].header("idempotency-key"));
}

#[tokio::test]
async fn a_server_that_stays_broken_is_sampled_five_times_and_no_more() {
    let stub = Stub::start(|_| refusal(500, "INTERNAL")).await;
    let report = play(LoadPlan { fans: 8, trouble_retries: 0, ..one_fan() }, &stub).await;
    assert_eq!((report.ended(Ending::Failed), report.unexpected), (8, 8), "{report}");
    assert_eq!(report.samples.len(), 5);
}

#[tokio::test]
async fn no_server_is_an_unexpected_answer_too() {
    let stub = Stub::start(|_| None).await;
    let target = stub.target.clone();
    drop(stub);
    let plan = LoadPlan { trouble_retries: 0, ..one_fan() };
    let account = FanAccount { access_token: "access".into() };
    let report = run(plan, target, vec![account], |_| ()).await;
    assert_eq!((report.ended(Ending::Failed), report.unexpected), (1, 1), "{report}");
    assert_eq!(report.samples[0].status, None);
}

#[tokio::test]
async fn an_unexpected_refusal_is_counted_as_a_surprise() {
    let teapot =
        |seen: &RecordedRequest| if seen.route == SELECT { refusal(422, "TEAPOT") } else { None };
    let stub = Stub::start(teapot).await;
    let report = play(one_fan(), &stub).await;
    assert_eq!((report.ended(Ending::Failed), report.unexpected), (1, 1), "{report}");
    assert_eq!(report.refusals["select 422 TEAPOT"], 1);
}

#[tokio::test]
async fn a_full_hall_sends_the_fan_home() {
    let stub = Stub::start(|seen: &RecordedRequest| {
        seen.route.ends_with("/seats").then(|| (200, seat_map("SSHS")))
    })
    .await;
    let report = play(one_fan(), &stub).await;
    assert_eq!((report.ended(Ending::SoldOut), report.unexpected), (1, 0), "{report}");
}

#[tokio::test]
async fn a_fan_who_changes_their_mind_gives_the_seats_back() {
    let stub = Stub::start(|_| None).await;
    let report = play(LoadPlan { abandon_share: 1.0, ..one_fan() }, &stub).await;
    assert_eq!(report.ended(Ending::Abandoned), 1, "{report}");
    assert_eq!((stub.seen(RELEASE).len(), stub.seen(PAY).len()), (1, 0));
}

#[tokio::test]
async fn a_declined_card_ends_in_giving_the_seats_back() {
    let decline = |seen: &RecordedRequest| {
        if seen.route == CONFIRM { refusal(402, "PAYMENT_DECLINED") } else { None }
    };
    let stub = Stub::start(decline).await;
    let report = play(LoadPlan { decline_share: 1.0, ..one_fan() }, &stub).await;
    assert_eq!((report.ended(Ending::Declined), report.unexpected), (1, 0), "{report}");
    assert_eq!(stub.seen(CONFIRM)[0].body["paymentKey"], "key-1");
    assert_eq!(stub.seen(RELEASE).len(), 1);
}

#[tokio::test]
async fn a_fan_charges_what_the_wallet_lacks() {
    let poor = |seen: &RecordedRequest| {
        (seen.route == "GET /api/wallet").then(|| (200, json!({ "balance": 50_000 })))
    };
    let stub = Stub::start(poor).await;
    let report = play(one_fan(), &stub).await;
    assert_eq!(report.ended(Ending::Bought), 1, "{report}");
    assert_eq!(stub.seen("POST /api/wallet/charge")[0].body, json!({ "amount": 100_000 }));
}

#[tokio::test]
async fn a_payment_not_known_yet_is_asked_about() {
    let stub = Stub::start(|seen: &RecordedRequest| {
        let is_payment = seen.route == format!("GET /api/payment/{PAYMENT}");
        let status = if seen.nth == 0 { "UNKNOWN" } else { "CAPTURED" };
        match seen.route.as_str() {
            CONFIRM => Some((202, json!({ "status": "UNKNOWN", "pollAfterMs": 1 }))),
            _ if is_payment => Some((200, json!({ "status": status }))),
            _ if seen.route.contains("/reservations/") => {
                Some((200, json!({ "bookingNumber": "B-7" })))
            }
            _ => None,
        }
    })
    .await;
    let report = play(LoadPlan { card_share: 1.0, ..one_fan() }, &stub).await;
    assert_eq!(report.ended(Ending::Bought), 1, "{report}");
    assert_eq!(report.purchases[0].booking_number, "B-7");
}

#[tokio::test]
async fn fans_without_an_account_sign_up_and_log_in_first() {
    let stub = Stub::start(|_| None).await;
    let plan = LoadPlan { fans: 40, ..one_fan() };
    let account = FanAccount { access_token: "given".into() };
    let report = run(plan, stub.target.clone(), vec![account], |_| ()).await;
    assert_eq!(report.ended(Ending::Bought), 40, "{report}");
    assert_eq!(stub.seen("POST /api/auth/signup").len(), 39);
    let selects = stub.seen(SELECT);
    let n_made = selects.iter().filter(|seen| seen.header("authorization") == "Bearer made");
    assert_eq!(n_made.count(), 39);
}

#[tokio::test]
async fn a_crowd_shares_a_few_connections_and_is_reported_to_the_end() {
    let stub = Stub::start(|_| None).await;
    let mut target = stub.target.clone();
    target.connections_max = 4;
    let arrival = Arrival::Over(Duration::from_millis(300));
    let plan = LoadPlan { fans: 200, arrival, card_share: 0.5, ..one_fan() };
    let told = Mutex::new(Vec::<Progress>::new());
    let accounts = vec![FanAccount { access_token: "a".into() }; 200];
    let report = run(plan, target, accounts, |now| told.lock().unwrap().push(now)).await;
    assert_eq!((report.ended(Ending::Bought), report.unexpected), (200, 0), "{report}");
    assert!(report.elapsed_ms >= 250, "fans came over time: {} ms", report.elapsed_ms);
    let last = *told.lock().unwrap().last().unwrap();
    assert_eq!((last.fans, last.finished, last.bought), (200, 200, 200));
    assert_eq!(last.requests, report.requests);
}

#[tokio::test]
async fn a_stall_counts_for_every_fan_who_was_due_in_it_not_only_for_the_first() {
    let stall = Duration::from_millis(200);
    let stub = Stub::start(move |seen: &RecordedRequest| {
        if seen.route == "POST /api/queue/enter" && seen.nth == 0 {
            // Server and fans share this thread: everything stalls, as in a long pause of the disk.
            std::thread::sleep(stall);
        }
        None
    })
    .await;
    let plan = LoadPlan { fans: 100, arrival: Arrival::Over(stall), ..one_fan() };
    let report = play(plan, &stub).await;
    let enter = report.step(Step::Enter).unwrap();
    assert!(enter.p50_us >= 50_000, "half of the fans waited a quarter of the stall: {report}");
}
