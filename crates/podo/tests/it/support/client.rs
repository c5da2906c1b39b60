//! A thin HTTP client that shows the whole response if a test expected another.

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};

/// A caller of the API, with or without tokens.
#[derive(Clone)]
pub(crate) struct Api {
    http: Client,
    url: String,
    token: Option<String>,
    entry: Option<String>,
}

impl Api {
    /// A caller who isn't logged in.
    pub(crate) fn at(url: &str) -> Api {
        // Plain HTTP, so it needn't load the system's certificates.
        let http = Client::builder().tls_certs_only([]).build().unwrap();
        Api { http, url: url.to_owned(), token: None, entry: None }
    }

    pub(crate) fn with_token(&self, token: &str) -> Api {
        Api { token: Some(token.to_owned()), ..self.clone() }
    }

    pub(crate) fn with_entry(&self, token: &str) -> Api {
        Api { entry: Some(token.to_owned()), ..self.clone() }
    }

    pub(crate) fn without_entry(&self) -> Api {
        Api { entry: None, ..self.clone() }
    }

    /// The same caller at another address of the server.
    pub(crate) fn at_other(&self, url: &str) -> Api {
        Api { url: url.to_owned(), ..self.clone() }
    }

    pub(crate) fn token(&self) -> &str {
        self.token.as_deref().expect("a logged-in caller")
    }

    pub(crate) fn entry(&self) -> &str {
        self.entry.as_deref().expect("an admitted fan")
    }

    /// A request with this caller's tokens.
    pub(crate) fn call(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(entry) = &self.entry {
            request = request.header("Entry-Token", entry);
        }
        request
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        send(self.call(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        send(self.call(Method::DELETE, path)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        send(self.call(Method::PUT, path).json(body)).await
    }

    /// A write without an idempotency key.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        send(self.call(Method::POST, path).json(body)).await
    }

    /// A write with this idempotency key.
    pub(crate) async fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        send(self.call(Method::POST, path).header("Idempotency-Key", key).json(body)).await
    }

    /// A write with a new idempotency key.
    pub(crate) async fn post_new(&self, path: &str, body: &Value) -> Answer {
        self.post_once(path, &new_key(), body).await
    }
}

pub(crate) fn new_key() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("key-{}", LAST.fetch_add(1, Ordering::Relaxed))
}

pub(crate) async fn send(request: RequestBuilder) -> Answer {
    try_send(request).await.expect("the server answers")
}

/// The same for a server that may be gone.
pub(crate) async fn try_send(request: RequestBuilder) -> reqwest::Result<Answer> {
    let response = request.send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Ok(Answer { status, headers, text: response.text().await? })
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// The body of a response with this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// The problem of a refusal.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["code"], code, "{}", self.text);
        assert_eq!(problem["status"], status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        problem
    }

    /// The value of a header, or an empty string.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The text of a required member.
#[track_caller]
pub(crate) fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {value}")).to_owned()
}
