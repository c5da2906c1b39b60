//! The texts of notifications: templates in files, in Korean and English, for HTML, plain text and
//! short channels. Templates can't run code or reach anything but the facts that they are given.

pub mod facts;
pub mod samples;
mod sources;
pub mod words;

use crate::error::{Error, Result};
use crate::messaging::templates::facts::Facts;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use podo_domain::messaging::messages::Language;
use serde::Serialize;
use std::sync::LazyLock;
use utoipa::ToSchema;

/// Most steps of one rendering; the longest template takes a small part of it.
const FUEL: u64 = 100_000;

/// Most bytes of one rendered part.
const RENDERED_MAX: usize = 200_000;

/// What a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Template {
    Welcome,
    SignUpCode,
    AlreadySignedUp,
    SessionCopied,
    Security,
    Invitation,
    PasswordReset,
    NoAccount,
    NewEmailCode,
    EmailTaken,
    EmailChanged,
    BookingConfirmed,
    BookingCanceled,
    BookingReduced,
    Reseated,
    Refunded,
    DepositAwaited,
    DepositReminder,
    DepositMissed,
    RefundAccountNeeded,
    CalledOff,
    StandbyOffered,
    ResaleOffered,
    Moved,
    SaleReminder,
    ShowReminder,
    PhaseVerified,
    DrawApplied,
    DrawWon,
    DrawLost,
    OfferSent,
    OfferReceived,
    TicketClaim,
    TransferredAway,
    TransferredHere,
}

impl Template {
    pub const ALL: [Template; 35] = [
        Template::Welcome,
        Template::SignUpCode,
        Template::AlreadySignedUp,
        Template::SessionCopied,
        Template::Security,
        Template::Invitation,
        Template::PasswordReset,
        Template::NoAccount,
        Template::NewEmailCode,
        Template::EmailTaken,
        Template::EmailChanged,
        Template::BookingConfirmed,
        Template::BookingCanceled,
        Template::BookingReduced,
        Template::Reseated,
        Template::Refunded,
        Template::DepositAwaited,
        Template::DepositReminder,
        Template::DepositMissed,
        Template::RefundAccountNeeded,
        Template::CalledOff,
        Template::StandbyOffered,
        Template::ResaleOffered,
        Template::Moved,
        Template::SaleReminder,
        Template::ShowReminder,
        Template::PhaseVerified,
        Template::DrawApplied,
        Template::DrawWon,
        Template::DrawLost,
        Template::OfferSent,
        Template::OfferReceived,
        Template::TicketClaim,
        Template::TransferredAway,
        Template::TransferredHere,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Template::Welcome => "welcome",
            Template::SignUpCode => "sign-up-code",
            Template::AlreadySignedUp => "already-signed-up",
            Template::SessionCopied => "session-copied",
            Template::Security => "security",
            Template::Invitation => "invitation",
            Template::PasswordReset => "password-reset",
            Template::NoAccount => "no-account",
            Template::NewEmailCode => "new-email-code",
            Template::EmailTaken => "email-taken",
            Template::EmailChanged => "email-changed",
            Template::BookingConfirmed => "booking-confirmed",
            Template::BookingCanceled => "booking-canceled",
            Template::BookingReduced => "booking-reduced",
            Template::Reseated => "reseated",
            Template::Refunded => "refunded",
            Template::DepositAwaited => "deposit-awaited",
            Template::DepositReminder => "deposit-reminder",
            Template::DepositMissed => "deposit-missed",
            Template::RefundAccountNeeded => "refund-account",
            Template::CalledOff => "called-off",
            Template::StandbyOffered => "standby-offered",
            Template::ResaleOffered => "resale-offered",
            Template::Moved => "moved",
            Template::SaleReminder => "sale-reminder",
            Template::ShowReminder => "show-reminder",
            Template::PhaseVerified => "phase-verified",
            Template::DrawApplied => "draw-applied",
            Template::DrawWon => "draw-won",
            Template::DrawLost => "draw-lost",
            Template::OfferSent => "offer-sent",
            Template::OfferReceived => "offer-received",
            Template::TicketClaim => "ticket-claim",
            Template::TransferredAway => "transferred-away",
            Template::TransferredHere => "transferred-here",
        }
    }

    pub fn parse(text: &str) -> Option<Template> {
        Template::ALL.into_iter().find(|template| template.as_str() == text)
    }

    /// Reminders can be unsubscribed from; all others concern an account or money.
    pub const fn is_reminder(self) -> bool {
        matches!(self, Template::SaleReminder | Template::ShowReminder)
    }

    /// Whether the tickets are attached to the e-mail.
    pub const fn has_tickets(self) -> bool {
        matches!(
            self,
            Template::BookingConfirmed
                | Template::Reseated
                | Template::TransferredHere
                | Template::ShowReminder
        )
    }
}

/// The organiser's look, from the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    pub name: String,
    /// An https address of a picture; empty for the name in letters.
    pub logo_url: String,
    /// `#5b2bd6`.
    pub color: String,
    /// Where replies go; empty for the sender.
    pub reply_to: String,
    /// Where fans reach the pages, without a slash at the end; empty if the settings don't say.
    pub home: String,
    /// On receipts: the registered name, and the business registration number; empty if not set.
    pub business_name: String,
    pub business_number: String,
}

/// A notification in all its forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rendered {
    pub subject: String,
    /// For the mailbox, SMS and push.
    pub short: String,
    pub html: String,
    pub text: String,
}

/// What a rendering needs besides the template.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    pub facts: &'v Facts,
    pub brand: &'v Brand,
    /// Where the recipient can end reminders; empty for other kinds.
    pub unsubscribe: &'v str,
}

/// Renders every part. The same values give the same text.
pub fn render(template: Template, language: Language, values: Values<'_>) -> Result<Rendered> {
    let part = |part: &str| render_part(template, language, part, values);
    Ok(Rendered {
        subject: part("subject")?,
        short: part("short")?,
        html: part("html")?,
        text: part("txt")?,
    })
}

/// The subject and the short form, for channels without HTML.
pub fn render_short(
    template: Template,
    language: Language,
    values: Values<'_>,
) -> Result<(String, String)> {
    let part = |part: &str| render_part(template, language, part, values);
    Ok((part("subject")?, part("short")?))
}

fn render_part(
    template: Template,
    language: Language,
    part: &str,
    values: Values<'_>,
) -> Result<String> {
    static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(engine);
    let name = sources::name(template, language, part);
    let wrong = |error: minijinja::Error| Error::broken(format!("template {name}: {error:#}"));
    let found = ENGINE.get_template(&name).map_err(wrong)?;
    let values = context! {
        f => Serde(values.facts), brand => Serde(values.brand), unsubscribe => values.unsubscribe,
        language => language.as_str(),
    };
    let text = found.render(values).map_err(wrong)?;
    if text.len() > RENDERED_MAX {
        return Err(Error::broken(format!("template {name}: the text is too long")));
    }
    Ok(match part {
        // A line break in a subject would start another header.
        "subject" | "short" => text.split_whitespace().collect::<Vec<_>>().join(" "),
        "txt" => paragraphs(&text),
        _ => text,
    })
}

/// At most one empty line between two others.
fn paragraphs(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    let mut joined = lines.join("\n");
    joined.truncate(joined.trim_end().len());
    joined.push('\n');
    joined
}

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    engine.set_fuel(Some(FUEL));
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    engine.set_syntax(syntax.expect("the usual delimiters are distinct"));
    engine.set_auto_escape_callback(|name| match name.ends_with(".html") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    for (name, source) in sources::all() {
        engine
            .add_template_owned(name, source)
            .expect("the templates are part of the program, and a test parses them");
    }
    engine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brand() -> Brand {
        Brand {
            name: "포도".to_owned(),
            color: "#5b2bd6".to_owned(),
            home: "https://podo.example".to_owned(),
            ..Brand::default()
        }
    }

    fn rendered(template: Template, language: Language, facts: &Facts) -> Rendered {
        let brand = brand();
        render(template, language, Values { facts, brand: &brand, unsubscribe: "" }).unwrap()
    }

    #[test]
    fn every_template_renders_in_both_languages() {
        for template in Template::ALL {
            assert_eq!(Template::parse(template.as_str()), Some(template));
            for language in [Language::Ko, Language::En] {
                let facts = samples::facts(template, language);
                let rendered = rendered(template, language, &facts);
                for part in [&rendered.subject, &rendered.short, &rendered.html, &rendered.text] {
                    assert!(!part.trim().is_empty(), "{template:?} {language:?}");
                    assert!(!part.contains("undefined"), "{part}");
                }
                assert!(rendered.subject.chars().count() <= 120, "{}", rendered.subject);
                assert!(!rendered.text.contains("</"), "{}", rendered.text);
            }
        }
    }

    /// A message about a booking that was erased still becomes a notification.
    #[test]
    fn every_template_renders_without_facts() {
        for template in Template::ALL {
            for language in [Language::Ko, Language::En] {
                rendered(template, language, &Facts::default());
            }
        }
    }

    #[test]
    fn names_of_events_are_text_and_not_markup() {
        let mut facts = samples::facts(Template::BookingConfirmed, Language::Ko);
        let show = facts.show.as_mut().unwrap();
        show.title = "<script>alert(1)</script> {{ 7 * 7 }}\r\nBcc: x@y.example".to_owned();
        let rendered = rendered(Template::BookingConfirmed, Language::Ko, &facts);
        assert!(!rendered.html.contains("<script>"), "{}", rendered.html);
        assert!(rendered.html.contains("&lt;script&gt;"), "{}", rendered.html);
        assert!(rendered.html.contains("{{ 7 * 7 }}"), "a fact is not a template");
        assert!(!rendered.subject.contains(['\r', '\n']), "{}", rendered.subject);
    }

    #[test]
    fn a_reminder_says_how_to_end_it() {
        let facts = samples::facts(Template::SaleReminder, Language::En);
        let (brand, link) = (brand(), "https://podo.example/#/unsubscribe/abc");
        let values = Values { facts: &facts, brand: &brand, unsubscribe: link };
        let rendered = render(Template::SaleReminder, Language::En, values).unwrap();
        assert!(rendered.text.contains(link), "{}", rendered.text);
        assert!(rendered.html.contains("unsubscribe&#x2f;abc") || rendered.html.contains(link));
    }
}
