//! The words of the pages: English says everything that Korean says, and says it in English.

use crate::tidy::{File, Violation};
use std::collections::BTreeSet;

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let korean = files.iter().filter(|file| file.path.ends_with("/words/ko.js"));
    korean.flat_map(|korean| check_pair(korean, files)).collect()
}

fn check_pair(korean: &File, files: &[File]) -> Vec<Violation> {
    let path = korean.path.replace("/ko.js", "/en.js");
    let Some(english) = files.iter().find(|file| file.path == path) else {
        return vec![korean.violation(1, "add the English words beside it, in `en.js`")];
    };
    let (ours, theirs) = (keys(korean), keys(english));
    let missing =
        |file: &File, key: &str| file.violation(1, format!("add the missing key `{key}`"));
    let in_english = ours.difference(&theirs).map(|key| missing(english, key));
    let in_korean = theirs.difference(&ours).map(|key| missing(korean, key));
    in_english.chain(in_korean).chain(hangul(english)).collect()
}

/// The names before the colon, in lines that are indented once.
fn keys(file: &File) -> BTreeSet<&str> {
    let lines = file.text.lines().filter_map(|line| line.strip_prefix("  "));
    let heads = lines.filter_map(|line| Some(line.split_once(':')?.0));
    heads.filter(|key| !key.is_empty() && key.chars().all(char::is_alphanumeric)).collect()
}

fn hangul(english: &File) -> impl Iterator<Item = Violation> {
    let is_hangul = |it: char| ('가'..='힣').contains(&it);
    let lines = english.text.lines().enumerate();
    lines
        .filter(move |(_, line)| line.contains(is_hangul))
        .map(|(index, _)| english.violation(index + 1, "say it in English"))
}

#[cfg(test)]
fn catalogues(korean: &str, english: &str, printed: &[&str]) {
    let files = [
        crate::tidy::file("web/fan/words/en.js", english),
        crate::tidy::file("web/fan/words/ko.js", korean),
    ];
    let found = check(&files);
    assert_eq!(found.iter().map(Violation::to_string).collect::<Vec<_>>(), printed);
}

#[test]
fn both_languages_have_the_same_keys() {
    catalogues("  a: \"가\",\n  b: (n) => n,\n", "  a: \"a\",\n  b: (n) =>\n    x: 1,\n", &[]);
    catalogues(
        "  a: \"가\",\n",
        "  b: \"b\",\n",
        &[
            "web/fan/words/en.js:1: add the missing key `a`",
            "web/fan/words/ko.js:1: add the missing key `b`",
        ],
    );
}

#[test]
fn english_is_english() {
    catalogues("  a: \"가\",\n", "\n  a: \"가\",\n", &["web/fan/words/en.js:2: say it in English"]);
}
