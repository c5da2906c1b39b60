//! The published list of applications, as a file.

use anyhow::{Context, Result, bail};
use podo_app::catalog::phases::draws::LIST_HEADER;
use podo_domain::booking::draws::ApplicationState;

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) grade: String,
    pub(super) count: u32,
    /// From 1; absent for an index without a place.
    pub(super) place: Option<u32>,
    pub(super) state: ApplicationState,
}

/// The lines in the order of their indexes, which begin at 0 and have no gap.
pub(super) fn read(text: &str) -> Result<Vec<Line>> {
    let Some(lines) = text.strip_prefix(LIST_HEADER) else {
        bail!("the first line must be `{}`", LIST_HEADER.trim_end());
    };
    let read = |(index, text): (usize, &str)| {
        line(index, text).with_context(|| format!("line {}: `{text}`", index + 2))
    };
    lines.lines().enumerate().map(read).collect()
}

fn line(expected: usize, text: &str) -> Result<Line> {
    let (index, rest) = text.split_once(',').context("it has too few columns")?;
    if index.parse() != Ok(expected) {
        bail!("the index must be {expected}");
    }
    // A grade may contain a comma, so the other columns are taken from the end.
    let mut columns = rest.rsplitn(4, ',');
    let mut next = || columns.next().context("it has too few columns");
    let (state, place, count, grade) = (next()?, next()?, next()?, next()?);
    Ok(Line {
        grade: unquoted(grade),
        count: count.parse().context("count")?,
        place: if place.is_empty() { None } else { Some(place.parse().context("place")?) },
        state: ApplicationState::parse(state).context("unknown state")?,
    })
}

fn unquoted(grade: &str) -> String {
    let inner = grade.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.map_or_else(|| grade.to_owned(), |text| text.replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_with_its_grades() {
        let text = format!("{LIST_HEADER}0,\"A, \"\"B\"\"\",2,1,TAKEN\n1,R,1,,WITHDRAWN\n");
        let lines = read(&text).unwrap();
        assert_eq!((lines[0].grade.as_str(), lines[0].place), ("A, \"B\"", Some(1)));
        assert_eq!((lines[1].count, lines[1].place), (1, None));
    }

    #[test]
    fn a_list_with_a_gap_or_another_header_is_refused() {
        assert!(read("index,grade\n").is_err());
        assert!(read(&format!("{LIST_HEADER}1,R,1,,DRAWN\n")).is_err());
        assert!(read(&format!("{LIST_HEADER}0,R,1\n")).is_err());
    }
}
