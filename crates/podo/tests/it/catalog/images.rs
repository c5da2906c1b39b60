//! Posters and galleries: uploaded by organisers, made small, kept as long as an event shows them.

use crate::support::client::{Answer, Api, send, text};
use crate::support::world::{Plan, Show, World};
use axum::http::Method;
use podo_app::operations::retention::cleanup::apply_retention;
use podo_testbed::S3;
use serde_json::Value;
use std::time::Duration;

/// A poster of the demo, 480 × 640 pixels.
const PHOTO: &[u8] = include_bytes!("../../../src/cli/stage/posters/serein.jpg");
const OTHER: &[u8] = include_bytes!("../../../src/cli/stage/posters/winter.jpg");

async fn put(api: &Api, path: &str, bytes: &[u8]) -> Answer {
    send(api.call(Method::PUT, path).body(bytes.to_vec())).await
}

async fn add(api: &Api, path: &str, bytes: &[u8]) -> Answer {
    send(api.call(Method::POST, path).body(bytes.to_vec())).await
}

async fn event_of(world: &World, show: &Show) -> String {
    let schedule = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await;
    text(&schedule.expect(200), "eventId")
}

async fn file(api: &Api, url: &str) -> reqwest::Response {
    api.call(Method::GET, url).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poster_is_shown_everywhere_until_it_is_removed() {
    let world = World::with(&[("PODO_PUBLIC_URL", "https://podo.example")]).await;
    let show = world.show(Plan::tonight()).await;
    let event = event_of(&world, &show).await;
    let path = format!("/api/admin/events/{event}/poster");
    let alt = format!("{path}?alt=%EC%84%B8%EB%A0%88%EC%9D%B8&focusX=20&focusY=80&zoom=120");
    let poster = put(&world.organiser, &alt, PHOTO).await.expect(200);
    assert_eq!((&poster["alt"], &poster["widths"][0]), (&Value::from("세레인"), &Value::from(320)));
    assert_eq!(poster["width"].as_u64().unwrap() * 4, poster["height"].as_u64().unwrap() * 3);
    for list in ["/api/events".to_owned(), "/api/events/cards".to_owned()] {
        assert_eq!(world.stranger.get(&list).await.expect(200)["items"][0]["poster"], poster);
    }
    let detail = world.stranger.get(&format!("/api/events/{event}")).await.expect(200);
    assert_eq!(detail["poster"], poster);

    let url = text(&poster, "url");
    let served = file(&world.stranger, &url).await;
    assert_eq!(served.headers()["content-type"], "image/jpeg");
    assert_eq!(served.headers()["cache-control"], "public, max-age=31536000, immutable");
    let tag = served.headers()["etag"].clone();
    assert!(served.bytes().await.unwrap().starts_with(&[0xFF, 0xD8, 0xFF]));
    let known = world.stranger.call(Method::GET, &url).header("if-none-match", tag);
    assert_eq!(known.send().await.unwrap().status(), 304);
    let page = file(&world.stranger, &format!("/events/{event}")).await.text().await.unwrap();
    let image = format!("property=\"og:image\" content=\"https://podo.example{url}\"");
    assert!(page.contains(&image) && page.contains("og:title") && page.contains("<img"), "{page}");

    world.organiser.delete(&path).await.expect(204);
    world.organiser.delete(&path).await.refused(404, "NOT_FOUND");
    let detail = world.stranger.get(&format!("/api/events/{event}")).await.expect(200);
    assert_eq!(detail.get("poster"), None);
    assert_eq!(
        file(&world.stranger, &url).await.status(),
        200,
        "pages that are open still show it"
    );
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_picture_is_refused_by_name() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let path = format!("/api/admin/events/{}/poster?alt=x", event_of(&world, &show).await);
    let put = async |bytes: &[u8]| put(&world.organiser, &path, bytes).await;
    put(b"<svg xmlns='http://www.w3.org/2000/svg'/>").await.refused(422, "IMAGE_TYPE");
    put(b"").await.refused(422, "IMAGE_TYPE");
    put(&PHOTO[..200]).await.refused(422, "IMAGE_DAMAGED");
    // Refused unread: a long body ends the connection, which the client would take for the next call.
    let unread = async |path: &str| send(world.organiser.call(Method::PUT, path).body("x")).await;
    let refused = unread(&format!("{path}&zoom=99")).await;
    assert_eq!(refused.refused(422, "INVALID")["errors"][0]["field"], "zoom");
    let blank = path.replace("alt=x", "alt=+");
    unread(&blank).await.refused(422, "INVALID");
    let unknown = format!("/api/admin/events/{}/poster?alt=x", uuid::Uuid::nil());
    send(world.organiser.call(Method::PUT, &unknown).body(PHOTO)).await.refused(404, "NOT_FOUND");
    for name in ["x.jpg", "..%2fsecret.key", "00112233445566778899aabbccddeeff-320.jpg"] {
        let answer = world.stranger.get(&format!("/media/{name}")).await;
        answer.refused(404, "NOT_FOUND");
    }
    let large = [PHOTO, &vec![0; 11 * 1024 * 1024]].concat();
    put(&large).await.refused(413, "IMAGE_TOO_LARGE");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gallery_has_eight_pictures_at_most_and_each_once() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let event = event_of(&world, &show).await;
    let path = format!("/api/admin/events/{event}/gallery");
    let poster = format!("/api/admin/events/{event}/poster?alt=p");
    put(&world.organiser, &poster, PHOTO).await.expect(200);
    let first = add(&world.organiser, &format!("{path}?alt=first"), PHOTO).await.expect(201);
    let again = add(&world.organiser, &format!("{path}?alt=renamed"), PHOTO).await.expect(201);
    assert_eq!(first["hash"], again["hash"]);
    for index in 0..7 {
        let picture = photo(index);
        add(&world.organiser, &format!("{path}?alt={index}"), &picture).await.expect(201);
    }
    let ninth = add(&world.organiser, &format!("{path}?alt=ninth"), OTHER).await;
    ninth.refused(409, "GALLERY_FULL");
    let detail = world.stranger.get(&format!("/api/events/{event}")).await.expect(200);
    let gallery = detail["gallery"].as_array().unwrap().clone();
    assert_eq!((gallery.len(), &gallery[0]["alt"]), (8, &Value::from("renamed")));
    world.organiser.delete(&format!("{path}/{}", text(&first, "hash"))).await.expect(204);
    add(&world.organiser, &format!("{path}?alt=ninth"), OTHER).await.expect(201);
    let missing = format!("{path}/{}", text(&first, "hash"));
    world.organiser.delete(&missing).await.refused(404, "NOT_FOUND");
    world.finish().await;
}

/// A grey PNG of its own shade.
fn photo(index: u8) -> Vec<u8> {
    let mut lines = Vec::new();
    for _ in 0..240 {
        lines.push(0);
        lines.extend([index * 30; 240]);
    }
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &lines).unwrap();
    let mut head = 240_u32.to_be_bytes().to_vec();
    head.extend(240_u32.to_be_bytes());
    // Eight bits of grey.
    head.extend([8, 0, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in
        [(b"IHDR", head), (b"IDAT", packed.finish().unwrap()), (b"IEND", Vec::new())]
    {
        let chunk = [kind.as_slice(), &data].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&chunk);
        png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        png.extend(chunk);
        png.extend(sum.sum().to_be_bytes());
    }
    png
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_removed_a_day_after_no_event_shows_them() {
    let world = World::start().await;
    let show = world.show(Plan::tonight()).await;
    let event = event_of(&world, &show).await;
    let path = format!("/api/admin/events/{event}/poster");
    let upload = async |bytes: &[u8]| {
        let answer = put(&world.organiser, &format!("{path}?alt=x"), bytes).await;
        text(&answer.expect(200), "url")
    };
    let old = upload(PHOTO).await;
    let new = upload(OTHER).await;
    let clean = async || {
        apply_retention(world.context(), world.context().now()).await.unwrap();
    };
    clean().await;
    assert_eq!(file(&world.stranger, &old).await.status(), 200, "pages may still show it");
    world.clock.advance(Duration::from_secs(25 * 3_600));
    clean().await;
    assert_eq!(file(&world.stranger, &old).await.status(), 404);
    assert_eq!(file(&world.stranger, &new).await.status(), 200, "the event shows it");
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_serves_the_same_pictures() {
    let server = S3::start().unwrap();
    let url = format!("s3://posters/live?region=auto&endpoint={}", server.url());
    let world = World::with(&[
        ("PODO_MEDIA_URL", &url),
        ("PODO_MEDIA_ACCESS_KEY", S3::ACCESS_KEY),
        ("PODO_MEDIA_SECRET_KEY", S3::SECRET_KEY),
    ])
    .await;
    let show = world.show(Plan::tonight()).await;
    let event = event_of(&world, &show).await;
    let path = format!("/api/admin/events/{event}/poster?alt=x");
    let poster = put(&world.organiser, &path, PHOTO).await.expect(200);
    assert_eq!(server.objects().len(), poster["widths"].as_array().unwrap().len());
    assert!(server.objects().iter().all(|it| it.starts_with("/posters/live/")));
    let served = file(&world.stranger, &text(&poster, "url")).await;
    assert!(served.bytes().await.unwrap().starts_with(&[0xFF, 0xD8, 0xFF]));
    world.finish().await;
}
