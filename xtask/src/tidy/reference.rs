//! docs/configuration.md says what the manual of the settings says.

use crate::steps::configuration::{MANUAL, STORED, describe};
use crate::tidy::{File, Violation};

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let find = |path: &str| files.iter().find(|file| file.path == path);
    let Some(manual) = find(MANUAL) else { return Vec::new() };
    let fresh = describe(&manual.text);
    let stale = |line: usize| Violation {
        path: STORED.to_owned(),
        line,
        what: "is not what the manual says; run `cargo xtask configuration`".to_owned(),
    };
    match find(STORED) {
        None => vec![stale(1)],
        Some(stored) if stored.text == fresh => Vec::new(),
        Some(stored) => {
            let n_same = stored.text.lines().zip(fresh.lines()).take_while(|(a, b)| a == b).count();
            vec![stale(n_same + 1)]
        }
    }
}

#[test]
fn a_reference_that_is_stale_or_missing_is_found() {
    let manual = crate::tidy::file(MANUAL, "# How long.\nx = 5\n");
    assert_eq!(check(&[]), []);
    assert_eq!(check(&[crate::tidy::file(STORED, "")]), []);
    let stored = crate::tidy::file(STORED, &describe(&manual.text));
    let changed = crate::tidy::file(STORED, &describe("# How long.\nx = 6\n"));
    assert_eq!(check(&[crate::tidy::file(MANUAL, &manual.text), stored]), []);
    assert_eq!(check(&[crate::tidy::file(MANUAL, &manual.text), changed])[0].line, 11);
    assert_eq!(check(&[manual])[0].line, 1);
}
