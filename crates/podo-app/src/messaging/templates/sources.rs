//! The template files, which are part of the program. A file has a line for the subject, a line
//! for the short form, and after `---` the body, which serves both HTML and plain text: the parts
//! that it is made of (`parts.html.j2`, `parts.txt.j2`) differ.

use crate::messaging::templates::Template;
use podo_domain::messaging::messages::Language;

/// Both languages of a template.
macro_rules! both {
    ($file:literal) => {
        (
            include_str!(concat!("../../../mail/", $file, ".ko.j2")),
            include_str!(concat!("../../../mail/", $file, ".en.j2")),
        )
    };
}

const fn files(template: Template) -> (&'static str, &'static str) {
    match template {
        Template::Welcome => both!("account/welcome"),
        Template::SignUpCode => both!("account/sign-up-code"),
        Template::AlreadySignedUp => both!("account/already-signed-up"),
        Template::SessionCopied => both!("account/session-copied"),
        Template::Security => both!("account/security"),
        Template::Invitation => both!("access/invitation"),
        Template::PasswordReset => both!("access/password-reset"),
        Template::NoAccount => both!("access/no-account"),
        Template::NewEmailCode => both!("access/new-email-code"),
        Template::EmailTaken => both!("access/email-taken"),
        Template::EmailChanged => both!("access/email-changed"),
        Template::BookingConfirmed => both!("booking/booking-confirmed"),
        Template::BookingCanceled => both!("booking/booking-canceled"),
        Template::BookingReduced => both!("booking/booking-reduced"),
        Template::Reseated => both!("booking/reseated"),
        Template::Refunded => both!("booking/refunded"),
        Template::DepositAwaited => both!("deposit/deposit-awaited"),
        Template::DepositReminder => both!("deposit/deposit-reminder"),
        Template::DepositMissed => both!("deposit/deposit-missed"),
        Template::RefundAccountNeeded => both!("deposit/refund-account"),
        Template::StandbyOffered => both!("booking/standby-offered"),
        Template::ResaleOffered => both!("booking/resale-offered"),
        Template::CalledOff => both!("show/called-off"),
        Template::Moved => both!("show/moved"),
        Template::SaleReminder => both!("show/sale-reminder"),
        Template::ShowReminder => both!("show/show-reminder"),
        Template::PhaseVerified => both!("show/phase-verified"),
        Template::DrawApplied => both!("draw/draw-applied"),
        Template::DrawWon => both!("draw/draw-won"),
        Template::DrawLost => both!("draw/draw-lost"),
        Template::OfferSent => both!("tickets/offer-sent"),
        Template::OfferReceived => both!("tickets/offer-received"),
        Template::TicketClaim => both!("tickets/ticket-claim"),
        Template::TransferredAway => both!("tickets/transferred-away"),
        Template::TransferredHere => both!("tickets/transferred-here"),
    }
}

/// The frame around every body, and what bodies are made of.
const SHARED: [(&str, &str); 4] = [
    ("layout.html", include_str!("../../../mail/layout.html.j2")),
    ("layout.txt", include_str!("../../../mail/layout.txt.j2")),
    ("parts.html", include_str!("../../../mail/parts.html.j2")),
    ("parts.txt", include_str!("../../../mail/parts.txt.j2")),
];

/// The name of a part: `booking-confirmed.ko.html`.
pub(super) fn name(template: Template, language: Language, part: &str) -> String {
    format!("{}.{}.{part}", template.as_str(), language.as_str())
}

pub(super) fn all() -> Vec<(String, String)> {
    let shared = SHARED.iter().map(|(name, source)| ((*name).to_owned(), (*source).to_owned()));
    let mut sources: Vec<(String, String)> = shared.collect();
    for template in Template::ALL {
        let (ko, en) = files(template);
        for (language, file) in [(Language::Ko, ko), (Language::En, en)] {
            sources.extend(split(template, language, file));
        }
    }
    sources
}

fn split(template: Template, language: Language, file: &str) -> Vec<(String, String)> {
    let (head, body) = file.split_once("\n---\n").unwrap_or((file, ""));
    let (subject, short) = head.split_once('\n').unwrap_or((head, ""));
    let named = |part: &str, source: String| (name(template, language, part), source);
    let framed = |kind: &str| {
        format!(
            "{{% extends \"layout.{kind}\" %}}{{% block body %}}\
             {{% from \"parts.{kind}\" import title, text, note, code, details, compare, button, \
             link, open %}}{body}{{% endblock %}}"
        )
    };
    vec![
        named("subject", subject.to_owned()),
        named("short", short.to_owned()),
        named("html", framed("html")),
        named("txt", framed("txt")),
    ]
}
