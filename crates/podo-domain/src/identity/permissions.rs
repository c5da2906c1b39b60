//! What an organiser may do: permissions, the roles that combine them, and the events that they
//! are limited to.

use crate::catalog::text::FieldError;
use crate::{EventId, Refusal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Declares permissions with the name that the API and the store use.
macro_rules! permissions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal)*) => {
        /// One thing that an organiser may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        // utoipa does not see a `rename` that a macro fills in.
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        pub enum Permission {
            $($(#[$doc])* $variant,)*
        }

        impl Permission {
            pub const ALL: &[Permission] = &[$(Permission::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Permission::$variant => $name,)*
                }
            }
        }
    };
}

permissions! {
    /// Events, dates, venues, halls, queue settings and refund policies.
    ViewEvents = "VIEW_EVENTS"
    /// Creates, changes, opens, ends and cancels events and their dates.
    ManageEvents = "MANAGE_EVENTS"
    ManageVenues = "MANAGE_VENUES"
    /// Keeps seats from sale and releases them.
    ManageAllocations = "MANAGE_ALLOCATIONS"
    /// Sells seats at the desk, and prints their tickets.
    SellAtBoxOffice = "SELL_AT_BOX_OFFICE"
    /// Gives tickets away.
    IssueComplimentary = "ISSUE_COMPLIMENTARY"
    /// Moves bookings to other seats.
    ReseatBookings = "RESEAT_BOOKINGS"
    /// Changes the mode, the rate and the message of a waiting room.
    RunWaitingRoom = "RUN_WAITING_ROOM"
    /// The live monitor, statistics and reports: figures without people.
    ViewSales = "VIEW_SALES"
    /// Reservations and payments with their buyers.
    ViewOrders = "VIEW_ORDERS"
    /// Refunds payments and resolves stuck ones.
    RefundPayments = "REFUND_PAYMENTS"
    CorrectWallets = "CORRECT_WALLETS"
    /// Accounts, their places in waiting rooms, and bot signals.
    ViewPeople = "VIEW_PEOPLE"
    /// Reads people's and bookings' timelines, writes notes, sends confirmations again, and decides
    /// about appeals.
    SupportFans = "SUPPORT_FANS"
    CheckInTickets = "CHECK_IN_TICKETS"
    /// How many ticket holders are inside.
    ViewAttendance = "VIEW_ATTENDANCE"
    /// Edits the terms, the privacy policy and the business information.
    ManagePages = "MANAGE_PAGES"
    /// Reads all notifications; codes of accounts are among them.
    ReadMailbox = "READ_MAILBOX"
    /// Invites and removes organisers and changes their roles.
    ManageTeam = "MANAGE_TEAM"
    /// Creates and revokes API keys.
    ManageKeys = "MANAGE_KEYS"
    /// Changes webhook endpoints, and replays or drops dead letters.
    ManageIntegrations = "MANAGE_INTEGRATIONS"
    /// Jobs, invariants, the simulation, webhook endpoints and dead letters.
    ViewOperations = "VIEW_OPERATIONS"
    /// Runs jobs and simulations, and resumes stopped sales.
    Operate = "OPERATE"
    ViewAudit = "VIEW_AUDIT"
}

impl Permission {
    pub fn parse(text: &str) -> Option<Permission> {
        Permission::ALL.iter().copied().find(|permission| permission.as_str() == text)
    }
}

/// A named set of permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TeamRole {
    Owner,
    Manager,
    Finance,
    BoxOffice,
    Support,
    /// Checks tickets in and sees nothing else.
    Gate,
    /// Sees everything and changes nothing.
    Viewer,
    /// Permissions chosen one by one.
    Custom,
}

impl TeamRole {
    pub const ALL: [TeamRole; 8] = [
        TeamRole::Owner,
        TeamRole::Manager,
        TeamRole::Finance,
        TeamRole::BoxOffice,
        TeamRole::Support,
        TeamRole::Gate,
        TeamRole::Viewer,
        TeamRole::Custom,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            TeamRole::Owner => "OWNER",
            TeamRole::Manager => "MANAGER",
            TeamRole::Finance => "FINANCE",
            TeamRole::BoxOffice => "BOX_OFFICE",
            TeamRole::Support => "SUPPORT",
            TeamRole::Gate => "GATE",
            TeamRole::Viewer => "VIEWER",
            TeamRole::Custom => "CUSTOM",
        }
    }

    pub fn parse(text: &str) -> Option<TeamRole> {
        TeamRole::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The permissions of the role; `None` if they are chosen one by one.
    pub const fn permissions(self) -> Option<&'static [Permission]> {
        use Permission as P;
        Some(match self {
            TeamRole::Owner => Permission::ALL,
            TeamRole::Manager => &[
                P::ViewEvents,
                P::ManageEvents,
                P::ManageVenues,
                P::ManageAllocations,
                P::SellAtBoxOffice,
                P::IssueComplimentary,
                P::ReseatBookings,
                P::RunWaitingRoom,
                P::ViewSales,
                P::ViewOrders,
                P::RefundPayments,
                P::ViewPeople,
                P::SupportFans,
                P::CheckInTickets,
                P::ViewAttendance,
                P::ManagePages,
                P::ManageIntegrations,
                P::ViewOperations,
                P::Operate,
                P::ViewAudit,
            ],
            TeamRole::Finance => &[
                P::ViewEvents,
                P::ViewSales,
                P::ViewOrders,
                P::RefundPayments,
                P::CorrectWallets,
                P::ViewAudit,
            ],
            TeamRole::BoxOffice => &[
                P::ViewEvents,
                P::SellAtBoxOffice,
                P::ReseatBookings,
                P::ViewSales,
                P::ViewOrders,
                P::RefundPayments,
                P::ViewPeople,
                P::CheckInTickets,
                P::ViewAttendance,
            ],
            TeamRole::Support => &[
                P::ViewEvents,
                P::ReseatBookings,
                P::ViewOrders,
                P::ViewPeople,
                P::SupportFans,
                P::ViewAttendance,
            ],
            TeamRole::Gate => &[P::CheckInTickets, P::ViewAttendance],
            TeamRole::Viewer => &[
                P::ViewEvents,
                P::ViewSales,
                P::ViewOrders,
                P::ViewPeople,
                P::ViewAttendance,
                P::ViewOperations,
                P::ViewAudit,
            ],
            TeamRole::Custom => return None,
        })
    }
}

/// Most events that a grant names.
pub const EVENTS_PER_GRANT_MAX: usize = 20;

/// The events that a grant applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventScope {
    All,
    Only(BTreeSet<EventId>),
}

impl EventScope {
    pub fn includes(&self, event: EventId) -> bool {
        match self {
            EventScope::All => true,
            EventScope::Only(events) => events.contains(&event),
        }
    }

    /// The events of a limited scope, for filters.
    pub fn only(&self) -> Option<BTreeSet<EventId>> {
        match self {
            EventScope::All => None,
            EventScope::Only(events) => Some(events.clone()),
        }
    }

    fn covers(&self, other: &EventScope) -> bool {
        match (self, other) {
            (EventScope::All, _) => true,
            (EventScope::Only(_), EventScope::All) => false,
            (EventScope::Only(ours), EventScope::Only(theirs)) => theirs.is_subset(ours),
        }
    }

    fn meet(&self, other: &EventScope) -> EventScope {
        match (self, other) {
            (EventScope::All, scope) | (scope, EventScope::All) => scope.clone(),
            (EventScope::Only(ours), EventScope::Only(theirs)) => EventScope::Only(ours & theirs),
        }
    }
}

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The whole installation: a grant that is limited to events doesn't reach it.
    Everywhere,
    Event(EventId),
    /// Several events: the caller sees those of its scope.
    OwnEvents,
}

/// What an account or a key may do, and for which events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub permissions: BTreeSet<Permission>,
    pub events: EventScope,
}

impl Grant {
    /// Total: every permission on every subject has an answer. An event outside the scope looks
    /// like a missing one.
    pub fn check(&self, permission: Permission, subject: Subject) -> Result<(), Refusal> {
        if !self.permissions.contains(&permission) {
            return Err(Refusal::PermissionMissing { permission });
        }
        match (&self.events, subject) {
            (EventScope::All, _) | (EventScope::Only(_), Subject::OwnEvents) => Ok(()),
            (EventScope::Only(_), Subject::Everywhere) => {
                Err(Refusal::PermissionMissing { permission })
            }
            (EventScope::Only(events), Subject::Event(event)) => {
                if events.contains(&event) {
                    Ok(())
                } else {
                    Err(Refusal::NotFound)
                }
            }
        }
    }

    /// Whether everything that `other` permits is permitted here. No one gives more than they have.
    pub fn covers(&self, other: &Grant) -> bool {
        other.permissions.is_subset(&self.permissions) && self.events.covers(&other.events)
    }

    /// What both permit.
    pub fn meet(&self, other: &Grant) -> Grant {
        Grant {
            permissions: &self.permissions & &other.permissions,
            events: self.events.meet(&other.events),
        }
    }
}

/// An organiser's role with what it grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub role: TeamRole,
    pub grant: Grant,
}

impl Membership {
    /// A role as an organiser chooses it: `permissions` only for a custom one, `events` only for a
    /// limited one. Owners aren't limited.
    pub fn new(
        role: TeamRole,
        permissions: Option<BTreeSet<Permission>>,
        events: Option<BTreeSet<EventId>>,
    ) -> Result<Membership, Refusal> {
        let invalid = |field, problem| Refusal::Invalid { field, problem };
        let permissions = match (role.permissions(), permissions) {
            (Some(preset), None) => preset.iter().copied().collect(),
            (None, Some(chosen)) if !chosen.is_empty() => chosen,
            (Some(_), Some(_)) => {
                return Err(invalid("permissions", FieldError::TooLong { max: 0 }));
            }
            (None, _) => return Err(invalid("permissions", FieldError::Blank)),
        };
        let events = match events {
            None => EventScope::All,
            Some(_) if role == TeamRole::Owner => {
                return Err(invalid("events", FieldError::TooLong { max: 0 }));
            }
            Some(events) if events.is_empty() => return Err(invalid("events", FieldError::Blank)),
            Some(events) if events.len() > EVENTS_PER_GRANT_MAX => {
                return Err(invalid("events", FieldError::TooLong { max: EVENTS_PER_GRANT_MAX }));
            }
            Some(events) => EventScope::Only(events),
        };
        Ok(Membership { role, grant: Grant { permissions, events } })
    }

    /// A preset for all events.
    pub fn preset(role: TeamRole) -> Membership {
        let permissions = role.permissions().unwrap_or_default().iter().copied().collect();
        Membership { role, grant: Grant { permissions, events: EventScope::All } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn event(number: u128) -> EventId {
        EventId::new(Uuid::from_u128(number))
    }

    fn only(numbers: &[u128]) -> EventScope {
        EventScope::Only(numbers.iter().map(|number| event(*number)).collect())
    }

    fn grant(role: TeamRole, events: EventScope) -> Grant {
        Grant { events, ..Membership::preset(role).grant }
    }

    #[test]
    fn every_permission_and_role_has_one_name() {
        for permission in Permission::ALL {
            assert_eq!(Permission::parse(permission.as_str()), Some(*permission));
            let json = serde_json::to_string(permission).unwrap();
            assert_eq!(json, format!("\"{}\"", permission.as_str()));
        }
        for role in TeamRole::ALL {
            assert_eq!(TeamRole::parse(role.as_str()), Some(role));
            assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{}\"", role.as_str()));
        }
    }

    #[test]
    fn a_check_answers_for_every_permission_and_subject() {
        let subjects = [
            Subject::Everywhere,
            Subject::Event(event(1)),
            Subject::Event(event(2)),
            Subject::OwnEvents,
        ];
        for role in TeamRole::ALL {
            for permission in Permission::ALL {
                let has = Membership::preset(role).grant.permissions.contains(permission);
                let unlimited = grant(role, EventScope::All);
                let limited = grant(role, only(&[1]));
                for subject in subjects {
                    assert_eq!(unlimited.check(*permission, subject).is_ok(), has);
                    let expected = match subject {
                        _ if !has => Err(Refusal::PermissionMissing { permission: *permission }),
                        Subject::Everywhere => {
                            Err(Refusal::PermissionMissing { permission: *permission })
                        }
                        Subject::Event(id) if id == event(2) => Err(Refusal::NotFound),
                        Subject::Event(_) | Subject::OwnEvents => Ok(()),
                    };
                    assert_eq!(limited.check(*permission, subject), expected);
                }
            }
        }
    }

    #[test]
    fn the_gate_only_checks_in_and_counts() {
        let gate = TeamRole::Gate.permissions().unwrap();
        assert_eq!(gate, [Permission::CheckInTickets, Permission::ViewAttendance]);
    }

    #[test]
    fn a_viewer_changes_nothing_and_only_an_owner_reads_codes_or_gives_access() {
        for permission in TeamRole::Viewer.permissions().unwrap() {
            assert!(permission.as_str().starts_with("VIEW_"), "{permission:?}");
        }
        let owners = [Permission::ReadMailbox, Permission::ManageTeam, Permission::ManageKeys];
        for role in TeamRole::ALL.into_iter().filter(|role| *role != TeamRole::Owner) {
            let preset = role.permissions().unwrap_or_default();
            assert!(owners.iter().all(|permission| !preset.contains(permission)), "{role:?}");
        }
    }

    #[test]
    fn a_grant_covers_what_it_contains_and_no_more() {
        let owner = grant(TeamRole::Owner, EventScope::All);
        let manager = grant(TeamRole::Manager, only(&[1, 2]));
        let gate = grant(TeamRole::Gate, only(&[1]));
        assert!(owner.covers(&manager) && manager.covers(&gate) && gate.covers(&gate));
        assert!(!manager.covers(&owner) && !gate.covers(&manager));
        assert!(!manager.covers(&grant(TeamRole::Gate, EventScope::All)), "more events");
        assert!(!manager.covers(&grant(TeamRole::Gate, only(&[3]))), "another event");
        assert!(!manager.covers(&grant(TeamRole::Finance, only(&[1]))), "more permissions");
    }

    #[test]
    fn what_two_grants_share_is_covered_by_both() {
        let support = grant(TeamRole::Support, only(&[1, 2]));
        let gate = grant(TeamRole::Gate, only(&[2, 3]));
        let both = support.meet(&gate);
        assert!(support.covers(&both) && gate.covers(&both));
        assert_eq!(both.events, only(&[2]));
        assert_eq!(both.permissions, [Permission::ViewAttendance].into());
        assert_eq!(gate.meet(&grant(TeamRole::Owner, EventScope::All)), gate);
    }

    #[test]
    fn a_role_is_built_only_from_a_valid_choice() {
        let events = |numbers: &[u128]| Some(numbers.iter().map(|it| event(*it)).collect());
        let chosen = || Some([Permission::ViewSales].into());
        assert!(Membership::new(TeamRole::Owner, None, None).is_ok());
        assert!(Membership::new(TeamRole::Owner, None, events(&[1])).is_err(), "limited owner");
        assert!(Membership::new(TeamRole::Gate, chosen(), None).is_err(), "preset with a choice");
        assert!(Membership::new(TeamRole::Custom, None, None).is_err());
        assert!(Membership::new(TeamRole::Custom, Some(BTreeSet::new()), None).is_err());
        assert!(Membership::new(TeamRole::Gate, None, events(&[])).is_err(), "no event");
        let many: Vec<u128> = (0..=20).collect();
        assert!(Membership::new(TeamRole::Gate, None, events(&many)).is_err(), "too many");
        let custom = Membership::new(TeamRole::Custom, chosen(), events(&[1])).unwrap();
        assert!(custom.grant.check(Permission::ViewSales, Subject::Event(event(1))).is_ok());
    }
}
