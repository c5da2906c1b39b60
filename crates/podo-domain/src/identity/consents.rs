//! The organiser's legal pages, and what people agree to when they sign up.

use serde::{Deserialize, Serialize};

/// A page whose text the organiser writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PageKind {
    Terms,
    Privacy,
    /// Business information: name, registration, address, contact.
    Business,
}

impl PageKind {
    pub const ALL: [PageKind; 3] = [PageKind::Terms, PageKind::Privacy, PageKind::Business];

    pub const fn as_str(self) -> &'static str {
        match self {
            PageKind::Terms => "TERMS",
            PageKind::Privacy => "PRIVACY",
            PageKind::Business => "BUSINESS",
        }
    }

    /// The last part of its address.
    pub const fn slug(self) -> &'static str {
        match self {
            PageKind::Terms => "terms",
            PageKind::Privacy => "privacy",
            PageKind::Business => "business",
        }
    }

    pub fn parse(text: &str) -> Option<PageKind> {
        PageKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    pub fn from_slug(text: &str) -> Option<PageKind> {
        PageKind::ALL.into_iter().find(|kind| kind.slug() == text)
    }
}

/// What a person agrees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ConsentKind {
    Terms,
    Privacy,
    /// Being at least 14 years old: younger people need a guardian's consent.
    Age,
    Marketing,
}

impl ConsentKind {
    pub const ALL: [ConsentKind; 4] =
        [ConsentKind::Terms, ConsentKind::Privacy, ConsentKind::Age, ConsentKind::Marketing];

    pub const fn as_str(self) -> &'static str {
        match self {
            ConsentKind::Terms => "TERMS",
            ConsentKind::Privacy => "PRIVACY",
            ConsentKind::Age => "AGE",
            ConsentKind::Marketing => "MARKETING",
        }
    }

    pub fn parse(text: &str) -> Option<ConsentKind> {
        ConsentKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The page whose version is agreed to.
    pub const fn page(self) -> Option<PageKind> {
        match self {
            ConsentKind::Terms => Some(PageKind::Terms),
            ConsentKind::Privacy => Some(PageKind::Privacy),
            ConsentKind::Age | ConsentKind::Marketing => None,
        }
    }
}

/// The boxes of a sign-up form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Consents {
    pub terms: bool,
    pub privacy: bool,
    /// At least 14 years old.
    pub age: bool,
    /// Optional.
    pub marketing: bool,
}

impl Consents {
    const fn has(self, kind: ConsentKind) -> bool {
        match kind {
            ConsentKind::Terms => self.terms,
            ConsentKind::Privacy => self.privacy,
            ConsentKind::Age => self.age,
            ConsentKind::Marketing => self.marketing,
        }
    }
}

/// A consent with the version of the page that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Consent {
    pub kind: ConsentKind,
    /// Absent for what no page describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

/// What is agreed to, given the published pages; `None` if a required consent is missing. Before
/// the organiser publishes terms or a privacy policy, there is nothing to agree to.
pub fn agreed(given: Consents, published: &[(PageKind, u32)]) -> Option<Vec<Consent>> {
    let version_of = |kind: ConsentKind| {
        let page = kind.page()?;
        published.iter().find(|(known, _)| *known == page).map(|(_, version)| *version)
    };
    let asks = [ConsentKind::Terms, ConsentKind::Privacy].map(|kind| version_of(kind).is_some());
    let is_required = |kind: ConsentKind| match kind {
        ConsentKind::Terms => asks[0],
        ConsentKind::Privacy => asks[1],
        ConsentKind::Age => asks[0] || asks[1],
        ConsentKind::Marketing => false,
    };
    if ConsentKind::ALL.into_iter().any(|kind| is_required(kind) && !given.has(kind)) {
        return None;
    }
    let is_meant = |kind: &ConsentKind| {
        given.has(*kind) && (kind.page().is_none() || version_of(*kind).is_some())
    };
    let consent = |kind| Consent { kind, version: version_of(kind) };
    Some(ConsentKind::ALL.into_iter().filter(is_meant).map(consent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Consents = Consents { terms: true, privacy: true, age: true, marketing: false };
    const PAGES: [(PageKind, u32); 2] = [(PageKind::Terms, 3), (PageKind::Privacy, 1)];

    #[test]
    fn every_required_box_is_needed_once_there_are_pages() {
        assert!(agreed(ALL, &PAGES).is_some());
        for missing in [
            Consents { terms: false, ..ALL },
            Consents { privacy: false, ..ALL },
            Consents { age: false, ..ALL },
        ] {
            assert_eq!(agreed(missing, &PAGES), None, "{missing:?}");
        }
        assert_eq!(agreed(Consents::default(), &[]), Some(Vec::new()), "nothing is published");
        assert_eq!(agreed(Consents::default(), &[(PageKind::Business, 1)]), Some(Vec::new()));
        assert_eq!(
            agreed(Consents { privacy: false, ..ALL }, &PAGES[..1]).map(|it| it.len()),
            Some(2)
        );
    }

    #[test]
    fn a_consent_names_the_version_that_was_shown() {
        let given = Consents { marketing: true, ..ALL };
        let consents = agreed(given, &PAGES).unwrap();
        let expected = [
            Consent { kind: ConsentKind::Terms, version: Some(3) },
            Consent { kind: ConsentKind::Privacy, version: Some(1) },
            Consent { kind: ConsentKind::Age, version: None },
            Consent { kind: ConsentKind::Marketing, version: None },
        ];
        assert_eq!(consents, expected);
    }
}
