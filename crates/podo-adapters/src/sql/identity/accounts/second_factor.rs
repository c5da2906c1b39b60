//! Second factors: enrol, confirm, use once per time step, remove.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::identity::accounts::sessions::end_all;
use crate::sql::messaging::outbox::security_changed;
use podo_app::Result;
use podo_app::identity::port::accounts::{ChangeTotp, TotpChange};
use podo_domain::SessionId;
use podo_domain::identity::Role;
use podo_domain::messaging::announcements::SecurityChange;

/// Every change is a compare-and-set: a time step counts once, even under concurrent attempts.
pub(super) async fn change(
    tx: &mut dyn Tx,
    command: &ChangeTotp,
) -> Result<Option<Vec<SessionId>>> {
    let (user, now) = (command.user, command.now);
    let n_changed = match &command.change {
        TotpChange::Begin { secret } => {
            let sql = "update users set totp_secret = $2, totp_step = 0, updated_at = $3
                        where id = $1 and totp_since is null and status <> 'DELETED'";
            tx.execute(sql, params![user, secret.as_slice(), now]).await?
        }
        TotpChange::Confirm { step, .. } => {
            let sql = "update users set totp_since = $3, totp_step = $2, updated_at = $3
                        where id = $1 and totp_since is null and totp_step < $2";
            tx.execute(sql, params![user, *step, now]).await?
        }
        TotpChange::Use { step } => {
            let sql = "update users set totp_step = $2, updated_at = $3
                        where id = $1 and totp_since is not null and totp_step < $2";
            tx.execute(sql, params![user, *step, now]).await?
        }
        TotpChange::Remove { step } => {
            let sql = "update users set totp_secret = null, totp_since = null, updated_at = $3
                        where id = $1 and totp_since is not null and totp_step < $2";
            tx.execute(sql, params![user, *step, now]).await?
        }
        TotpChange::Reset => {
            let sql = "update users set totp_secret = null, totp_since = null, updated_at = $2
                        where id = $1";
            tx.execute(sql, params![user, now]).await?
        }
    };
    if n_changed != 1 {
        return Ok(None);
    }
    let change = match &command.change {
        TotpChange::Confirm { .. } => Some(SecurityChange::SecondFactorOn),
        TotpChange::Remove { .. } | TotpChange::Reset => Some(SecurityChange::SecondFactorOff),
        TotpChange::Begin { .. } | TotpChange::Use { .. } => None,
    };
    if let Some(change) = change {
        security_changed(tx, user, change, now).await?;
    }
    match &command.change {
        TotpChange::Confirm { keep, .. } => Ok(Some(end_all(tx, user, Some(*keep), now).await?)),
        TotpChange::Reset => Ok(Some(end_all(tx, user, None, now).await?)),
        TotpChange::Begin { .. } | TotpChange::Use { .. } | TotpChange::Remove { .. } => {
            Ok(Some(Vec::new()))
        }
    }
}

/// How a role is stored: a read-only organiser is an organiser with a flag.
pub(crate) const fn stored(role: Role) -> (&'static str, bool) {
    match role {
        Role::User => ("USER", false),
        Role::Staff => ("ADMIN", true),
        Role::Admin => ("ADMIN", false),
    }
}

pub(crate) fn read_role(role: &str, reads_only: bool) -> Option<Role> {
    match (role, reads_only) {
        ("USER", _) => Some(Role::User),
        ("ADMIN", true) => Some(Role::Staff),
        ("ADMIN", false) => Some(Role::Admin),
        _ => None,
    }
}
