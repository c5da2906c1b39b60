//! Services whose accounts log in here.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocialProvider {
    Kakao,
    Naver,
    Google,
}

/// Where a service states whether an address was verified by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VouchesIn {
    /// In the ID token, as `email_verified`.
    IdToken,
    /// In its user info, as `email_verified`, or as `is_email_valid` and `is_email_verified`.
    UserInfo,
    /// Nowhere: its addresses count as unverified.
    Nowhere,
}

impl SocialProvider {
    /// As each service documents it. Without a statement the address counts as unverified.
    pub const fn vouches_in(self) -> VouchesIn {
        match self {
            SocialProvider::Kakao => VouchesIn::UserInfo,
            SocialProvider::Naver => VouchesIn::Nowhere,
            SocialProvider::Google => VouchesIn::IdToken,
        }
    }

    pub const ALL: [SocialProvider; 3] =
        [SocialProvider::Kakao, SocialProvider::Naver, SocialProvider::Google];

    /// The name in the log-in history.
    pub const fn as_str(self) -> &'static str {
        match self {
            SocialProvider::Kakao => "KAKAO",
            SocialProvider::Naver => "NAVER",
            SocialProvider::Google => "GOOGLE",
        }
    }

    /// The name in a path.
    pub const fn slug(self) -> &'static str {
        match self {
            SocialProvider::Kakao => "kakao",
            SocialProvider::Naver => "naver",
            SocialProvider::Google => "google",
        }
    }

    pub fn parse(text: &str) -> Option<SocialProvider> {
        SocialProvider::ALL.into_iter().find(|provider| provider.as_str() == text)
    }

    pub fn from_slug(slug: &str) -> Option<SocialProvider> {
        SocialProvider::ALL.into_iter().find(|provider| provider.slug() == slug)
    }
}
