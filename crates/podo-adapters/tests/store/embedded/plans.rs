//! SQLite's plans: no statement of the store reads a whole table that grows. The statements are
//! read from the sources, so a new one is checked without being run or listed here. The store never
//! collects statistics, so a plan doesn't depend on how much a table has grown.

use super::updates::sources;
use crate::engine::Engine;
use podo_adapters::clock::SystemRng;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Tables that never have many rows.
const SMALL: [&str; 10] = [
    "api_keys",
    "halls",
    "invitations",
    "job_failures",
    "job_runs",
    "leases",
    "legal_pages",
    "venues",
    "verifications",
    "webhook_endpoints",
];

/// Statements that may read a whole table: part of the file's path, the start of the statement, and
/// why.
const WHOLE: [(&str, &str, &str); 9] = [
    ("operations/invariants/", "", "the hourly check compares everything"),
    ("operations/reports.rs", "with paid as", "a report compares a whole day"),
    ("identity/encrypted_fields.rs", "select count(*)", "an operator rotates keys"),
    ("catalog/", "select 1 from events where hall_id", "an organiser deletes a hall"),
    ("catalog/", "delete from venues", "an organiser deletes a venue"),
    ("catalog/", "delete from halls", "an organiser deletes a hall"),
    ("catalog/", "update events_search", "an organiser changes an event"),
    ("catalog/", "delete from events_search", "an organiser deletes an event"),
    ("operations/audit.rs", "select seq, hash from audit_log order by seq desc", "reads one row"),
];

/// Functions that only PostgreSQL has.
const FOREIGN: [&str; 2] = ["user_service.keep_login_months", "clock_timestamp()"];

/// The text with the file's own macros without parameters expanded, and without their definitions.
fn expanded(source: &str) -> String {
    let mut text = source.to_owned();
    for definition in source.split("macro_rules! ").skip(1) {
        let definition = definition.split_inclusive("\n}\n").next().unwrap_or_default();
        let Some((name, body)) = definition.split_once(" {\n    () => {") else { continue };
        let body = body.split('"').nth(1).unwrap_or_default();
        text = text.replace(&format!("macro_rules! {definition}"), "");
        text = text.replace(&format!("{name}!()"), &format!("\"{body}\""));
    }
    text
}

/// The text with every `concat!` of literals as one literal. Other macros in it are left out: they
/// only narrow a search.
fn joined(text: &str) -> String {
    let is_whole = |inside: &str| {
        let has_parameters =
            inside.split('$').skip(1).any(|it| it.starts_with(char::is_alphabetic));
        !has_parameters
    };
    let mut parts = text.split("concat!(");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((inside, rest)) = part.split_once(");").filter(|(it, _)| is_whole(it)) else {
            whole.push_str(part);
            continue;
        };
        let literals = inside.split('"').skip(1).step_by(2).filter(|it| it.contains(' '));
        whole.push_str(&format!("\"{}\";{rest}", literals.collect::<String>()));
    }
    whole
}

/// The statements in a source file, without its comments.
fn statements(text: &str) -> Vec<String> {
    let text = joined(&expanded(text));
    let code: Vec<&str> =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let is_sql = |text: &&str| {
        let first = text.split_whitespace().next().unwrap_or_default();
        ["select", "insert", "update", "delete", "with"].contains(&first)
            && text.split_whitespace().count() > 3
    };
    code.join("\n").split('"').filter(is_sql).map(str::to_owned).collect()
}

/// The table behind a name in a plan, which is its alias if it has one.
fn table_of<'s>(name: &'s str, sql: &'s str) -> &'s str {
    let words: Vec<&str> = sql.split(|it: char| !it.is_alphanumeric() && it != '_').collect();
    let words: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
    let is_named = |three: &&[&'s str]| ["from", "join"].contains(&three[0]) && three[2] == name;
    words.windows(3).find(is_named).map_or(name, |three| three[1])
}

struct Planner {
    _engine: Engine,
    database: Connection,
    /// Indexes that contain only the rows that their statements look for.
    partial: BTreeSet<String>,
}

impl Planner {
    /// Plans on the schema of a new store.
    async fn new() -> Planner {
        let (engine, _store) = Engine::open(Arc::new(SystemRng::new()), Vec::new()).await;
        let database = Connection::open(engine.path()).unwrap();
        let sql = "select name from sqlite_master
                    where type = 'index' and lower(sql) like '%where%'";
        let mut statement = database.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>("name")).unwrap();
        let partial = names.collect::<rusqlite::Result<_>>().unwrap();
        drop(statement);
        Planner { _engine: engine, database, partial }
    }

    /// The steps of a plan that read a whole table or a whole index of all its rows.
    fn whole_reads(&self, sql: &str) -> Vec<String> {
        self.steps(sql).into_iter().filter(|step| self.is_whole(step, sql)).collect()
    }

    fn steps(&self, sql: &str) -> Vec<String> {
        let asked = format!("explain query plan {sql}");
        let mut plan = self.database.prepare(&asked).unwrap_or_else(|it| panic!("{it}: {sql}"));
        // Parameters stay unbound: the plan doesn't depend on them.
        let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
        steps.map(Result::unwrap).collect()
    }

    fn is_whole(&self, step: &str, sql: &str) -> bool {
        let words: Vec<&str> = step.split_whitespace().collect();
        let ["SCAN", name, how @ ..] = words.as_slice() else { return false };
        let index = how.iter().skip_while(|word| **word != "INDEX").nth(1);
        let is_partial = index.is_some_and(|index| self.partial.contains(*index));
        let is_made_up = ["CONSTANT", "VALUES", "VIRTUAL"].iter().any(|it| step.contains(it))
            && !step.contains("events_search");
        let is_result = sql.trim_start().starts_with("with")
            && how.is_empty()
            && sql.contains(&format!("{name} as "));
        let is_small = SMALL.contains(&table_of(name, sql));
        !(is_partial || is_made_up || is_result || is_small)
    }
}

#[tokio::test]
async fn no_statement_reads_a_whole_table_that_grows() {
    let planner = Planner::new().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sql");
    let (mut n_checked, mut wrong, mut excused) = (0, Vec::new(), BTreeSet::new());
    for path in sources(&folder) {
        let file = path.strip_prefix(&folder).unwrap().display().to_string();
        if file.starts_with("engine") {
            continue;
        }
        for sql in statements(&std::fs::read_to_string(&path).unwrap()) {
            if FOREIGN.iter().any(|it| sql.contains(it)) {
                continue;
            }
            n_checked += 1;
            let whole = planner.whole_reads(&sql);
            let excuse = WHOLE
                .iter()
                .position(|(place, start, _)| file.starts_with(place) && sql.starts_with(start));
            match excuse {
                _ if whole.is_empty() => {}
                Some(excuse) => drop(excused.insert(excuse)),
                None => wrong.push(format!("{file}: {}: {sql}", whole.join(", "))),
            }
        }
    }
    assert!(n_checked > 300, "{n_checked}");
    assert_eq!(excused.len(), WHOLE.len(), "an excuse that nothing needs: {excused:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The checks read every seat, but find its claim by the index. A ticket's claim is found by its
/// booking.
#[tokio::test]
async fn no_check_looks_through_all_claims_for_each_seat() {
    let planner = Planner::new().await;
    let source = include_str!("../../../src/sql/operations/invariants/seats.rs");
    let checks: Vec<String> = statements(source)
        .into_iter()
        .filter(|sql| sql.contains("where active") || sql.contains("and c.active"))
        .filter(|sql| !sql.contains("from tickets t"))
        .collect();
    assert_eq!(checks.len(), 3, "{checks:#?}");
    for sql in checks {
        let steps = planner.steps(&sql);
        let is_found = steps.iter().any(|step| step.contains("reservation_seats_one_claim"));
        assert!(is_found, "{steps:?}: {sql}");
    }
}

/// The control: the wording of before is caught.
#[tokio::test]
async fn a_condition_that_differs_from_the_index_is_caught() {
    let planner = Planner::new().await;
    let right = "select 1 from reservation_seats c where c.schedule_id = $1 and c.active";
    assert_eq!(planner.whole_reads(right), Vec::<String>::new());
    let wrong = "select 1 from reservation_seats c where c.schedule_id = $1 and c.active = 1";
    assert_eq!(planner.whole_reads(wrong), ["SCAN c"]);
}
