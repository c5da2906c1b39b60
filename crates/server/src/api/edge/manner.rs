//! How an asker wants to be answered. Read only when there is a problem to tell.

use crate::api::language::Language;
use axum::http::{HeaderMap, HeaderValue, header};

pub(super) struct Manner {
    accept_language: Option<HeaderValue>,
}

impl Manner {
    pub(super) fn of(headers: &HeaderMap) -> Manner {
        Manner { accept_language: headers.get(header::ACCEPT_LANGUAGE).cloned() }
    }

    pub(super) fn language(&self) -> Language {
        let accepted = self.accept_language.as_ref();
        Language::wished(accepted.and_then(|value| value.to_str().ok()))
    }
}
