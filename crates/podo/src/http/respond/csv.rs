//! Lists as CSV files with all rows.

use crate::http::extract::page_limit;
use crate::http::problem::{ApiError, Failure};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use podo_app::Result;
use podo_app::store::{PAGE_MAX, Page};
use podo_domain::catalog::text::Line;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::str::FromStr;
use utoipa::ToSchema;

/// The format of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    #[default]
    Json,
    Csv,
}

/// A query that may ask for a file.
pub(crate) trait Exports {
    fn format(&self) -> Format;
}

/// The requested part and format of a list. Files export many people's data, so they need a reason.
pub(crate) struct ListRequest<C> {
    pub(crate) format: Format,
    pub(crate) reason: Option<Line<200>>,
    pub(crate) before: Option<C>,
    pub(crate) limit: Option<u32>,
}

/// One page, or a file of all pages. `page` returns the rows before a cursor.
pub(crate) async fn page_or_file<T, C, F>(
    name: &str,
    columns: &'static [&'static str],
    asked: ListRequest<C>,
    page: impl Fn(Option<C>, u32) -> F + Send + 'static,
) -> std::result::Result<Response, ApiError>
where
    T: Serialize,
    C: FromStr + Send + 'static,
    F: Future<Output = Result<Page<T>>> + Send,
{
    match asked.format {
        Format::Json => {
            Ok(Json(page(asked.before, page_limit(asked.limit)?).await?).into_response())
        }
        Format::Csv if asked.reason.is_none() => {
            Err(Failure::Field { pointer: "reason".into(), problem: "blank".into() }.into())
        }
        Format::Csv => file(name, columns, move |before| page(before, PAGE_MAX)).await,
    }
}

/// Without it, spreadsheets don't read the file as UTF-8.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A file of all pages, streamed while they are read. `columns` are the fields of a row, in order.
async fn file<T, C, F>(
    name: &str,
    columns: &'static [&'static str],
    page: impl Fn(Option<C>) -> F + Send + 'static,
) -> std::result::Result<Response, ApiError>
where
    T: Serialize,
    C: FromStr + Send + 'static,
    F: Future<Output = Result<Page<T>>> + Send,
{
    // Reads the first page before the response starts, so that it can still fail with a problem.
    let first = page(None).await?;
    let head = format!("{BYTE_ORDER_MARK}{}\r\n{}", columns.join(","), lines(&first, columns));
    let next = cursor(&first);
    let rest = stream::unfold((page, next), move |(page, next)| async move {
        let found = page(Some(next?)).await;
        let (text, next) = match found {
            Ok(found) => (Ok(lines(&found, columns)), cursor(&found)),
            // Breaks the connection, because a truncated file must not look complete.
            Err(error) => (Err(std::io::Error::other(error.to_string())), None),
        };
        Some((text.map(Bytes::from), (page, next)))
    });
    let body = futures::StreamExt::chain(stream::iter([Ok(Bytes::from(head))]), rest);
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned());
    let saved = (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.csv\""));
    Ok(([kind, saved], Body::from_stream(body)).into_response())
}

fn cursor<T, C: FromStr>(page: &Page<T>) -> Option<C> {
    page.next_cursor.as_ref().and_then(|text| text.parse().ok())
}

fn lines<T: Serialize>(page: &Page<T>, columns: &[&str]) -> String {
    let mut text = String::new();
    for item in &page.items {
        let row = serde_json::to_value(item).unwrap_or_default();
        let cells: Vec<String> = columns.iter().map(|name| cell(row.get(name))).collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A value as a cell.
fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => return text_cell(text),
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| item.as_str().unwrap_or_default());
            items.collect::<Vec<_>>().join(" ")
        }
        Some(members @ Value::Object(_)) => members.to_string(),
        Some(other @ (Value::Bool(_) | Value::Number(_))) => return other.to_string(),
    };
    text_cell(&text)
}

/// Quotes a text, and escapes a leading formula character, because a spreadsheet would run it.
pub(crate) fn text_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_cannot_leave_its_cell_or_become_a_formula() {
        assert_eq!(cell(Some(&json!("a,\"b\""))), r#""a,""b""""#);
        assert_eq!(cell(Some(&json!("=1+1"))), "\"'=1+1\"");
        assert_eq!(cell(Some(&json!(150_000))), "150000");
        assert_eq!(cell(Some(&json!(["A-1", "A-2"]))), "\"A-1 A-2\"");
        assert_eq!(cell(Some(&json!({ "a": "b,c" }))), r#""{""a"":""b,c""}""#);
        assert_eq!(cell(None), "");
    }

    #[test]
    fn rows_have_the_columns_in_their_order() {
        let page = Page { items: vec![json!({ "b": 2, "a": "x" })], next_cursor: None };
        assert_eq!(lines(&page, &["a", "b", "c"]), "\"x\",2,\r\n");
    }
}
