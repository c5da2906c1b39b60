//! A dry run of the migrations.

use refinery::Migration;

/// The steps from the schema's version to this program's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationPlan {
    /// 0 if there is no schema yet.
    pub known: i64,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub version: i64,
    pub name: String,
    pub sql: String,
}

impl MigrationPlan {
    pub(crate) fn after(known: i64, ours: &[Migration]) -> MigrationPlan {
        let step = |migration: &Migration| Step {
            version: i64::from(migration.version()),
            name: migration.name().to_owned(),
            sql: migration.sql().unwrap_or_default().to_owned(),
        };
        let mut steps: Vec<Step> =
            ours.iter().map(step).filter(|step| known < step.version).collect();
        steps.sort_by_key(|step| step.version);
        MigrationPlan { known, steps }
    }
}
