//! A form: labelled fields, with errors above them.

use crate::http::language::Language;
use crate::routes::no_js::html::{Html, escape};
use axum::response::{IntoResponse, Response};
use std::fmt::Write;

/// A field, and its hint for the browser's autocompletion.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) fills: &'static str,
    pub(crate) label: &'static str,
    pub(crate) hint: Option<&'static str>,
    /// The least number of characters.
    pub(crate) at_least: usize,
}

pub(crate) struct Form {
    pub(crate) language: Language,
    pub(crate) title: &'static str,
    pub(crate) action: &'static str,
    parts: String,
    after: String,
    problem: Option<String>,
}

impl Form {
    pub(crate) fn new(language: Language, title: &'static str, action: &'static str) -> Form {
        let (parts, after) = (String::new(), String::new());
        Form { language, title, action, parts, after, problem: None }
    }

    pub(crate) fn ask(mut self, field: &Field, value: &str) -> Form {
        let Field { name, kind, fills, label, hint, at_least } = field;
        let hint = hint.map_or(String::new(), |words| format!("<small>{words}</small>"));
        // Writing to a string never fails.
        let _ = write!(
            self.parts,
            "<label class=\"field\">{label}<input name=\"{name}\" type=\"{kind}\" \
             autocomplete=\"{fills}\" value=\"{}\" minlength=\"{at_least}\" required>{hint}</label>",
            escape(value)
        );
        self
    }

    /// A box to tick; `words` is trusted HTML.
    pub(crate) fn tick(mut self, name: &str, words: &str, is_on: bool, is_required: bool) -> Form {
        let on = if is_on { " checked" } else { "" };
        let required = if is_required { " required" } else { "" };
        let _ = write!(
            self.parts,
            "<label class=\"choice\"><input type=\"checkbox\" name=\"{name}\" value=\"yes\"{on}{required}>\
             <span>{words}</span></label>"
        );
        self
    }

    /// A hidden field.
    pub(crate) fn carry(mut self, name: &str, value: &str) -> Form {
        let (parts, value) = (&mut self.parts, escape(value));
        let _ = write!(parts, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        self
    }

    /// A paragraph before the following fields; `words` is trusted HTML.
    pub(crate) fn say(mut self, words: &str) -> Form {
        let _ = write!(self.parts, "<p>{words}</p>");
        self
    }

    pub(crate) fn then(mut self, html: &str) -> Form {
        self.after.push_str(html);
        self
    }

    pub(crate) fn problem(mut self, words: Option<String>) -> Form {
        self.problem = words;
        self
    }

    pub(crate) fn page(&self) -> Response {
        let Form { title, action, parts, after, .. } = self;
        let problem = self.problem.as_deref().map_or(String::new(), |words| {
            format!("<p class=\"note danger\" role=\"alert\">{}</p>", escape(words))
        });
        let body = format!(
            "<form class=\"card pad stack\" method=\"post\" action=\"{action}\"><h1>{title}</h1>\
             {problem}{parts}<button class=\"btn primary\">{title}</button>{after}</form>"
        );
        Html::new(self.language, title).body(&body).into_response()
    }
}
