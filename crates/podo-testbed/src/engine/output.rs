//! A process's output: its first line, and a log that outlives it.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// How many lines of a log are shown after a failure.
const TAIL_LINES: usize = 40;

/// Waits for the first line of `stdout`; the rest goes to the log, so that the process never blocks
/// on a full pipe.
pub(crate) fn first_line(
    stdout: impl Read + Send + 'static,
    mut log: File,
    limit: Duration,
) -> Result<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        if let Some(line) = lines.next() {
            // After the timeout the receiver is gone; the rest is still drained.
            drop(sender.send(line));
        }
        for line in lines {
            if writeln!(log, "{line}").is_err() {
                break;
            }
        }
    });
    receiver.recv_timeout(limit).map_err(|error| match error {
        mpsc::RecvTimeoutError::Timeout => {
            Error::new(ErrorKind::TimedOut, format!("no line on stdout within {limit:?}"))
        }
        mpsc::RecvTimeoutError::Disconnected => {
            Error::new(ErrorKind::BrokenPipe, "stdout was closed before its first line")
        }
    })
}

/// Opens the log for appending: a restarted process continues its log.
pub(crate) fn open_log(path: &Path) -> Result<File> {
    File::options().create(true).append(true).open(path)
}

/// The end of the log, for an error message.
pub(crate) fn tail(path: &Path) -> String {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stdout: &'static str) -> Result<String> {
        let log = tempfile::tempfile().unwrap();
        first_line(stdout.as_bytes(), log, Duration::from_secs(5))
    }

    #[test]
    fn the_first_line_is_handed_over() {
        assert_eq!(check("http://127.0.0.1:1\nmore\n").unwrap(), "http://127.0.0.1:1");
    }

    #[test]
    fn a_silent_end_is_an_error() {
        assert_eq!(check("").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn only_the_end_of_a_long_log_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        assert_eq!(tail(&path), "");
        for n in 1..=50 {
            writeln!(open_log(&path).unwrap(), "{n}").unwrap();
        }
        let shown = tail(&path);
        assert!(shown.starts_with("11\n") && shown.ends_with("\n50"), "{shown}");
    }
}
