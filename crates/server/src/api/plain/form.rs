//! A form as people fill it in: fields with their names beside them, and what was wrong above them.

use super::html::{Html, escape};
use crate::api::language::Language;
use axum::response::{IntoResponse, Response};
use std::fmt::Write;

/// What a field asks for, and what the browser may fill in by itself.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) fills: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: Option<&'static str>,
    /// The fewest characters that make sense.
    pub(super) at_least: usize,
}

pub(super) struct Form {
    pub(super) language: Language,
    pub(super) title: &'static str,
    pub(super) action: &'static str,
    parts: String,
    after: String,
    problem: Option<String>,
}

impl Form {
    pub(super) fn new(language: Language, title: &'static str, action: &'static str) -> Form {
        let (parts, after) = (String::new(), String::new());
        Form { language, title, action, parts, after, problem: None }
    }

    pub(super) fn ask(mut self, field: &Field, value: &str) -> Form {
        let Field { name, kind, fills, label, hint, at_least } = field;
        let hint = hint.map_or(String::new(), |words| format!("<small>{words}</small>"));
        // Writing to a string cannot fail.
        let _ = write!(
            self.parts,
            "<label class=\"field\">{label}<input name=\"{name}\" type=\"{kind}\" \
             autocomplete=\"{fills}\" value=\"{}\" minlength=\"{at_least}\" required>{hint}</label>",
            escape(value)
        );
        self
    }

    /// Something that comes back as it was sent.
    pub(super) fn carry(mut self, name: &str, value: &str) -> Form {
        let (parts, value) = (&mut self.parts, escape(value));
        let _ = write!(parts, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        self
    }

    /// A paragraph before the fields that follow; `words` are ours.
    pub(super) fn say(mut self, words: &str) -> Form {
        let _ = write!(self.parts, "<p>{words}</p>");
        self
    }

    pub(super) fn then(mut self, html: &str) -> Form {
        self.after.push_str(html);
        self
    }

    pub(super) fn problem(mut self, words: Option<String>) -> Form {
        self.problem = words;
        self
    }

    pub(super) fn page(&self) -> Response {
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
