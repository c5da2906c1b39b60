//! The statements of a connection, ready to run.
//!
//! They are found by where their text stands in the program: hashing and copying the text of each one
//! that runs, as a cache by text does, costs as much as a small statement itself.

use crate::sql::value::Value;
use rusqlite::{CachedStatement, Connection};
use std::collections::HashMap;

pub(super) struct Statements<'c> {
    connection: &'c Connection,
    ready: HashMap<(usize, usize), Ready<'c>>,
}

pub(super) struct Ready<'c> {
    pub(super) statement: CachedStatement<'c>,
    /// Which value each parameter takes. `$3` is the third value, as in PostgreSQL; to SQLite it is a
    /// name, numbered by where it is first used in the text.
    values: Vec<usize>,
}

impl<'c> Statements<'c> {
    pub(super) fn of(connection: &'c Connection) -> Statements<'c> {
        Statements { connection, ready: HashMap::new() }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    pub(super) fn find(&mut self, sql: &'static str) -> rusqlite::Result<&mut Ready<'c>> {
        use std::collections::hash_map::Entry;
        match self.ready.entry((sql.as_ptr().addr(), sql.len())) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let statement = self.connection.prepare_cached(sql)?;
                let values = (1..=statement.parameter_count()).map(|index| {
                    let name = statement.parameter_name(index).unwrap_or_default();
                    let number = name.strip_prefix('$').and_then(|it| it.parse::<usize>().ok());
                    let index = number.and_then(|number| number.checked_sub(1));
                    index.ok_or_else(|| rusqlite::Error::InvalidParameterName(name.to_owned()))
                });
                let values = values.collect::<rusqlite::Result<_>>()?;
                Ok(unknown.insert(Ready { statement, values }))
            }
        }
    }
}

impl Ready<'_> {
    pub(super) fn bind(&mut self, params: &[Value]) -> rusqlite::Result<()> {
        for (index, value) in self.values.iter().enumerate() {
            let value = params
                .get(*value)
                .ok_or_else(|| rusqlite::Error::InvalidParameterName(format!("${}", value + 1)))?;
            self.statement.raw_bind_parameter(index + 1, value)?;
        }
        Ok(())
    }
}
