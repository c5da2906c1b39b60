//! The organiser's legal pages, rendered from Markdown.

use crate::http::language::Language;
use crate::routes::App;
use crate::routes::no_js::html::Html;
use crate::routes::no_js::trouble;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::identity::legal;
use podo_domain::identity::consents::PageKind;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub(crate) async fn terms(app: State<App>, headers: HeaderMap) -> Response {
    show(app, headers, PageKind::Terms).await
}

pub(crate) async fn privacy(app: State<App>, headers: HeaderMap) -> Response {
    show(app, headers, PageKind::Privacy).await
}

pub(crate) async fn business(app: State<App>, headers: HeaderMap) -> Response {
    show(app, headers, PageKind::Business).await
}

/// The name of a page.
pub(crate) fn title(language: Language, kind: PageKind) -> &'static str {
    match kind {
        PageKind::Terms => language.say("이용약관", "Terms of use"),
        PageKind::Privacy => language.say("개인정보 처리방침", "Privacy policy"),
        PageKind::Business => language.say("사업자 정보", "Business information"),
    }
}

async fn show(State(app): State<App>, headers: HeaderMap, kind: PageKind) -> Response {
    let language = Language::of(&headers);
    let page = match legal::page(&app.context, kind, None).await {
        Ok(page) => page,
        Err(error) => return trouble(language, error),
    };
    let title = title(language, kind);
    let text = language.choose(&page.ko, &page.en);
    let version = language.say("버전", "Version");
    let body = format!(
        "<article class=\"card pad prose\"><h1>{title}</h1>{}<p class=\"quiet\">{version} {}</p>\
         </article>",
        to_html(text),
        page.version
    );
    Html::new(language, title).body(&body).reply(&headers)
}

/// Renders Markdown. HTML in it becomes text, images are left out, and links lead only to web pages,
/// addresses of ours, and mail: the text is an organiser's, but its readers are everyone.
fn to_html(markdown: &str) -> String {
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES);
    let mut n_unsafe_links = 0_u32;
    let events = parser.filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Link { ref dest_url, .. }) if !is_safe(dest_url) => {
            n_unsafe_links += 1;
            None
        }
        Event::End(TagEnd::Link) if n_unsafe_links > 0 => {
            n_unsafe_links -= 1;
            None
        }
        // The page has its own heading.
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            let level = lower(level);
            Some(Event::Start(Tag::Heading { level, id, classes, attrs }))
        }
        Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lower(level)))),
        other @ (Event::Start(_)
        | Event::End(_)
        | Event::Text(_)
        | Event::Code(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::FootnoteReference(_)
        | Event::SoftBreak
        | Event::HardBreak
        | Event::Rule
        | Event::TaskListMarker(_)) => Some(other),
    });
    let mut html = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut html, events);
    html
}

fn lower(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    use pulldown_cmark::HeadingLevel as L;
    match level {
        L::H1 => L::H2,
        L::H2 => L::H3,
        L::H3 | L::H4 | L::H5 | L::H6 => L::H4,
    }
}

fn is_safe(address: &str) -> bool {
    let lower = address.trim().to_ascii_lowercase();
    let is_ours = lower.starts_with('/') && !lower.starts_with("//");
    let starts = ["https://", "http://", "mailto:", "tel:", "#"];
    is_ours || starts.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html_and_html_becomes_text() {
        let html =
            to_html("# 제1조\n\n**목적** <script>alert(1)</script>\n\n<img src=x onerror=y>");
        assert!(
            html.contains("<h2>제1조</h2>") && html.contains("<strong>목적</strong>"),
            "{html}"
        );
        assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn links_lead_only_where_they_may() {
        for (link, is_kept) in [
            ("https://podo.example", true),
            ("mailto:help@podo.example", true),
            ("/privacy", true),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("data:text/html,x", false),
            ("//evil.example", false),
            ("vbscript:x", false),
        ] {
            let html = to_html(&format!("[text]({link})"));
            assert_eq!(html.contains("<a "), is_kept, "{link}: {html}");
            assert!(html.contains("text"), "{html}");
        }
        let image = to_html("![alt](https://evil.example/pixel.png)");
        assert!(!image.contains("<img") && image.contains("alt"), "{image}");
    }
}
