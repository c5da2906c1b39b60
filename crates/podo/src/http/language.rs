//! The client's language: the first that it names and Podo speaks. A client that names only others
//! gets English, one that names none Korean.

use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Korean,
    English,
}

impl Language {
    /// Reads `Accept-Language`: the first supported language, by weight.
    pub(crate) fn of(headers: &HeaderMap) -> Language {
        Language::named(headers).unwrap_or(Language::Korean)
    }

    /// `None` if the client names no language at all, as programs do.
    pub(crate) fn named(headers: &HeaderMap) -> Option<Language> {
        let accepted = headers.get(header::ACCEPT_LANGUAGE);
        accepted.and_then(|value| value.to_str().ok()).and_then(Language::first_in)
    }

    pub(crate) fn wished(accepted: Option<&str>) -> Language {
        accepted.and_then(Language::first_in).unwrap_or(Language::Korean)
    }

    fn first_in(accepted: &str) -> Option<Language> {
        let (mut best, mut speaks_others) = ((0.0, None), false);
        for wish in accepted.split(',') {
            let (tag, weight) = wish.split_once(";q=").unwrap_or((wish, "1"));
            let weight: f32 = weight.trim().parse().unwrap_or(0.0);
            let language = match tag.trim().get(..2) {
                Some("ko") => Language::Korean,
                Some("en") => Language::English,
                Some(_) => {
                    speaks_others = true;
                    continue;
                }
                None => continue,
            };
            if weight > best.0 {
                best = (weight, Some(language));
            }
        }
        best.1.or(speaks_others.then_some(Language::English))
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
    fn the_first_language_that_podo_speaks_else_english() {
        let check = |accepted: &str, expected| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, accepted.parse().unwrap());
            assert_eq!(Language::of(&headers), expected, "{accepted}");
        };
        check("", Language::Korean);
        check("en-US,en;q=0.9", Language::English);
        check("en;q=0.5, ko", Language::Korean);
        check("fr, en;q=0.3", Language::English);
        check("fr", Language::English);
        check("fr-FR, ko;q=0.2", Language::Korean);
        check("*", Language::Korean);
    }
}
