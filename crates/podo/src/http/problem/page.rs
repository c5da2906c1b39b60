//! The page behind every problem's `type`: all codes, in both languages.

use crate::http::assets;
use crate::http::problem::problem_codes;
use axum::response::Html;
use std::fmt::Write;

const PAGE: &str = "docs/problems.html";
const ROWS: &str = "<!-- codes -->";

pub(crate) async fn show() -> Html<String> {
    let mut rows = String::new();
    for (code, korean, english) in problem_codes() {
        let _ = write!(
            rows,
            r#"<tr id="{code}"><th scope="row"><code>{code}</code></th><td lang="ko">{korean}</td><td>{english}</td></tr>"#
        );
    }
    Html(assets::page_text(PAGE).replace(ROWS, &rows))
}
