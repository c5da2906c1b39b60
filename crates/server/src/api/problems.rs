//! The page behind every problem's `type`: all codes, in both languages.

use super::error::problem_codes;
use axum::response::Html;
use std::fmt::Write;

pub(super) async fn show() -> Html<String> {
    let mut rows = String::new();
    for (code, korean, english) in problem_codes() {
        let _ = write!(
            rows,
            r#"<tr id="{code}"><td><code>{code}</code></td><td lang="ko">{korean}</td><td>{english}</td></tr>"#
        );
    }
    Html(format!(
        r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Problems — podo</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/shared/tokens.css"><link rel="stylesheet" href="/shared/base.css"></head>
<body><main><h1>Problems</h1><table><tbody>{rows}</tbody></table></main></body></html>"#
    ))
}
