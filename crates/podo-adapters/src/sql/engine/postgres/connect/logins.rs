//! A login per service, as an alternative to one login with every role.

use crate::sql::DatabaseRole;
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub name: String,
    pub password: String,
}

/// Omits the password.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.name)
    }
}

/// In the order of `DatabaseRole::ALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logins(Vec<Login>);

impl Logins {
    /// Reads `user=NAME:PASSWORD` and the same for `event`, `sales`, `worker` and `readonly`.
    pub fn read(list: &[String]) -> Result<Logins, String> {
        let find = |role: DatabaseRole| {
            let service = role.service();
            let mut entries = list.iter().filter_map(|entry| entry.trim().split_once('='));
            let (_, login) = entries
                .find(|(name, _)| name.trim() == service)
                .ok_or_else(|| format!("there is no login of `{service}`"))?;
            read_login(login).ok_or_else(|| format!("`{service}`: write NAME:PASSWORD"))
        };
        let logins = DatabaseRole::ALL.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let n_names = logins.iter().map(|it| &it.name).collect::<std::collections::BTreeSet<_>>();
        match (list.len(), n_names.len()) {
            (5, 5) => Ok(Logins(logins)),
            (5, _) => Err("each service has a login of its own".to_owned()),
            (_, _) => Err("name user, event, sales, worker and readonly, each once".to_owned()),
        }
    }

    pub(crate) fn of(&self, role: DatabaseRole) -> &Login {
        &self.0[role as usize]
    }
}

fn read_login(text: &str) -> Option<Login> {
    let (name, password) = text.trim().split_once(':')?;
    // The name becomes part of statements.
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_name = !name.is_empty() && name.chars().all(|it| is_plain(it) || it == '_');
    let is_complete = is_name && name.len() <= 63 && !password.is_empty();
    is_complete.then(|| Login { name: name.to_owned(), password: password.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &[&str]) -> Result<Logins, String> {
        Logins::read(&list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn every_service_has_a_login_of_its_own() {
        let list = ["readonly=r:5", "user=u:1", " event=e:2", "sales=s:a:b", "worker=w:4"];
        let logins = read(&list).unwrap();
        assert_eq!(logins.of(DatabaseRole::Sales).password, "a:b");
        assert_eq!(logins.of(DatabaseRole::ReadOnly).name, "r");
        assert!(!format!("{logins:?}").contains("a:b"));
        for wrong in [
            &list[..4],
            &["readonly=u:5", "user=u:1", "event=e:2", "sales=s:3", "worker=w:4"],
            &["readonly=r", "user=u:1", "event=e:2", "sales=s:3", "worker=w:4"],
            &["readonly=r\":5", "user=u:1", "event=e:2", "sales=s:3", "worker=w:4"],
            &["x=x:1", "readonly=r:5", "user=u:1", "event=e:2", "sales=s:3", "worker=w:4"],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
