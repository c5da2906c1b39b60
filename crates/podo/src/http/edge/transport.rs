//! The client's preferences for a response, read only if there is a problem to render.

use crate::http::language::Language;
use axum::http::{HeaderMap, HeaderValue, header};

pub(crate) struct Transport {
    accept_language: Option<HeaderValue>,
}

impl Transport {
    pub(crate) fn of(headers: &HeaderMap) -> Transport {
        Transport { accept_language: headers.get(header::ACCEPT_LANGUAGE).cloned() }
    }

    pub(crate) fn language(&self) -> Language {
        let accepted = self.accept_language.as_ref();
        Language::wished(accepted.and_then(|value| value.to_str().ok()))
    }
}
