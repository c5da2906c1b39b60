//! Words that must not appear: unfinished work, silenced checks, inline code in pages.

use crate::tidy::{File, Violation};

struct Ban {
    /// In files with one of these endings.
    extensions: &'static [&'static str],
    word: &'static str,
    instead: &'static str,
}

// The words are cut in two so that this file does not contain them.
const BANS: &[Ban] = &[
    Ban { extensions: &["rs"], word: concat!("#[", "ignore"), instead: "mend or delete the test" },
    Ban { extensions: &["rs"], word: concat!("todo", "!("), instead: "finish it" },
    Ban { extensions: &["rs"], word: concat!("unimplemented", "!("), instead: "finish it" },
    Ban { extensions: &["rs"], word: concat!("#[", "allow("), instead: EXPECT },
    Ban { extensions: &["rs"], word: concat!("#![", "allow("), instead: EXPECT },
    Ban { extensions: CODE, word: concat!("FIX", "ME"), instead: "mend it now" },
    Ban { extensions: &["html"], word: concat!("<sty", "le"), instead: SHEET },
    Ban { extensions: &["html", "js"], word: concat!(" sty", "le=\""), instead: SHEET },
    Ban { extensions: &["html", "js"], word: concat!(" on", "click=\""), instead: LISTENER },
    Ban { extensions: &["html"], word: concat!("<scr", "ipt>"), instead: LISTENER },
    Ban { extensions: PAGES, word: concat!("src=\"", "http"), instead: OWN_ORIGIN },
    Ban { extensions: PAGES, word: concat!("url(", "http"), instead: OWN_ORIGIN },
];

const CODE: &[&str] = &["rs", "js", "css", "sql", "html", "lua", "sh", "toml", "yml"];
const PAGES: &[&str] = &["html", "css", "js"];
const EXPECT: &str = "use `#[expect(…, reason = \"…\")]`";
const SHEET: &str = "put it in a style sheet: the content security policy refuses it here";
const LISTENER: &str = "put it in a module: the content security policy refuses it here";
const OWN_ORIGIN: &str = "pages load nothing from other hosts";

pub(super) fn check(file: &File) -> Vec<Violation> {
    // An example of another site loads from ours.
    let is_elsewhere = file.path.starts_with("examples/");
    let is_meant = |ban: &&Ban| {
        ban.extensions.contains(&file.extension()) && !(is_elsewhere && ban.instead == OWN_ORIGIN)
    };
    let bans = || BANS.iter().filter(is_meant);
    let lines = file.text.lines().enumerate();
    let hits = lines.flat_map(|(index, line)| {
        bans().filter(|ban| line.contains(ban.word)).map(move |ban| (index + 1, ban))
    });
    hits.map(|(line, ban)| file.violation(line, format!("`{}`: {}", ban.word, ban.instead)))
        .collect()
}

#[cfg(test)]
fn words(path: &str, text: &str, n_lines: &[usize]) {
    let found = check(&crate::tidy::file(path, text));
    assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), n_lines, "{path}: {text}");
}

#[test]
fn every_ban_is_found_in_its_files_and_only_there() {
    for ban in BANS {
        let text = format!("a\nb {} c\n", ban.word);
        for extension in ban.extensions {
            words(&format!("x.{extension}"), &text, &[2]);
        }
        words("x.md", &text, &[]);
    }
    words("examples/embed/index.html", concat!("<script src=\"", "https://x\">"), &[]);
}

#[test]
fn what_to_do_is_said() {
    let text = concat!("#[", "allow(dead_code)]\n");
    let printed = concat!("a.rs:1: `#[", "allow(`: use `#[expect(…, reason = \"…\")]`");
    crate::tidy::expect(check, "a.rs", text, &[printed]);
}
