//! Services whose accounts log in here.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocialProvider {
    Kakao,
    Naver,
    Google,
}

/// Where a service says whether an address was confirmed by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VouchesIn {
    /// In the ID token, as `email_verified`.
    IdToken,
    /// At its user information, as `email_verified`, or as `is_email_valid` and `is_email_verified`.
    UserInfo,
    /// Nowhere: what it tells is not known to be theirs.
    Nowhere,
}

impl SocialProvider {
    /// As each service documents it. What a service does not say is not confirmed.
    pub const fn vouches_in(self) -> VouchesIn {
        match self {
            SocialProvider::Kakao => VouchesIn::UserInfo,
            SocialProvider::Naver => VouchesIn::Nowhere,
            SocialProvider::Google => VouchesIn::IdToken,
        }
    }

    pub const ALL: [SocialProvider; 3] =
        [SocialProvider::Kakao, SocialProvider::Naver, SocialProvider::Google];

    /// As the log-in history names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            SocialProvider::Kakao => "KAKAO",
            SocialProvider::Naver => "NAVER",
            SocialProvider::Google => "GOOGLE",
        }
    }

    /// As a path names it.
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
