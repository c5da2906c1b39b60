//! A transaction that runs the product's statements without one of their conditions, so that a test
//! can show what the condition prevents. Only in builds with the feature `mutants`.

use crate::sql::engine::sqlite::connection::SqliteTx;
use crate::sql::engine::tx::{Guard, SqlError, Tx};
use crate::sql::engine::value::{Row, Value};
use futures::future::BoxFuture;
use podo_app::operations::port::clock::Rng;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Replaces `from` with `to` in every statement that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    pub from: &'static str,
    pub to: &'static str,
}

pub(crate) struct EditedTx<'t, 'c> {
    pub(crate) tx: &'t mut SqliteTx<'c>,
    pub(crate) edits: &'t [Edit],
}

impl EditedTx<'_, '_> {
    fn edited(&self, sql: &'static str) -> &'static str {
        self.edits.iter().fold(sql, |sql, edit| apply(sql, *edit))
    }
}

/// Statements are cached by address, so each edited one is created once and kept.
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

    fn rng(&self) -> &dyn Rng {
        self.tx.rng()
    }

    fn has(&self, guard: Guard) -> bool {
        self.tx.has(guard)
    }
}
