//! The client's language: Korean unless it prefers English.

use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Korean,
    English,
}

impl Language {
    /// Reads `Accept-Language`: the first supported language, by weight.
    pub(crate) fn of(headers: &HeaderMap) -> Language {
        let accepted = headers.get(header::ACCEPT_LANGUAGE);
        Language::wished(accepted.and_then(|value| value.to_str().ok()))
    }

    pub(crate) fn wished(accepted: Option<&str>) -> Language {
        let mut best = (0.0, Language::Korean);
        for wish in accepted.unwrap_or_default().split(',') {
            let (tag, weight) = wish.split_once(";q=").unwrap_or((wish, "1"));
            let weight: f32 = weight.trim().parse().unwrap_or(0.0);
            let language = match tag.trim().get(..2) {
                Some("ko") => Language::Korean,
                Some("en") => Language::English,
                Some(_) | None => continue,
            };
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }

    /// The same language for notifications.
    pub(crate) const fn of_notifications(self) -> podo_domain::messaging::messages::Language {
        match self {
            Language::Korean => podo_domain::messaging::messages::Language::Ko,
            Language::English => podo_domain::messaging::messages::Language::En,
        }
    }

    pub(crate) fn choose<T>(self, korean: T, english: T) -> T {
        match self {
            Language::Korean => korean,
            Language::English => english,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn korean_unless_english_is_preferred() {
        let check = |accepted: &str, expected| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, accepted.parse().unwrap());
            assert_eq!(Language::of(&headers), expected, "{accepted}");
        };
        check("", Language::Korean);
        check("en-US,en;q=0.9", Language::English);
        check("en;q=0.5, ko", Language::Korean);
        check("fr, en;q=0.3", Language::English);
        check("fr", Language::Korean);
    }
}
