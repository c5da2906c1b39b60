//! A node's roles: the groups of the API that it serves, and the jobs that it runs.

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// A group of routes that a load balancer can tell apart by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Queue,
    Booking,
    Payment,
    Catalog,
    Admin,
}

/// The groups with their names and path prefixes. Accounts and notifications belong to the catalog,
/// because fans use them before and beside a purchase.
const GROUPS: [(Group, &str, &[&str]); 5] = [
    (Group::Queue, "queue", &["/api/queue"]),
    (Group::Booking, "booking", &["/api/booking", "/api/tickets"]),
    (Group::Payment, "payment", &["/api/payment", "/api/wallet"]),
    (Group::Catalog, "catalog", &["/api/events", "/api/schedules", "/api/auth", "/api/users"]),
    (Group::Admin, "admin", &["/api/admin"]),
];

impl Group {
    /// The path's group. Pages, health and documents belong to none.
    pub fn of(path: &str) -> Option<Group> {
        let is_below = |start: &&str| {
            path.strip_prefix(*start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let found = GROUPS.iter().find(|(_, _, starts)| starts.iter().any(is_below));
        found.map(|(group, _, _)| *group)
    }
}

/// The roles of this node, in any combination. Every node serves health, metrics and documents.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Roles {
    groups: Vec<Group>,
    /// Admits waiting fans.
    pub admits: bool,
    /// Runs all other jobs.
    pub works: bool,
}

impl Roles {
    pub fn serves(&self, path: &str) -> bool {
        Group::of(path).is_none_or(|group| self.groups.contains(&group))
    }

    /// Whether this node has every role, as a single node must.
    pub fn is_complete(&self) -> bool {
        self.groups.len() == GROUPS.len() && self.admits && self.works
    }

    fn add(&mut self, word: &str) -> Result<(), UnknownRole> {
        let known = GROUPS.iter().find(|(_, name, _)| *name == word);
        match word {
            "api" => self.groups = GROUPS.iter().map(|(group, _, _)| *group).collect(),
            "admitter" => self.admits = true,
            "worker" => self.works = true,
            _ => {
                let (group, _, _) = known.ok_or_else(|| UnknownRole(word.to_owned()))?;
                if !self.groups.contains(group) {
                    self.groups.push(*group);
                }
            }
        }
        Ok(())
    }
}

impl FromStr for Roles {
    type Err = UnknownRole;

    /// Parses `queue,booking,worker`.
    fn from_str(text: &str) -> Result<Roles, UnknownRole> {
        let mut roles = Roles { groups: Vec::new(), admits: false, works: false };
        text.split(',').try_for_each(|word| roles.add(word.trim()))?;
        Ok(roles)
    }
}

impl TryFrom<String> for Roles {
    type Error = UnknownRole;

    fn try_from(text: String) -> Result<Roles, UnknownRole> {
        text.parse()
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if self.groups.len() == GROUPS.len() {
            words.push("api");
        } else {
            let ours = GROUPS.iter().filter(|(group, _, _)| self.groups.contains(group));
            words.extend(ours.map(|(_, name, _)| *name));
        }
        words.extend(self.admits.then_some("admitter"));
        words.extend(self.works.then_some("worker"));
        f.write_str(&words.join(","))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct UnknownRole(String);

impl fmt::Display for UnknownRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.0;
        write!(f, "roles: unknown role `{word}`; choose from api (all of ")?;
        for (index, (_, name, _)) in GROUPS.iter().enumerate() {
            write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, "), any of those, admitter, worker; write them as `queue,booking`")
    }
}

impl std::error::Error for UnknownRole {}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(text: &str) -> Roles {
        text.parse().unwrap()
    }

    #[test]
    fn roles_are_read_in_any_mix_and_shown_shortest() {
        assert_eq!(roles("worker, queue,queue").to_string(), "queue,worker");
        assert_eq!(roles("queue,booking,payment,catalog,admin").to_string(), "api");
        assert!(roles("admitter,api,worker").is_complete());
        assert!(!roles("api,admitter").is_complete());
    }

    #[test]
    fn an_unknown_role_is_refused_with_the_ones_there_are() {
        for wrong in ["", "api,", "Api", "admiter"] {
            let refused = wrong.parse::<Roles>().unwrap_err().to_string();
            assert!(refused.contains("queue, booking, payment, catalog, admin"), "{refused}");
        }
    }

    #[test]
    fn a_node_serves_its_groups_and_what_belongs_to_none() {
        let node = roles("queue,worker");
        for path in ["/api/queue/enter", "/api/queue", "/", "/metrics", "/api/openapi.json"] {
            assert!(node.serves(path), "{path}");
        }
        for path in ["/api/booking/seats", "/api/wallet", "/api/admin/venues", "/api/auth/login"] {
            assert!(!node.serves(path), "{path}");
        }
        assert!(node.serves("/api/adminer"), "a group ends at a slash");
    }

    #[test]
    fn every_route_of_the_api_belongs_to_a_group() {
        let paths = crate::routes::openapi().paths.paths;
        for path in paths.keys().filter(|path| path.starts_with("/api/")) {
            assert!(Group::of(path).is_some(), "add {path} to a group");
        }
    }
}
