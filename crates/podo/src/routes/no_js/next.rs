//! The path to continue to after a login: one of ours, or none.

use serde::{Deserialize, Deserializer};

/// A path within these pages. Other sites can link here with any text, so everything but a plain
/// path is dropped: no host, query, control character, backslash or encoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Next(Option<String>);

impl Next {
    pub(crate) fn parse(text: &str) -> Next {
        Next(Some(text).filter(|text| is_path(text)).map(str::to_owned))
    }

    pub(crate) fn or<'n>(&'n self, other: &'n str) -> &'n str {
        self.0.as_deref().unwrap_or(other)
    }
}

/// `/`, or segments of letters, digits, `-` and `_` between single slashes.
fn is_path(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_".contains(&it))
    };
    let rest = text.strip_prefix('/');
    text.len() <= 200 && rest.is_some_and(|rest| rest.is_empty() || rest.split('/').all(is_name))
}

impl<'de> Deserialize<'de> for Next {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Next, D::Error> {
        Ok(Next::parse(&String::deserialize(given)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_ours_is_kept_and_everything_else_is_nothing() {
        for path in ["/", "/tickets", "/queue/0190a000-0000-7000-8000-000000000000"] {
            assert_eq!(Next::parse(path).or("none"), path);
        }
        let foreign = [
            "",
            "tickets",
            "//evil",
            "/\\evil",
            "/a//b",
            "/a/",
            "/%2fevil",
            "/a?b",
            "/a#b",
            "/a:b",
            "/..",
            "/a\tb",
            "/a\r\nb",
            "/ㄱ",
            " /a",
            "https://evil",
        ];
        for text in foreign {
            assert_eq!(Next::parse(text).or("none"), "none", "{text:?}");
        }
    }
}
