//! Links accounts of other services to the caller's account. The caller must be logged in, because
//! a shared address proves nothing.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::profile::prove;
use crate::identity::accounts::social::{Link, SocialStart, begin};
use crate::identity::port::accounts::{LinkSocial, LinkedView, SocialAccount};
use crate::identity::sessions::Caller;
use podo_domain::identity::SocialProvider;
use podo_domain::{Refusal, Timestamp};

/// The services linked to the account.
pub async fn links(context: &AppContext, caller: Caller) -> Result<Vec<LinkedView>> {
    context.store.social_of(caller.user).await
}

/// Starts a link: the browser goes to the service and returns as from a log-in.
pub async fn start_link(
    context: &AppContext,
    caller: Caller,
    provider: SocialProvider,
    password: String,
) -> Result<SocialStart> {
    prove(context, caller, password).await?;
    begin(context, provider, Some(Link { user: caller.user, session: caller.session })).await
}

/// Refuses the link if the caller has logged out meanwhile.
pub(crate) async fn finish_link(
    context: &AppContext,
    link: Link,
    account: SocialAccount,
    now: Timestamp,
) -> Result<()> {
    if context.identity.revocations.is_revoked(link.session, now).await? {
        return Err(Refusal::LoginRequired.into());
    }
    context.store.link_social(LinkSocial { user: link.user, account, now }).await
}

/// Refuses to remove the last way to log in.
pub async fn unlink(
    context: &AppContext,
    caller: Caller,
    provider: SocialProvider,
    password: String,
) -> Result<()> {
    prove(context, caller, password).await?;
    match context.store.unlink_social(caller.user, provider).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}
