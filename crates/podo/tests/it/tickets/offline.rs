//! Gates without a network: the list, and scans that are sent later.

use super::{check_in, code_of, scan};
use crate::support::world::{Plan, World};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use uuid::Uuid;

fn offline_scan(id: u128, ticket: &str, gate: &str) -> Value {
    json!({ "id": Uuid::from_u128(id), "ticketId": ticket, "gate": gate,
            "scannedAt": "2026-01-01T00:00:00Z" })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_verifies_codes_without_the_server() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let (ticket, canceled) = (fan.buy(&show, 0).await, other.buy(&show, 1).await);
    other.cancel(&canceled.reservation).await.expect(200);
    let path = format!("/api/admin/schedules/{}/gate-list", show.schedule);
    fan.api.get(&path).await.refused(403, "ADMIN_ONLY");
    let list = world.organiser.get(&path).await.expect(200);
    let [line] = list["items"].as_array().unwrap().as_slice() else { panic!("{list}") };
    assert_eq!(line["ticketId"], ticket.ticket.as_str());
    assert!(line["email"].is_null() && line["phone"].is_null(), "{line}");
    let key = URL_SAFE_NO_PAD.decode(line["key"].as_str().unwrap()).unwrap();
    let code = code_of(&world, &fan, &ticket.ticket).await;
    let bytes = URL_SAFE_NO_PAD.decode(code.strip_prefix("PODO1.").unwrap()).unwrap();
    assert_eq!(bytes[32..], key[..16], "a device compares the code with the key");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_two_devices_admitted_is_reported_once_per_scan() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let (ticket, canceled) = (fan.buy(&show, 0).await.ticket, other.buy(&show, 1).await);
    let code = code_of(&world, &fan, &ticket).await;
    other.cancel(&canceled.reservation).await.expect(200);
    let path = format!("/api/admin/schedules/{}/scans", show.schedule);
    let send = async |scans: &[Value]| {
        let results = world.organiser.post(&path, &json!({ "scans": scans })).await.expect(200);
        results["results"].as_array().unwrap().clone()
    };
    let unknown = Uuid::from_u128(7).to_string();
    let first = [
        offline_scan(1, &ticket, "동문"),
        offline_scan(2, &canceled.ticket, "동문"),
        offline_scan(3, &unknown, "동문"),
    ];
    let verdicts: Vec<Value> = send(&first).await.iter().map(|it| it["verdict"].clone()).collect();
    assert_eq!(verdicts, ["ADMITTED", "VOID", "UNKNOWN"]);
    let second = send(&[offline_scan(4, &ticket, "서문")]).await;
    assert_eq!((&second[0]["verdict"], &second[0]["usedGate"]), (&json!("DOUBLE"), &json!("동문")));
    // The answer was lost: the device sends both again.
    assert_eq!(send(&first).await[0]["verdict"], "ADMITTED");
    assert_eq!(send(&[offline_scan(4, &ticket, "서문")]).await, second);
    let used = check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_USED");
    assert_eq!(used["usedAt"], "2026-01-01T00:00:00.000Z", "the time of the scan counts");
    let path = format!("/api/admin/schedules/{}/attendance", show.schedule);
    let found = world.organiser.get(&path).await.expect(200);
    assert_eq!((&found["admitted"], &found["gates"][1]["doubles"]), (&json!(1), &json!(1)));
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_scans_in_one_call_are_refused() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let scans: Vec<Value> =
        (0..201).map(|id| offline_scan(id, &Uuid::from_u128(id).to_string(), "1")).collect();
    let path = format!("/api/admin/schedules/{}/scans", show.schedule);
    let refused = world.organiser.post(&path, &json!({ "scans": scans })).await;
    assert_eq!(refused.refused(422, "INVALID")["errors"][0]["field"], "scans");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offline_undo_takes_back_the_check_in_that_it_names_and_no_later_one() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let ticket = fan.buy(&show, 0).await.ticket;
    let code = code_of(&world, &fan, &ticket).await;
    let path = format!("/api/admin/schedules/{}/scans", show.schedule);
    let send = async |scans: &[Value]| {
        let results = world.organiser.post(&path, &json!({ "scans": scans })).await.expect(200);
        results["results"][0]["verdict"].clone()
    };
    let undo = |id: u128, of: &Value, reason: &str| {
        let mut scan = offline_scan(id, &ticket, "동문");
        scan["undo"] = json!({ "checkInId": of, "reason": reason });
        scan
    };
    // Admitted without a network, and taken back on the same device.
    let first = offline_scan(1, &ticket, "동문");
    assert_eq!(send(std::slice::from_ref(&first)).await, "ADMITTED");
    let taken_back = undo(2, &first["id"], "다른 사람이에요");
    assert_eq!(send(std::slice::from_ref(&taken_back)).await, "UNDONE");
    // Admitted online; the answer to the undo was lost, and the device sends it again.
    let online = check_in(&world.organiser, &show, &code).await.expect(200);
    assert_eq!(send(&[taken_back]).await, "UNDONE");
    assert_eq!(send(&[undo(3, &first["id"], "늦은 취소")]).await, "UNDONE");
    check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_USED");
    assert_eq!(send(&[undo(4, &online["checkInId"], "잘못 찍음")]).await, "UNDONE");
    check_in(&world.organiser, &show, &code).await.expect(200);

    let attendance = format!("/api/admin/schedules/{}/attendance", show.schedule);
    let found = world.organiser.get(&attendance).await.expect(200);
    let east = json!({ "gate": "동문", "admitted": 1, "undone": 2, "doubles": 0 });
    assert_eq!((&found["admitted"], &found["gates"][1]), (&json!(1), &east), "{found}");
    // A double: the second guest is sent back out, the first stays inside.
    let double = offline_scan(6, &ticket, "서문");
    assert_eq!(send(std::slice::from_ref(&double)).await, "DOUBLE");
    let west = async || {
        let found = world.organiser.get(&attendance).await.expect(200);
        (found["admitted"].clone(), found["gates"][2]["doubles"].clone())
    };
    assert_eq!(west().await, (json!(1), json!(1)));
    for id in [7, 7, 8] {
        assert_eq!(send(&[undo(id, &double["id"], "되돌려 보냈어요")]).await, "UNDONE");
    }
    assert_eq!(west().await, (json!(1), json!(0)));
    check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_USED");
    let mut bad = undo(5, &first["id"], " ");
    bad["undo"]["reason"] = json!(" ");
    let refused = world.organiser.post(&path, &json!({ "scans": [bad] })).await;
    assert_eq!(refused.refused(422, "INVALID")["errors"][0]["field"], "scans[0].undo.reason");
    world.finish().await;
}

/// Ids of offline scans are random, so the last one by id isn't the last one in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_used_ticket_names_the_gate_that_admitted_it_last() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let ticket = fan.buy(&show, 0).await.ticket;
    let code = code_of(&world, &fan, &ticket).await;
    let path = format!("/api/admin/schedules/{}/scans", show.schedule);
    let scans = json!({ "scans": [offline_scan(u128::MAX, &ticket, "동문")] });
    world.organiser.post(&path, &scans).await.expect(200);
    let undo = json!({ "ticketId": ticket, "scheduleId": show.schedule, "gate": "1",
                       "reason": "앞사람 표를 찍었어요" });
    world.organiser.post("/api/admin/checkin/undo", &undo).await.expect(204);
    world.clock.advance(std::time::Duration::from_secs(1));
    check_in(&world.organiser, &show, &code).await.expect(200);
    let used = check_in(&world.organiser, &show, &code).await.refused(409, "TICKET_USED");
    assert_eq!(used["usedGate"], "1");
    world.finish().await;
}

/// The answer to a check-in is lost, the device decides alone, and sends its scan later.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_in_whose_answer_was_lost_is_no_double() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    let (fan, other) = (world.fan_inside(&show).await, world.fan_inside(&show).await);
    let (ticket, second) = (fan.buy(&show, 0).await.ticket, other.buy(&show, 1).await.ticket);
    let mut body = scan(&show, "1", &code_of(&world, &fan, &ticket).await);
    body["id"] = json!(Uuid::from_u128(9));
    let first = world.organiser.post("/api/admin/checkin", &body).await.expect(200);
    assert_eq!(first["checkInId"], body["id"]);
    world.organiser.post("/api/admin/checkin", &body).await.expect(200);
    let path = format!("/api/admin/schedules/{}/scans", show.schedule);
    let scans = json!({ "scans": [offline_scan(9, &ticket, "1")] });
    let results = world.organiser.post(&path, &scans).await.expect(200);
    assert_eq!(results["results"][0]["verdict"], "ADMITTED");
    body["code"] = json!(code_of(&world, &other, &second).await);
    let reused = world.organiser.post("/api/admin/checkin", &body).await;
    reused.refused(422, "IDEMPOTENCY_KEY_REUSED");
    let path = format!("/api/admin/schedules/{}/attendance", show.schedule);
    let found = world.organiser.get(&path).await.expect(200);
    assert_eq!((&found["admitted"], &found["gates"][0]["doubles"]), (&json!(1), &json!(0)));
    world.finish().await;
}
