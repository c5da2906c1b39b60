//! docs/api.md is correct: its commands run in order, and each response has the fields shown below
//! it.

use podo_testbed::Launch;
use serde_json::Value;
use std::process::Command;

const DOCS: &str = include_str!("../../../../../docs/api.md");

/// The fenced blocks with their languages.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let parts = DOCS.split("```").skip(1).step_by(2);
    parts.map(|part| part.split_once('\n').expect("a kind and a text")).collect()
}

/// Printed after each block, to separate its output from the next.
const MARK: &str = "=== the end of a block ===";

/// One script of all commands, so that later ones can use what earlier ones set.
fn script() -> String {
    let commands = blocks().into_iter().filter(|(kind, _)| *kind == "sh");
    let commands = commands.map(|(_, text)| format!("{text}\necho; echo '{MARK}'\n"));
    format!("set -euo pipefail\n{}", commands.collect::<String>())
}

#[test]
fn every_example_runs_and_answers_what_is_shown() {
    let podo = Launch::new(env!("CARGO_BIN_EXE_podo"))
        .env("PODO_ADMIN_EMAIL", "boss@podo.example")
        .env("PODO_ADMIN_PASSWORD", "sour green grapes")
        .start()
        .unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", &script()]).env("PODO", podo.url());
    let output = bash.output().unwrap();
    let (printed, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}\n{wrong}");
    let mut outputs = printed.split(MARK);
    let mut last = "";
    let mut n_shown = 0;
    for (kind, text) in blocks() {
        match kind {
            "sh" => last = outputs.next().expect("an output for each block").trim(),
            "json" => {
                has_fields(text, last);
                n_shown += 1;
            }
            _ => {}
        }
    }
    assert!(n_shown >= 10, "{n_shown}");
}

/// The response has every field that is shown, with the same value if it is short and plain.
#[track_caller]
fn has_fields(shown: &str, printed: &str) {
    let shown: Value = serde_json::from_str(shown).expect(shown);
    let printed: Value = serde_json::from_str(printed).expect(printed);
    for (name, value) in shown.as_object().unwrap() {
        let found = &printed[name];
        assert!(!found.is_null(), "{name} is not in {printed}");
        let is_plain =
            value.as_str().is_some_and(|text| !text.contains('…') && !text.contains("-1"));
        if is_plain {
            assert_eq!(found, value, "{name}");
        }
    }
}
