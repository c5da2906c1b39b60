//! Sale phases without JavaScript: the list on the event page, and the proof before a phase opens.

use crate::http::extract::{Id, Raw};
use crate::http::language::Language;
use crate::http::problem::ApiError;
use crate::routes::App;
use crate::routes::no_js::html::{Html, day, escape, link};
use crate::routes::no_js::{session, to_form, trouble};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use podo_app::Error;
use podo_app::catalog::phases;
use podo_app::catalog::phases::members::{MemberIdentifier, MemberKey};
use podo_app::catalog::phases::{MissingProof, MyPhaseView, PhaseView, Proof};
use podo_domain::catalog::ScheduleStatus;
use podo_domain::catalog::phases::PhaseAudience;
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::identity::{Email, Phone};
use podo_domain::{PhaseId, Refusal, UserId};
use serde::Deserialize;

/// The phases of a date; nothing if it has none.
pub(crate) fn lines(language: Language, zone: &str, phases: &[PhaseView]) -> String {
    if phases.is_empty() {
        return String::new();
    }
    let items: String = phases.iter().map(|phase| line(language, zone, phase)).collect();
    format!("<h3>{}</h3><ul>{items}</ul>", language.say("판매 단계", "Sale phases"))
}

fn line(language: Language, zone: &str, phase: &PhaseView) -> String {
    let verify = match phase.audience {
        PhaseAudience::Everybody => String::new(),
        PhaseAudience::Drawn => link(
            &format!("/queue/{}/apply", phase.id),
            language.say("추첨 응모", "Apply for the draw"),
        ),
        _ if phase.status == ScheduleStatus::Ended => String::new(),
        PhaseAudience::Code | PhaseAudience::Members | PhaseAudience::VerifiedIdentity => {
            link(&format!("/queue/{}/verify", phase.id), language.say("구매 자격 인증", "Verify"))
        }
    };
    format!(
        "<li>{} · {} – {} · {} {verify}</li>",
        escape(language.choose(&phase.name, &phase.name_en)),
        day(phase.starts_at, zone),
        day(phase.ends_at, zone),
        audience(language, phase.audience)
    )
}

fn audience(language: Language, audience: PhaseAudience) -> &'static str {
    match audience {
        PhaseAudience::Everybody => language.say("누구나", "Everybody"),
        PhaseAudience::Code => language.say("코드가 있는 분", "With a code"),
        PhaseAudience::Members => language.say("회원 명단에 있는 분", "Members on the list"),
        PhaseAudience::VerifiedIdentity => language.say("본인 인증을 마친 분", "Verified identity"),
        PhaseAudience::Drawn => language.say("추첨에 당첨된 분", "Winners of a draw"),
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Id(phase): Id<PhaseId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{phase}/verify"));
    };
    let shown = page(&app, language, visitor.caller.user, phase, None).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

/// What the form sends.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    code: String,
    kind: String,
    value: String,
    name: String,
}

impl Given {
    fn proof(self) -> Result<Proof, Refusal> {
        let Given { code, kind, value, name } = self;
        if !code.is_empty() {
            return Ok(Proof::Code(code));
        }
        if value.is_empty() && name.is_empty() {
            return Ok(Proof::Identity);
        }
        let invalid = |field| move |problem: FieldError| Refusal::Invalid { field, problem };
        let id = match kind.as_str() {
            "email" => Email::try_from(value).map(MemberIdentifier::Email),
            "phone" => Phone::try_from(value).map(MemberIdentifier::Phone),
            _ => Line::try_from(value).map(MemberIdentifier::Number),
        };
        let id = id.map_err(invalid("value"))?;
        let name = Line::try_from(name).map_err(invalid("name"))?;
        Ok(Proof::Member(MemberKey { id, name }))
    }
}

pub(crate) async fn verify(
    State(app): State<App>,
    headers: HeaderMap,
    Id(phase): Id<PhaseId>,
    Raw(body): Raw,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{phase}/verify"));
    };
    let given: Given = serde_urlencoded::from_bytes(&body).unwrap_or_default();
    let user = visitor.caller.user;
    let verified = match given.proof() {
        Ok(proof) => phases::verify(&app.context, user, phase, proof).await,
        Err(refusal) => Err(refusal.into()),
    };
    let refused = match verified {
        Ok(_) => None,
        Err(error @ Error::Refused(_)) => Some(error),
        Err(error) => return visitor.keep(trouble(language, error)),
    };
    let shown = page(&app, language, user, phase, refused).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

async fn page(
    app: &App,
    language: Language,
    user: UserId,
    phase: PhaseId,
    refused: Option<Error>,
) -> podo_app::Result<Response> {
    let schedule = phase.schedule();
    let mine = phases::my_phases(&app.context, user, schedule).await?;
    let mine = mine.iter().find(|mine| mine.phase.id == phase).ok_or(Refusal::NotFound)?;
    let problem = refused.map_or(String::new(), |error| {
        let (_, words) = ApiError::from(error).told(language);
        format!("<p class=\"note danger\" role=\"alert\">{}</p>", escape(&words))
    });
    let title = language.say("구매 자격 인증", "Verify your eligibility");
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p>{problem}{}<p>{}</p></section>",
        escape(language.choose(&mine.phase.name, &mine.phase.name_en)),
        state(language, mine),
        link(&format!("/queue/{schedule}"), language.say("대기실로", "To the waiting room"))
    );
    Ok(Html::new(language, title).body(&body).into_response())
}

/// That the fan is eligible, or the form for what is missing.
fn state(language: Language, mine: &MyPhaseView) -> String {
    match mine.missing {
        None => {
            let words = language.say("인증 완료", "Verified");
            format!("<p class=\"note ok\">{words}</p>")
        }
        Some(MissingProof::Identity) => {
            let words = language.say(
                "본인 인증에는 자바스크립트가 필요해요.",
                "Verifying your identity needs JavaScript.",
            );
            format!("<p>{words}</p>")
        }
        Some(MissingProof::Draw) => format!(
            "<p>{}</p>",
            link(
                &format!("/queue/{}/apply", mine.phase.id),
                language.say("추첨 응모", "Apply for the draw")
            )
        ),
        Some(MissingProof::Code) => {
            form(language, mine.phase.id, &input("code", language.say("코드", "Code")))
        }
        Some(MissingProof::Membership) => {
            let option =
                |value: &str, words: &str| format!("<option value=\"{value}\">{words}</option>");
            let kinds = [
                option("membershipNumber", language.say("회원번호", "Membership number")),
                option("email", language.say("이메일", "E-mail")),
                option("phone", language.say("전화번호", "Phone")),
            ];
            let kind = format!(
                "<label class=\"field\">{}<select name=\"kind\">{}</select></label>",
                language.say("확인할 정보", "Verify by"),
                kinds.concat()
            );
            let value = input("value", language.say("번호 또는 주소", "Number or address"));
            let name = input("name", language.say("이름", "Name"));
            let hint = language.say(
                "입력한 정보는 주최자가 회원인지 확인하는 데만 써요.",
                "The organiser uses this only to check your membership.",
            );
            let hint = format!("<p class=\"quiet\">{hint}</p>");
            form(language, mine.phase.id, &[kind, value, name, hint].concat())
        }
    }
}

fn input(name: &str, label: &str) -> String {
    format!(
        "<label class=\"field\">{label}\
         <input name=\"{name}\" type=\"text\" maxlength=\"100\" required></label>"
    )
}

fn form(language: Language, phase: PhaseId, inputs: &str) -> String {
    format!(
        "<form class=\"stack\" method=\"post\" action=\"/queue/{phase}/verify\">{inputs}\
         <button class=\"btn primary\">{}</button></form>",
        language.say("인증하기", "Verify")
    )
}
