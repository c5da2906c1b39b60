//! The client's language: the first that it names and Podo speaks. A client that names only others
//! gets English, one that names none Korean. The pages without scripts speak Japanese and Simplified
//! Chinese too; everything else that the server writes is English for their readers.

mod chinese;
mod japanese;

use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Korean,
    English,
    Japanese,
    Chinese,
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
                Some("ja") => Language::Japanese,
                Some("zh") => Language::Chinese,
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
            Language::English | Language::Japanese | Language::Chinese => {
                podo_domain::messaging::messages::Language::En
            }
        }
    }

    /// The value of the attribute `lang`.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Language::Korean => "ko",
            Language::English => "en",
            Language::Japanese => "ja",
            Language::Chinese => "zh-Hans",
        }
    }

    /// For texts that exist in Korean and English only.
    pub(crate) fn choose<T>(self, korean: T, english: T) -> T {
        match self {
            Language::Korean => korean,
            Language::English | Language::Japanese | Language::Chinese => english,
        }
    }

    /// The words of a page without scripts, and of a waiting room that is paused or called off. The
    /// other languages list them by their English.
    pub(crate) fn say(self, korean: &'static str, english: &'static str) -> &'static str {
        let words = match self {
            Language::Korean => return korean,
            Language::English => return english,
            Language::Japanese => japanese::WORDS,
            Language::Chinese => chinese::WORDS,
        };
        let found = words.binary_search_by_key(&english, |(known, _)| known);
        found.map_or(english, |at| words[at].1)
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
        check("ja-JP,ja;q=0.9,en;q=0.8", Language::Japanese);
        check("zh-TW, en;q=0.5", Language::Chinese);
        check("fr, zh;q=0.2", Language::Chinese);
    }

    /// The words that the sources of the pages without scripts say.
    fn words_said() -> Vec<String> {
        let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes/no_js");
        let files = std::fs::read_dir(pages).unwrap().map(|entry| entry.unwrap().path());
        let files = files.chain([std::path::PathBuf::from(format!("{pages}.rs"))]);
        let text: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let calls = text.split(".say(").skip(1);
        calls
            .filter_map(|call| {
                // Two literals; the second one is English.
                let mut parts = call.trim_start().strip_prefix('"')?.splitn(4, '"');
                parts.next()?;
                assert_eq!(parts.next()?.trim(), ",", "{call:.60}");
                parts.next().map(str::to_owned)
            })
            .collect()
    }

    #[test]
    fn every_word_of_a_page_without_scripts_exists_in_every_language() {
        let said = words_said();
        assert!(said.len() > 80, "{}", said.len());
        for words in [japanese::WORDS, chinese::WORDS] {
            assert!(words.is_sorted_by_key(|(english, _)| english));
            for english in &said {
                assert!(words.iter().any(|(known, _)| known == english), "{english}");
            }
        }
        assert_eq!(Language::Japanese.say("공연", "Concerts"), "公演");
        assert_eq!(Language::Chinese.say("공연", "Concerts"), "演出");
        assert_eq!(Language::Japanese.choose("공연", "Concerts"), "Concerts");
    }
}
