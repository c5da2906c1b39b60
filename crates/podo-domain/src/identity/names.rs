//! Names as support searches for them: by their first characters.
//!
//! Names are encrypted, so the store has keyed hashes of their prefixes instead. Prefixes have two
//! characters or more, because a single one says little about a person and would be easy to tell
//! by how often it occurs.

use crate::Refusal;
use crate::catalog::text::FieldError;

/// Fewest characters that a search by name needs.
pub const NAME_SEARCH_MIN: usize = 2;

/// Most characters of a hashed prefix. A longer search finds the prefix and compares the rest.
const PREFIX_MAX: usize = 8;

/// A name without spaces, punctuation and upper case.
pub fn comparable(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The prefixes under which a name is found.
pub fn name_prefixes(name: &str) -> Vec<String> {
    let name: Vec<char> = comparable(name).chars().collect();
    let longest = name.len().min(PREFIX_MAX);
    (NAME_SEARCH_MIN..=longest).map(|length| name[..length].iter().collect()).collect()
}

/// A search by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSearch(String);

impl NameSearch {
    pub fn parse(text: &str) -> Result<NameSearch, Refusal> {
        let text = comparable(text);
        if text.chars().count() < NAME_SEARCH_MIN {
            let problem = FieldError::TooShort { min: NAME_SEARCH_MIN };
            return Err(Refusal::Invalid { field: "query", problem });
        }
        Ok(NameSearch(text))
    }

    /// The prefix to look up.
    pub fn prefix(&self) -> String {
        self.0.chars().take(PREFIX_MAX).collect()
    }

    pub fn matches(&self, name: &str) -> bool {
        comparable(name).starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_beginning_in_any_case_and_with_spaces() {
        let found = |name: &str, text: &str| {
            let search = NameSearch::parse(text).unwrap();
            name_prefixes(name).contains(&search.prefix()) && search.matches(name)
        };
        assert!(found("김포도", "김포"));
        assert!(found("김포도", " 김 포도 "));
        assert!(found("Mary-Ann O'Neill", "mary ann"));
        assert!(found("Mary-Ann O'Neill", "MARYANNONEILL"));
        assert!(!found("김포도", "포도"), "not in the middle");
        assert!(!found("Mary-Ann O'Neill", "mary anne smith"), "beyond the hashed prefix");
    }

    #[test]
    fn a_single_character_finds_no_one() {
        let refusal = |text| NameSearch::parse(text).unwrap_err();
        let problem = FieldError::TooShort { min: 2 };
        assert_eq!(refusal("김"), Refusal::Invalid { field: "query", problem });
        assert_eq!(refusal(" - "), Refusal::Invalid { field: "query", problem });
        assert!(name_prefixes("김").is_empty());
        assert_eq!(name_prefixes("김포도"), ["김포", "김포도"]);
        assert_eq!(name_prefixes("abcdefghijkl").len(), 7);
    }
}
