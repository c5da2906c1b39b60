//! Truncates Redis's append-only file: a server that lost its last writes.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Cuts the last writes off the newest append-only file in this folder. A script is one write,
/// however many commands it ran.
pub(super) fn cut(folder: &Path, n_writes: usize) -> Result<()> {
    let path = newest_log(&folder.join("appendonlydir"))?;
    let log = std::fs::read(&path)?;
    let ends = ends_of_writes(&log)?;
    let n_kept = ends.len().saturating_sub(n_writes + 1);
    std::fs::write(path, &log[..ends[n_kept]])
}

fn newest_log(folder: &Path) -> Result<PathBuf> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.strip_suffix(".incr.aof").and_then(|name| name.rsplit('.').next());
        if let Some(number) = number.and_then(|number| number.parse::<u32>().ok()) {
            logs.push((number, path));
        }
    }
    let none = || Error::new(ErrorKind::NotFound, "no log of writes");
    logs.into_iter().max().map(|(_, path)| path).ok_or_else(none)
}

/// The end of each write, from the beginning of the file, which counts as the first.
fn ends_of_writes(log: &[u8]) -> Result<Vec<usize>> {
    let mut ends = vec![0];
    let (mut at, mut is_in_script) = (0, false);
    while at < log.len() {
        let n_words = number_at(log, &mut at, b'*')?;
        let mut command = Vec::new();
        for word in 0..n_words {
            let length = number_at(log, &mut at, b'$')?;
            let text = log.get(at..at + length).ok_or_else(broken)?;
            if word == 0 {
                command = text.to_ascii_lowercase();
            }
            at += length + b"\r\n".len();
        }
        match command.as_slice() {
            b"multi" => is_in_script = true,
            b"exec" => is_in_script = false,
            b"select" => continue,
            _ => {}
        }
        if !is_in_script {
            ends.push(at);
        }
    }
    Ok(ends)
}

/// Reads a line such as `*3` and advances past it.
fn number_at(log: &[u8], at: &mut usize, mark: u8) -> Result<usize> {
    let rest = log.get(*at..).ok_or_else(broken)?;
    let end = rest.windows(2).position(|pair| pair == b"\r\n").ok_or_else(broken)?;
    let line = rest[..end].strip_prefix(&[mark]).ok_or_else(broken)?;
    *at += end + 2;
    std::str::from_utf8(line).ok().and_then(|text| text.parse().ok()).ok_or_else(broken)
}

fn broken() -> Error {
    Error::new(ErrorKind::InvalidData, "the log of writes cannot be read")
}

#[test]
fn a_script_is_one_write() {
    let command = |words: &[&str]| {
        let words: String = words.iter().map(|it| format!("${}\r\n{it}\r\n", it.len())).collect();
        format!("*{}\r\n{words}", words.matches('$').count())
    };
    let select = command(&["SELECT", "0"]);
    let script = [command(&["MULTI"]), command(&["set", "a", "1"]), command(&["EXEC"])].concat();
    let one = command(&["del", "b"]);
    let log = [select.as_str(), &script, &one].concat();
    let after_script = select.len() + script.len();
    assert_eq!(ends_of_writes(log.as_bytes()).unwrap(), [0, after_script, log.len()]);
    assert!(ends_of_writes(&log.as_bytes()[..log.len() - 4]).is_err());
}
