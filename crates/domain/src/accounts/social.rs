//! Services whose accounts log in here.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocialProvider {
    Kakao,
    Naver,
    Google,
}

impl SocialProvider {
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
