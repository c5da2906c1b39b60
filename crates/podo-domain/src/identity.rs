//! Accounts: rules for addresses and passwords, and roles.

pub mod bot_signals;
mod ci_hash;
pub mod consents;
mod email;
mod failures;
pub mod names;
mod password;
pub mod permissions;
mod phone;
mod social;

pub use ci_hash::CiHash;
pub use email::{Email, EmailSearch, email_prefixes, masked};
pub use failures::Failures;
pub use password::{GivenPassword, NewPassword, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};
pub use phone::Phone;
pub use social::{SocialProvider, VouchesIn};

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Lifetime of an access token.
pub const ACCESS_TOKEN_LENGTH: Duration = Duration::from_secs(60 * 60);

/// Lifetime of a refresh token.
pub const REFRESH_TOKEN_LENGTH: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A refresh token that was spent this recently is a lost answer or a second tab, not theft.
pub const REFRESH_GRACE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    User,
    /// An organiser with read-only access.
    Staff,
    Admin,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "USER",
            Role::Staff => "STAFF",
            Role::Admin => "ADMIN",
        }
    }

    /// Whether this role sees more than its own data.
    pub const fn is_organiser(self) -> bool {
        match self {
            Role::User => false,
            Role::Staff | Role::Admin => true,
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        [Role::User, Role::Staff, Role::Admin].into_iter().find(|role| role.as_str() == text)
    }
}

/// How long a sign-up code is valid, and how many guesses it allows.
pub const SIGN_UP_WITHIN: Duration = Duration::from_secs(15 * 60);
pub const SIGN_UP_TRIES_MAX: u32 = 5;

/// How long an invitation to the team is valid.
pub const INVITATION_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a link to set a new password is valid.
pub const RESET_WITHIN: Duration = Duration::from_secs(30 * 60);

/// Whether an account can be used. A dormant one becomes active when its owner logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum AccountStatus {
    Active,
    Dormant,
    Deleted,
}

impl AccountStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            AccountStatus::Active => "ACTIVE",
            AccountStatus::Dormant => "DORMANT",
            AccountStatus::Deleted => "DELETED",
        }
    }
}

/// An account without a log-in for this long becomes dormant.
pub const DORMANT_AFTER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The personal fields of a withdrawn account are erased after this long.
pub const ERASED_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[cfg(feature = "openapi")]
mod schema {
    use super::{Email, GivenPassword, NewPassword, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN, Phone};
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

    /// An ASCII address; case-insensitive.
    const EMAIL: &str = concat!(
        r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*",
        r"@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$"
    );

    /// A Korean number, or one with a country code.
    const PHONE: &str = r"^(0[0-9 ()-]{7,20}|\+[0-9][0-9 ()-]{7,20})$";

    fn text() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::String)
    }

    impl utoipa::PartialSchema for Email {
        fn schema() -> RefOr<Schema> {
            let format = SchemaFormat::KnownFormat(KnownFormat::Email);
            text().format(Some(format)).pattern(Some(EMAIL)).max_length(Some(254)).into()
        }
    }
    impl utoipa::ToSchema for Email {}

    impl utoipa::PartialSchema for NewPassword {
        fn schema() -> RefOr<Schema> {
            text()
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)))
                .min_length(Some(PASSWORD_CHARS_MIN))
                .max_length(Some(PASSWORD_CHARS_MAX))
                .into()
        }
    }
    impl utoipa::ToSchema for NewPassword {}

    impl utoipa::PartialSchema for GivenPassword {
        fn schema() -> RefOr<Schema> {
            let format = SchemaFormat::KnownFormat(KnownFormat::Password);
            text().format(Some(format)).max_length(Some(PASSWORD_CHARS_MAX)).into()
        }
    }
    impl utoipa::ToSchema for GivenPassword {}

    impl utoipa::PartialSchema for Phone {
        fn schema() -> RefOr<Schema> {
            text().pattern(Some(PHONE)).max_length(Some(32)).into()
        }
    }
    impl utoipa::ToSchema for Phone {}
}
