//! What bringing a schema up to date would do.

use refinery::Migration;

/// The steps from the version that is there to the one of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// 0 where there is no schema yet.
    pub known: i64,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub version: i64,
    pub name: String,
    pub sql: String,
}

impl Plan {
    pub(super) fn after(known: i64, ours: &[Migration]) -> Plan {
        let step = |migration: &Migration| Step {
            version: i64::from(migration.version()),
            name: migration.name().to_owned(),
            sql: migration.sql().unwrap_or_default().to_owned(),
        };
        let mut steps: Vec<Step> =
            ours.iter().map(step).filter(|step| known < step.version).collect();
        steps.sort_by_key(|step| step.version);
        Plan { known, steps }
    }
}
