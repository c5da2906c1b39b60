//! A transaction in which statements of the product run without one of their conditions, so that a
//! test can show what the condition is for. Only builds with the feature `mutants` have it.

use super::connection::SqliteTx;
use crate::sql::tx::{Guard, SqlError, Tx};
use crate::sql::value::{Row, Value};
use app::ports::clock::Chance;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Every statement that has `from` runs with `to` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    pub from: &'static str,
    pub to: &'static str,
}

pub(super) struct EditedTx<'t, 'c> {
    pub(super) tx: &'t mut SqliteTx<'c>,
    pub(super) edits: &'t [Edit],
}

impl EditedTx<'_, '_> {
    fn edited(&self, sql: &'static str) -> &'static str {
        self.edits.iter().fold(sql, |sql, edit| apply(sql, *edit))
    }
}

/// Statements are found by their address, so each edited one is made once and kept.
fn apply(sql: &'static str, edit: Edit) -> &'static str {
    static KEPT: Mutex<Option<HashMap<(&'static str, &'static str), &'static str>>> =
        Mutex::new(None);
    if !sql.contains(edit.from) {
        return sql;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_with(HashMap::new);
    kept.entry((sql, edit.to)).or_insert_with(|| sql.replace(edit.from, edit.to).leak())
}

impl Tx for EditedTx<'_, '_> {
    fn execute<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<u64, SqlError>> {
        let sql = self.edited(sql);
        self.tx.execute(sql, params)
    }

    fn query<'t>(
        &'t mut self,
        sql: &'static str,
        params: &'t [Value],
    ) -> BoxFuture<'t, Result<Vec<Row>, SqlError>> {
        let sql = self.edited(sql);
        self.tx.query(sql, params)
    }

    fn chance(&self) -> &dyn Chance {
        self.tx.chance()
    }

    fn has(&self, guard: Guard) -> bool {
        self.tx.has(guard)
    }
}
