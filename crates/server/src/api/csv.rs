//! Tables for spreadsheets.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// A file of rows, the names of the columns first. Spreadsheets read UTF-8 when it begins with its
/// mark.
pub(super) fn file(name: &str, columns: &[&str], rows: &[Vec<String>]) -> Response {
    let mut text = String::from('\u{feff}');
    write_row(&mut text, columns.iter().copied());
    for row in rows {
        write_row(&mut text, row.iter().map(String::as_str));
    }
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned());
    let saved = format!("attachment; filename=\"{name}.csv\"");
    ([kind, (header::CONTENT_DISPOSITION, saved)], text).into_response()
}

fn write_row<'c>(text: &mut String, cells: impl Iterator<Item = &'c str>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&cell_text(cell));
    }
    text.push_str("\r\n");
}

/// Quoted. What a spreadsheet would take for a formula becomes text.
fn cell_text(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_becomes_a_formula_or_another_cell() {
        assert_eq!(cell_text("plain, text"), "\"plain, text\"");
        assert_eq!(cell_text("say \"hi\""), "\"say \"\"hi\"\"\"");
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert!(cell_text(formula).starts_with("\"'"), "{formula}");
        }
    }
}
