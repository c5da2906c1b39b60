//! Looks into a built program for statements that run without a guard. Tests remove guards to show
//! what they prevent (the feature `mutants`); what we ship must have no way to do that.

use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;

/// Parts of statements that only the feature `mutants` has.
const UNGUARDED: [&str; 12] = [
    "drop index if exists reservation_seats_one_claim",
    "(expires_at is null or expires_at is not null or expires_at <= $5)",
    "(holder = $2 or holder <> $2)",
    "n_used = n_used + 0",
    "from sale_phases where id = $1 and draw_seed is not null or id = $2",
    "(code = $2 or code <> $2)",
    "(state = 'FREE' or state <> 'FREE')",
    "n_out = n_out + 0 * $3",
    "and e.place < 0",
    "(closed_at is null or closed_at is not null)",
    "d.n_applied, null as closed_at,",
    "and user_id = $2 and channel = 'NOBODY'",
];

/// The statement that claims a seat, with its guard. If it isn't found, this check is blind.
const GUARDED: &str = "seat_index = $2 and state = 'FREE'";

/// Fails unless the program claims seats with the guard, and only so.
pub(super) fn check(program: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(program).with_context(|| program.display().to_string())?;
    check_bytes(&bytes).with_context(|| program.display().to_string())
}

fn check_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    ensure!(has(GUARDED), "the guarded statement is not there: this check must follow the code");
    for text in UNGUARDED {
        ensure!(!has(text), "it contains an unguarded statement: {text}");
    }
    Ok(())
}

/// A mutant that is worded differently would not be found.
#[test]
fn the_unguarded_statements_are_those_of_the_mutants() {
    let path = "crates/podo-adapters/src/sql/engine/mutants.rs";
    let text = fs::read_to_string(crate::shell::root().join(path)).unwrap();
    for statement in UNGUARDED {
        assert!(text.contains(statement), "{path} has no `{statement}`");
    }
    for edit in text.split("to: \"").skip(1) {
        let (statement, _) = edit.split_once('"').unwrap();
        let is_known = UNGUARDED.iter().any(|part| statement.contains(part));
        assert!(is_known, "this mutant of {path} is not looked for: {statement}");
    }
}

#[test]
fn a_program_with_an_unguarded_statement_is_refused() {
    let program = |more: &str| format!("\0ELF update … where {GUARDED} … {more}\0").into_bytes();
    assert!(check_bytes(&program("")).is_ok());
    for text in UNGUARDED {
        assert!(check_bytes(&program(text)).is_err(), "{text}");
    }
    assert!(check_bytes(b"\0ELF").is_err(), "a check that finds nothing is blind");
}
