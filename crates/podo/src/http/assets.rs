//! The pages, embedded in the binary. Their assets live under a path that contains a hash of them
//! all, so browsers and caches keep them forever; the pages themselves are revalidated.

use crate::http::respond::encodings::Encoded;
use crate::routes::ApiError;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

#[derive(RustEmbed)]
#[folder = "../../web"]
struct Web;

/// Pages by path.
const PAGES: [(&str, &str); 9] = [
    ("/admin", "admin/index.html"),
    ("/admin/", "admin/index.html"),
    ("/gate", "gate/index.html"),
    ("/gate/", "gate/index.html"),
    ("/docs", "docs/index.html"),
    ("/docs/", "docs/index.html"),
    ("/pay/sandbox", "pay/sandbox.html"),
    // What an organiser's own site includes; its address never changes.
    ("/embed.js", "embed/widget.js"),
    // At the root, because a worker serves only what is below its own address.
    ("/sw.js", "fan/sw.js"),
];

/// The page that runs a gateway's own script, and no other's: each path has its host.
const GATEWAY: &str = "pay/gateway.html";
const GATEWAYS: [(&str, &str); 6] = [
    ("/pay/gateway/identity", "https://cdn.portone.io"),
    ("/pay/gateway/inicis", "https://*.inicis.com"),
    ("/pay/gateway/kcp", "https://*.kcp.co.kr"),
    ("/pay/gateway/portone", "https://cdn.portone.io"),
    ("/pay/gateway/stripe", "https://js.stripe.com https://*.js.stripe.com"),
    ("/pay/gateway/toss", "https://js.tosspayments.com"),
];

/// The content security policy of that page only. The gateways open frames of their own and of bank
/// hosts that cannot be listed; frames cannot reach into our page.
fn policy_for(host: &str) -> String {
    format!(
        "default-src 'self'; script-src 'self' {host}; connect-src 'self' https:; \
         frame-src https:; img-src 'self' https: data:; style-src 'self' 'unsafe-inline' https:; \
         form-action https: 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
}

/// For people who follow a dead link.
const MISSING: &str = "fan/missing.html";

/// Folders of the files that pages refer to.
const FOLDERS: [&str; 7] = ["admin", "docs", "embed", "fan", "gate", "pay", "shared"];

const KEEP: &str = "public, max-age=31536000, immutable";
const ASK_AGAIN: &str = "no-cache";

/// Serves a page or one of its assets; anything else is a problem response.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let is_read = method == Method::GET || method == Method::HEAD;
    match file_at(uri.path()).filter(|_| is_read) {
        Some(file) => respond(&file, &headers),
        None if is_read && wants_page(uri.path(), &headers) => {
            let missing = Web::get(MISSING).map(|file| page(&file.data));
            let body = missing.unwrap_or_default();
            let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
            (StatusCode::NOT_FOUND, [kind], body).into_response()
        }
        None => ApiError::no_route().into_response(),
    }
}

/// Whether the client is a browser.
fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !path.starts_with("/api/") && accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// A page's text, for handlers that fill it in.
pub(crate) fn page_text(name: &str) -> String {
    Web::get(name).map(|file| page(&file.data)).unwrap_or_default()
}

pub(crate) struct File {
    kind: &'static str,
    cache: &'static str,
    tag: String,
    body: Encoded,
    /// Replaces the common policy.
    policy: Option<String>,
}

impl File {
    /// Generated content that is served like a page.
    pub(crate) fn written(kind: &'static str, bytes: Vec<u8>) -> Option<File> {
        let tag = short(&podo_app::identity::keyring::sha256(&bytes));
        let body = Encoded::of(bytes).ok()?;
        Some(File { kind, cache: ASK_AGAIN, tag, body, policy: None })
    }
}

fn file_at(path: &str) -> Option<File> {
    if let Some((_, name)) = PAGES.iter().find(|(address, _)| *address == path) {
        return file(name, ASK_AGAIN);
    }
    if let Some((_, host)) = GATEWAYS.iter().find(|(address, _)| *address == path) {
        let policy = Some(policy_for(host));
        return file(GATEWAY, ASK_AGAIN).map(|file| File { policy, ..file });
    }
    if path.starts_with("/embed/events/") {
        return file("embed/index.html", ASK_AGAIN);
    }
    let path = path.strip_prefix('/')?;
    match path.strip_prefix('~').and_then(|rest| rest.split_once('/')) {
        // The path of another version: a browser got its page from a node of another release. It
        // gets our file, but must not cache it under that path.
        Some((named, name)) => file(name, if named == version() { KEEP } else { ASK_AGAIN }),
        None => file(path, ASK_AGAIN),
    }
}

fn file(name: &str, cache: &'static str) -> Option<File> {
    let found = Web::get(name)?;
    let kind = kind_of(name);
    let is_page = kind.starts_with("text/html");
    let bytes = if is_page { page(&found.data).into_bytes() } else { found.data.into_owned() };
    let tag = short(&podo_app::identity::keyring::sha256(&bytes));
    let body = encoded(&tag, bytes)?;
    Some(File { kind, cache, tag, body, policy: None })
}

/// Pages refer to their assets by versioned paths. Scripts import each other by relative paths,
/// which stay in the same folder.
fn page(bytes: &[u8]) -> String {
    let version = version();
    let text = String::from_utf8_lossy(bytes).into_owned();
    FOLDERS.iter().fold(text, |text, folder| {
        text.replace(&format!("\"/{folder}/"), &format!("\"/~{version}/{folder}/"))
    })
}

/// A hash of all files. A debug build reads them from disk, where they change, and recomputes the
/// hash after this time, since one page loads dozens of assets.
fn version() -> String {
    const READ_AGAIN: Duration = Duration::from_secs(2);
    static READ: Mutex<Option<(Instant, String)>> = Mutex::new(None);
    let mut read = READ.lock().expect("the lock is never poisoned");
    let is_old = |at: &Instant| cfg!(debug_assertions) && at.elapsed() > READ_AGAIN;
    match read.as_ref().filter(|(at, _)| !is_old(at)) {
        Some((_, version)) => version.clone(),
        None => read.insert((Instant::now(), read_version())).1.clone(),
    }
}

fn read_version() -> String {
    let mut names: Vec<_> = Web::iter().collect();
    names.sort_unstable();
    let hashes = names.iter().filter_map(|name| Some(Web::get(name)?.metadata.sha256_hash()));
    short(&podo_app::identity::keyring::sha256(&hashes.flatten().collect::<Vec<u8>>()))
}

fn short(hash: &[u8; 32]) -> String {
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compressed at the first request, and cached by content.
fn encoded(tag: &str, bytes: Vec<u8>) -> Option<Encoded> {
    static CACHE: LazyLock<Mutex<HashMap<String, Encoded>>> = LazyLock::new(Mutex::default);
    let cache = || CACHE.lock().expect("the lock is never poisoned");
    if let Some(body) = cache().get(tag) {
        return Some(body.clone());
    }
    let body = Encoded::of(bytes).ok()?;
    cache().insert(tag.to_owned(), body.clone());
    Some(body)
}

pub(crate) fn respond(file: &File, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", file.tag);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let (encoding, bytes) = file.body.best_for(headers);
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Body::from(bytes.clone()).into_response(),
    };
    let answer = response.headers_mut();
    answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(file.cache));
    answer.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Some(encoding) = encoding.filter(|_| !is_known) {
        answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.insert(header::ETAG, tag);
    }
    if let Some(policy) = file.policy.as_ref().and_then(|it| HeaderValue::try_from(it).ok()) {
        answer.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_its_parts_by_the_version_of_all_of_them() {
        let page = page_text("fan/index.html");
        let version = version();
        assert!(page.contains(&format!("\"/~{version}/fan/app.js\"")), "{page}");
        assert!(!page.contains("\"/shared/"), "{page}");
    }

    #[test]
    fn a_part_is_kept_for_ever_under_its_own_version_only() {
        let cache = |path: &str| file_at(path).unwrap().cache;
        assert_eq!(cache(&format!("/~{}/fan/app.js", version())), KEEP);
        assert_eq!(cache("/~0000000000000000/fan/app.js"), ASK_AGAIN);
        assert_eq!(cache("/fan/app.js"), ASK_AGAIN);
        assert_eq!(cache("/admin"), ASK_AGAIN);
        assert!(file_at("/~0/../Cargo.toml").is_none() && file_at("/fan/nothing.js").is_none());
    }
}
