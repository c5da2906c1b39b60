//! Linking accounts at other services to one's own, while logged in here: an address that both have
//! in common proves nothing.

use super::profile::prove;
use super::social::{Link, SocialStart, begin};
use crate::error::Result;
use crate::platform::Platform;
use crate::ports::accounts::{LinkSocial, LinkedView, SocialAccount};
use crate::sessions::Caller;
use domain::accounts::SocialProvider;
use domain::{Refusal, Timestamp};

/// What is linked to the account.
pub async fn links(platform: &Platform, caller: Caller) -> Result<Vec<LinkedView>> {
    platform.store.social_of(caller.user).await
}

/// Begins a link: the browser goes to the service and comes back as from a log-in.
pub async fn start_link(
    platform: &Platform,
    caller: Caller,
    provider: SocialProvider,
    password: String,
) -> Result<SocialStart> {
    prove(platform, caller, password).await?;
    begin(platform, provider, Some(Link { user: caller.user, session: caller.session })).await
}

/// Whoever logged out meanwhile links nothing.
pub(super) async fn finish_link(
    platform: &Platform,
    link: Link,
    account: SocialAccount,
    now: Timestamp,
) -> Result<()> {
    if platform.revocations.is_revoked(link.session, now).await? {
        return Err(Refusal::LoginRequired.into());
    }
    platform.store.link_social(LinkSocial { user: link.user, account, now }).await
}

/// Refuses when nothing would be left to log in with.
pub async fn unlink(
    platform: &Platform,
    caller: Caller,
    provider: SocialProvider,
    password: String,
) -> Result<()> {
    prove(platform, caller, password).await?;
    match platform.store.unlink_social(caller.user, provider).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}
