//! People in organisers' lists.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::open;
use crate::identity::port::accounts::UserRecord;
use podo_domain::UserId;
use podo_domain::identity::masked;
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;
use uuid::Uuid;

/// A person in a list: enough to recognise them, too little to write to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonHint {
    pub id: UserId,
    pub name: String,
    /// With most of the part before the `@` hidden: `ki***@podo.kr`.
    pub email: String,
}

/// A person's name and whole address.
#[derive(Clone)]
pub(crate) struct KnownPerson {
    user: UserId,
    name: String,
    pub(crate) email: String,
}

impl KnownPerson {
    pub(crate) fn hint(&self) -> PersonHint {
        PersonHint { id: self.user, name: self.name.clone(), email: masked(&self.email) }
    }
}

/// These people, in one round trip; without deleted accounts, and without those that can't be
/// decrypted: a list opens without one.
pub(crate) async fn people_of(
    context: &AppContext,
    users: impl IntoIterator<Item = UserId>,
) -> Result<HashMap<UserId, KnownPerson>> {
    let mut users: Vec<UserId> = users.into_iter().collect();
    users.sort_unstable();
    users.dedup();
    if users.is_empty() {
        return Ok(HashMap::new());
    }
    let found = context.store.users(users).await?;
    let known = |user: &UserRecord| match known(context, user) {
        Ok(person) => Some((user.user, person)),
        Err(error) => {
            tracing::warn!(user.id = %user.user, %error, "Could not decrypt a name");
            None
        }
    };
    Ok(found.iter().filter_map(known).collect())
}

/// The same for a list.
pub(crate) async fn hints(
    context: &AppContext,
    users: impl IntoIterator<Item = UserId>,
) -> Result<HashMap<UserId, PersonHint>> {
    let found = people_of(context, users).await?;
    Ok(found.into_iter().map(|(user, person)| (user, person.hint())).collect())
}

fn known(context: &AppContext, user: &UserRecord) -> Result<KnownPerson> {
    Ok(KnownPerson {
        user: user.user,
        name: open(context, "name", user.user, &user.name)?,
        email: open(context, "email", user.user, &user.email)?,
    })
}

/// The people behind the ids in these texts: accounts, and who booked or paid. Other ids have no
/// one.
pub(crate) async fn people_behind<'t>(
    context: &AppContext,
    texts: impl IntoIterator<Item = &'t str>,
) -> Result<PeopleBehind> {
    let mut ids: Vec<Uuid> = texts.into_iter().flat_map(ids_in).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(PeopleBehind::default());
    }
    let owners: HashMap<Uuid, UserId> =
        context.store.owners_of(ids.clone()).await?.into_iter().collect();
    let users = ids.iter().map(|id| owners.get(id).copied().unwrap_or(UserId::new(*id)));
    let people = hints(context, users).await?;
    Ok(PeopleBehind { owners, people })
}

#[derive(Default)]
pub(crate) struct PeopleBehind {
    owners: HashMap<Uuid, UserId>,
    people: HashMap<UserId, PersonHint>,
}

impl PeopleBehind {
    /// The first person that a text is about.
    pub(crate) fn of(&self, text: &str) -> Option<PersonHint> {
        let person = |id: Uuid| {
            let user = self.owners.get(&id).copied().unwrap_or(UserId::new(id));
            self.people.get(&user).cloned()
        };
        ids_in(text).into_iter().find_map(person)
    }
}

const ID_LENGTH: usize = 36;

/// Most ids of one text, which may be a message of another system.
const IDS_MAX: usize = 8;

/// The ids in an address, a subject or a message.
fn ids_in(text: &str) -> Vec<Uuid> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + ID_LENGTH <= text.len() && found.len() < IDS_MAX {
        match text.get(at..at + ID_LENGTH).map(str::parse) {
            Some(Ok(id)) => {
                found.push(id);
                at += ID_LENGTH;
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_addresses_and_messages() {
        let id = Uuid::from_u128(7);
        assert_eq!(ids_in(&id.to_string()), [id]);
        assert_eq!(ids_in(&format!("/api/admin/users/{id}/wallet?x={id}")), [id, id]);
        assert_eq!(ids_in(&format!("예매 {id}")), [id], "between other characters");
        assert!(ids_in("settings").is_empty());
        assert_eq!(ids_in(&format!("{id},").repeat(20)).len(), IDS_MAX);
    }
}
