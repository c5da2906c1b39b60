//! The prepared statements of a connection.
//!
//! They are looked up by the address of their text: hashing and copying the text of every
//! statement, as a cache by text does, costs as much as a small statement itself.

use crate::sql::engine::value::{Columns, Value};
use rusqlite::{CachedStatement, Connection};
use std::collections::HashMap;

pub(crate) struct Statements<'c> {
    connection: &'c Connection,
    ready: HashMap<(usize, usize), Ready<'c>>,
}

pub(crate) struct Ready<'c> {
    pub(crate) statement: CachedStatement<'c>,
    /// Which value each parameter takes. `$3` is the third value, as in PostgreSQL; to SQLite it is
    /// a name, numbered by its first use in the text.
    values: Vec<usize>,
    /// The columns of its rows.
    pub(crate) columns: Columns,
}

impl<'c> Statements<'c> {
    pub(crate) fn of(connection: &'c Connection) -> Statements<'c> {
        Statements { connection, ready: HashMap::new() }
    }

    pub(crate) fn connection(&self) -> &'c Connection {
        self.connection
    }

    pub(crate) fn find(&mut self, sql: &'static str) -> rusqlite::Result<&mut Ready<'c>> {
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
                let columns = Columns::named(statement.column_names());
                Ok(unknown.insert(Ready { statement, values, columns }))
            }
        }
    }
}

impl Ready<'_> {
    pub(crate) fn bind(&mut self, params: &[Value]) -> rusqlite::Result<()> {
        for (index, value) in self.values.iter().enumerate() {
            let value = params
                .get(*value)
                .ok_or_else(|| rusqlite::Error::InvalidParameterName(format!("${}", value + 1)))?;
            self.statement.raw_bind_parameter(index + 1, value)?;
        }
        Ok(())
    }
}
