//! The words of the pages: English says everything that Korean says, and says it in English.

use crate::tidy::{File, Violation};
use std::collections::BTreeSet;

/// Languages that fans read and organisers don't: a file like Korean's, and one for its parts.
const FANS_ONLY: [&str; 2] = ["ja", "zh"];

/// Keys of the organiser's pages that are written beside those of fans.
const ORGANISERS: &str = "policy";

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let korean = files.iter().filter(|file| file.path.ends_with("/words/ko.js"));
    let pairs = korean.flat_map(|korean| check_pair(korean, files));
    let translations = FANS_ONLY.iter().flat_map(|language| check_translation(language, files));
    pairs.chain(translations).collect()
}

/// Every key that fans see, in Korean's own file and in the parts that hold two languages.
fn fans_keys(files: &[File]) -> BTreeSet<&str> {
    let ours = files.iter().filter(|file| {
        file.path.starts_with("web/fan/words/")
            && (file.path.ends_with("/ko.js") || file.text.contains("export const ko = {"))
    });
    ours.flat_map(keys).filter(|key| !key.starts_with(ORGANISERS)).collect()
}

fn check_translation(language: &str, files: &[File]) -> Vec<Violation> {
    let main = format!("web/fan/words/{language}.js");
    let parts = format!("web/fan/words/parts_{language}.js");
    let Some(file) = files.iter().find(|file| file.path == main) else { return Vec::new() };
    let both = || files.iter().filter(|it| it.path == main || it.path == parts);
    let (theirs, ours) = (both().flat_map(keys).collect::<BTreeSet<_>>(), fans_keys(files));
    let missing = ours.difference(&theirs);
    let missing = missing.map(|key| file.violation(1, format!("add the missing key `{key}`")));
    let unknown = theirs.difference(&ours);
    let unknown = unknown.map(|key| file.violation(1, format!("remove the unknown key `{key}`")));
    missing.chain(unknown).chain(both().flat_map(hangul)).collect()
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
        .map(|(index, _)| english.violation(index + 1, "say it in the language of the file"))
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
    catalogues(
        "  a: \"가\",\n",
        "\n  a: \"가\",\n",
        &["web/fan/words/en.js:2: say it in the language of the file"],
    );
}

#[test]
fn a_translation_for_fans_has_every_key_of_fans_and_no_other() {
    let words = |path: &str, text: &str| crate::tidy::file(path, text);
    let files = [
        words("web/fan/words/en.js", "  a: \"A\",\n"),
        words("web/fan/words/ja.js", "  a: \"あ\",\n  c: \"う\",\n"),
        words("web/fan/words/ko.js", "  a: \"가\",\n"),
        words("web/fan/words/order.js", "export const ko = {\n  b: \"나\",\n  policyX: \"다\",\n"),
        words("web/fan/words/parts_ja.js", "  d: \"라\",\n"),
    ];
    let printed: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
    let expected = [
        "web/fan/words/ja.js:1: add the missing key `b`",
        "web/fan/words/ja.js:1: remove the unknown key `c`",
        "web/fan/words/ja.js:1: remove the unknown key `d`",
        "web/fan/words/parts_ja.js:1: say it in the language of the file",
    ];
    assert_eq!(printed, expected);
}
