//! How an asker wants to be answered. Read only when there is a problem to tell.

use crate::api::language::Language;
use app::ports::clock::Chance;
use axum::http::{HeaderMap, HeaderValue, header};

pub(super) struct Manner {
    accept_language: Option<HeaderValue>,
    trace_parent: Option<HeaderValue>,
}

impl Manner {
    pub(super) fn of(headers: &HeaderMap) -> Manner {
        Manner {
            accept_language: headers.get(header::ACCEPT_LANGUAGE).cloned(),
            trace_parent: headers.get("traceparent").cloned(),
        }
    }

    pub(super) fn language(&self) -> Language {
        let accepted = self.accept_language.as_ref();
        Language::wished(accepted.and_then(|value| value.to_str().ok()))
    }

    /// The caller's W3C trace if there is one, else a fresh one.
    pub(super) fn trace(&self, chance: &dyn Chance) -> String {
        let given = self.trace_parent.as_ref().and_then(|value| value.to_str().ok());
        let given = given.and_then(|text| text.split('-').nth(1));
        let is_trace = |id: &&str| id.len() == 32 && id.bytes().all(|it| it.is_ascii_hexdigit());
        match given.filter(is_trace) {
            Some(id) => id.to_owned(),
            None => {
                let mut bytes = [0_u8; 16];
                chance.fill(&mut bytes);
                format!("{:032x}", u128::from_be_bytes(bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adapters::clock::SystemChance;

    fn trace(given: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", given.parse().unwrap());
        Manner::of(&headers).trace(&SystemChance::new())
    }

    #[test]
    fn the_callers_trace_is_kept_and_nonsense_replaced() {
        let given = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(trace(&format!("00-{given}-b7ad6b7169203331-01")), given);
        for nonsense in ["", "00", "00-xyz-1-01", "00-0af7651916cd43dd8448eb211c80319z-1-01"] {
            let fresh = trace(nonsense);
            assert_eq!(fresh.len(), 32, "{nonsense}");
            assert_ne!(fresh, trace(nonsense));
        }
    }
}
