//! One statement for many parameter sets: the parameters become arrays, and every row carries the
//! number of its set.
//!
//! `asked` is the table of parameter sets, one row each, numbered by `nr` from 1.
//!
//! The planner expects ten sets and uses statistics that may date from when a table was empty. For
//! ten sets, a full scan of a short index looks cheap, and a minute later that index has a hundred
//! thousand entries. So every form makes the planner look up each set separately.

use std::fmt::Write;
use tokio_postgres::types::Type;

/// A statement rewritten for many parameter sets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Many {
    /// Every row of the result begins with the number of its parameter set.
    Rows(String),
    /// Like `Rows`, for an update: only one set changes a row, even if several match it.
    Changes(String),
    /// Every set inserts the same number of rows.
    Inserts(String),
    /// Skips existing rows, so the number of rows per set is unknown.
    Tries(String),
}

/// Always true, but the planner estimates that one set passes.
const ONE_SET: &str = "asked.nr % 1 = 0";

impl Many {
    /// Whether the result shows what each set found or changed.
    pub(crate) fn has_result_per_set(&self) -> bool {
        !matches!(self, Many::Tries(_))
    }

    pub(crate) fn sql(&self) -> &str {
        match self {
            Many::Rows(sql) | Many::Changes(sql) | Many::Inserts(sql) | Many::Tries(sql) => sql,
        }
    }
}

/// Rewrites a statement whose parameters have these types. None if it has no array form; each
/// command's statement is then sent separately.
pub(crate) fn for_many(sql: &str, types: &[Type]) -> Option<Many> {
    if types.is_empty() {
        return None;
    }
    let (asked, text) = (asked(types), in_terms_of_asked(sql));
    let first_word = text.split_whitespace().next()?;
    match first_word {
        "select" => select(&text, &asked),
        "insert" => insert(&text, &asked),
        "update" => update(&text, &asked),
        _ => None,
    }
}

fn select(sql: &str, asked: &str) -> Option<Many> {
    if sql.contains("for update") {
        return None;
    }
    // `offset 0` keeps the planner from flattening the subquery, so it runs once per set.
    let found = format!("({sql} offset 0) as found");
    Some(Many::Rows(format!("select asked.nr, found.* from {asked} cross join lateral {found}")))
}

fn insert(sql: &str, asked: &str) -> Option<Many> {
    if find_word(sql, "returning").is_some() {
        return None;
    }
    let (into, values) = sql.split_at(find_word(sql, "values")?);
    let (values, conflict) = values.split_at(find_word(values, "on").unwrap_or(values.len()));
    let sql = format!("{into} select added.* from {asked} cross join lateral ({values}) as added");
    match conflict.trim() {
        "" => Some(Many::Inserts(sql)),
        nothing if nothing.ends_with("do nothing") => Some(Many::Tries(format!("{sql} {nothing}"))),
        // A statement can't update a row twice.
        _ => None,
    }
}

fn update(sql: &str, asked: &str) -> Option<Many> {
    let at = find_word(sql, "where")?;
    let (change, condition) = (&sql[..at], &sql[at + "where".len()..]);
    let (condition, returned) = match find_word(condition, "returning") {
        Some(at) => (&condition[..at], format!(", {}", &condition[at + "returning".len()..])),
        None => (condition, String::new()),
    };
    let from = if find_word(change, "from").is_some() { "," } else { "from" };
    let condition = format!("where {ONE_SET} and ({})", condition.trim());
    let sql = format!("{change} {from} {asked} {condition} returning asked.nr{returned}");
    Some(Many::Changes(sql))
}

/// The table of parameter sets.
fn asked(types: &[Type]) -> String {
    let list = |one: &dyn Fn(usize, &Type) -> String| {
        let all: Vec<String> = types.iter().enumerate().map(|(at, it)| one(at + 1, it)).collect();
        all.join(", ")
    };
    let arrays = list(&|number, it| format!("${number}::{}[]", it.name()));
    let names = list(&|number, _| format!("p{number}"));
    format!("unnest({arrays}) with ordinality as asked ({names}, nr)")
}

/// `$1` becomes `asked.p1`.
fn in_terms_of_asked(sql: &str) -> String {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let _ = write!(text, "asked.p{part}");
    }
    text
}

/// The position of a word outside all brackets and quotes.
fn find_word(sql: &str, word: &str) -> Option<usize> {
    let (mut depth, mut is_quoted) = (0, false);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    for (at, byte) in sql.bytes().enumerate() {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if !is_quoted => depth -= 1,
            _ => (),
        }
        let is_outside = depth == 0 && !is_quoted;
        if !is_outside || !sql[at..].starts_with(word) {
            continue;
        }
        let before = at.checked_sub(1).map(|at| sql.as_bytes()[at]);
        let after = sql.as_bytes().get(at + word.len()).copied();
        if !before.is_some_and(is_letter) && !after.is_some_and(is_letter) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = "unnest($1::uuid[], $2::int8[]) with ordinality as asked (p1, p2, nr)";

    fn rewritten(sql: &str) -> Option<String> {
        for_many(sql, &[Type::UUID, Type::INT8]).map(|many| many.sql().to_owned())
    }

    #[test]
    fn a_question_is_asked_for_every_set() {
        let sql = "select price from seats where schedule_id = $1 and seat_index = $2";
        let expected = format!(
            "select asked.nr, found.* from {ASKED} cross join lateral (select price from seats \
             where schedule_id = asked.p1 and seat_index = asked.p2 offset 0) as found"
        );
        assert_eq!(rewritten(sql), Some(expected));
    }

    #[test]
    fn an_insert_adds_the_rows_of_every_set() {
        let sql = "insert into seats (a, b) values ($1, 'values'), ($1, $2)";
        let expected = format!(
            "insert into seats (a, b)  select added.* from {ASKED} cross join lateral \
             (values (asked.p1, 'values'), (asked.p1, asked.p2)) as added"
        );
        assert_eq!(rewritten(sql), Some(expected));
    }

    #[test]
    fn what_is_there_already_is_left_out() {
        let sql = "insert into seats (a, b) values ($1, $2) on conflict (a) do nothing";
        let expected = format!(
            "insert into seats (a, b)  select added.* from {ASKED} cross join lateral \
             (values (asked.p1, asked.p2) ) as added on conflict (a) do nothing"
        );
        assert_eq!(for_many(sql, &[Type::UUID, Type::INT8]), Some(Many::Tries(expected)));
    }

    #[test]
    fn a_change_says_whose_it_was() {
        let sql = "update seats set n = (select n from t where id = $1) where id = $1 and n = $2 \
                   returning n";
        let expected = format!(
            "update seats set n = (select n from t where id = asked.p1)  from {ASKED} \
             where asked.nr % 1 = 0 and (id = asked.p1 and n = asked.p2) returning asked.nr,  n"
        );
        assert_eq!(rewritten(sql), Some(expected));
    }

    #[test]
    fn a_change_from_another_table_keeps_it() {
        let sql = "update seats set n = r.n from rows r where r.id = $1 and seats.id = $2";
        let expected = format!(
            "update seats set n = r.n from rows r  , {ASKED} where asked.nr % 1 = 0 \
             and (r.id = asked.p1 and seats.id = asked.p2) returning asked.nr"
        );
        assert_eq!(rewritten(sql), Some(expected));
    }

    #[test]
    fn ambiguous_statements_are_not_rewritten() {
        for sql in [
            "insert into t (a) values ($1) on conflict (a) do update set a = excluded.a",
            "insert into t (a) values ($1) returning a",
            "select a from t where b = $1 for update skip locked",
            "delete from t where a = $1",
            "update t set a = $1",
        ] {
            assert_eq!(rewritten(sql), None, "{sql}");
        }
        assert_eq!(for_many("select 1", &[]), None);
    }
}
