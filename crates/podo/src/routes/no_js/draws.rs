//! A draw sale without JavaScript: apply, change, withdraw, and pay for the seats that are held.

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
use podo_app::catalog::phases::draws;
use podo_app::catalog::phases::draws::{DrawApplicationView, DrawSaleView};
use podo_domain::booking::draws::ApplicationState;
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::{PhaseId, Refusal, UserId};
use serde::Deserialize;

pub(crate) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Id(phase): Id<PhaseId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{phase}/apply"));
    };
    let shown = page(&app, language, visitor.caller.user, phase, None).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

/// What the form sends; the second button withdraws.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    grade: String,
    count: u32,
    withdraw: String,
}

pub(crate) async fn apply(
    State(app): State<App>,
    headers: HeaderMap,
    Id(phase): Id<PhaseId>,
    Raw(body): Raw,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{phase}/apply"));
    };
    let given: Given = serde_urlencoded::from_bytes(&body).unwrap_or_default();
    let user = visitor.caller.user;
    let refused = match answer(&app, user, phase, given).await {
        Ok(()) => None,
        Err(error @ Error::Refused(_)) => Some(error),
        Err(error) => return visitor.keep(trouble(language, error)),
    };
    let shown = page(&app, language, user, phase, refused).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

async fn answer(app: &App, user: UserId, phase: PhaseId, given: Given) -> podo_app::Result<()> {
    if !given.withdraw.is_empty() {
        return draws::withdraw(&app.context, user, phase).await;
    }
    let invalid = |problem: FieldError| Refusal::Invalid { field: "grade", problem };
    let grade: Line<20> = Line::try_from(given.grade).map_err(invalid)?;
    draws::apply(&app.context, user, phase, grade.into(), given.count).await.map(drop)
}

async fn page(
    app: &App,
    language: Language,
    user: UserId,
    phase: PhaseId,
    refused: Option<Error>,
) -> podo_app::Result<Response> {
    let draw = draws::show_draw(&app.context, phase).await?;
    let (store, now) = (&*app.context.store, app.context.now());
    let date = app.context.catalog.schedules.get(store, phase.schedule(), now).await?;
    let zone = date.time_zone.as_str();
    let mine = match draws::my_application(&app.context, user, phase).await {
        Ok(mine) => Some(mine),
        Err(Error::Refused(Refusal::NotFound)) => None,
        Err(error) => return Err(error),
    };
    let problem = refused.map_or(String::new(), |error| {
        let (_, words) = ApiError::from(error).told(language);
        format!("<p class=\"note danger\" role=\"alert\">{}</p>", escape(&words))
    });
    let title = language.say("추첨 응모", "Apply for the draw");
    let window = format!(
        "<p>{} {} – {}</p>",
        language.say("응모 기간", "Applications"),
        day(draw.apply_from, zone),
        day(draw.apply_until, zone)
    );
    let is_open = draw.apply_from <= now && now < draw.apply_until;
    let form = if is_open { form(language, &draw, mine.as_ref()) } else { String::new() };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1>{window}{problem}{}{form}{}</section>",
        mine.as_ref().map_or(String::new(), |mine| state(language, zone, mine)),
        proof(language, &draw)
    );
    Ok(Html::new(language, title).body(&body).into_response())
}

/// What became of the application, with the way to the checkout.
fn state(language: Language, zone: &str, mine: &DrawApplicationView) -> String {
    let words = match mine.state {
        ApplicationState::Applied => language.say("응모했어요", "You applied"),
        ApplicationState::Withdrawn => language.say("응모를 취소했어요", "You withdrew"),
        ApplicationState::Drawn if mine.wins => language
            .say("당첨됐어요. 곧 좌석을 잡아 드려요", "You won. We'll hold seats for you soon"),
        ApplicationState::Drawn => language.say("당첨되지 않았어요", "You weren't drawn"),
        ApplicationState::Offered => {
            language.say("당첨돼 좌석을 잡아 두었어요", "You won. Seats are held for you")
        }
        ApplicationState::Taken => language.say("예매했어요", "You bought the tickets"),
        ApplicationState::Lapsed => language.say("결제 시간이 지났어요", "The offer has ended"),
        ApplicationState::Passed => language.say("차례가 지나갔어요", "Your turn has passed"),
    };
    let pay = match (&mine.offer, mine.state) {
        (Some(offer), ApplicationState::Offered) => format!(
            "<p>{} {}</p>",
            link(&format!("/#/checkout/{}", offer.id), language.say("결제하기", "Pay")),
            day(offer.hold_expires_at, zone)
        ),
        _ => String::new(),
    };
    let place = mine.place.map_or(String::new(), |place| {
        format!(" · {} {place}", language.say("추첨 순서", "Drawn as number"))
    });
    format!(
        "<p class=\"note\" role=\"status\">{words} · {} · {} · {} {}{place}</p>{pay}",
        escape(&mine.grade),
        seats(language, mine.count),
        language.say("응모 번호", "Application number"),
        mine.index
    )
}

fn seats(language: Language, count: u32) -> String {
    match (language, count) {
        (Language::Korean, _) => format!("{count}석"),
        (Language::English, 1) => "1 seat".to_owned(),
        (Language::English, _) => format!("{count} seats"),
        (Language::Japanese, _) => format!("{count}席"),
        (Language::Chinese, _) => format!("{count} 个座位"),
    }
}

fn form(language: Language, draw: &DrawSaleView, mine: Option<&DrawApplicationView>) -> String {
    let chosen = |is_chosen: bool| if is_chosen { " selected" } else { "" };
    let grade = |(grade, quantity): (&String, &u32)| {
        let is_mine = mine.is_some_and(|mine| mine.grade == *grade);
        let name = escape(grade);
        format!(
            "<option value=\"{name}\"{}>{name} ({})</option>",
            chosen(is_mine),
            seats(language, *quantity)
        )
    };
    let count = |count: u32| {
        let is_mine = mine.is_some_and(|mine| mine.count == count);
        format!("<option{}>{count}</option>", chosen(is_mine))
    };
    let grades: String = draw.quantities.iter().map(grade).collect();
    let counts: String = (1..=draw.seats_max).map(count).collect();
    let is_applied = mine.is_some_and(|mine| mine.state == ApplicationState::Applied);
    let (send, withdraw) = match is_applied {
        true => (
            language.say("응모 바꾸기", "Change"),
            format!(
                "<button class=\"btn\" name=\"withdraw\" value=\"1\">{}</button>",
                language.say("응모 취소", "Withdraw")
            ),
        ),
        false => (language.say("응모하기", "Apply"), String::new()),
    };
    format!(
        "<form class=\"stack\" method=\"post\" action=\"/queue/{}/apply\">\
         <label class=\"field\">{}<select name=\"grade\">{grades}</select></label>\
         <label class=\"field\">{}<select name=\"count\">{counts}</select></label>\
         <button class=\"btn primary\">{send}</button>{withdraw}</form>",
        draw.phase_id,
        language.say("등급", "Grade"),
        language.say("좌석 수", "Seats")
    )
}

/// What anybody needs to check the draw.
fn proof(language: Language, draw: &DrawSaleView) -> String {
    let seed = draw.seed.as_ref().map_or(String::new(), |seed| {
        format!(
            "<p class=\"quiet\">{} <code>{seed}</code> {}</p>",
            language.say("시드", "Seed"),
            link(
                &format!("/api/booking/draws/{}/applications", draw.phase_id),
                language.say("응모 목록", "List of applications")
            )
        )
    });
    format!(
        "<p class=\"quiet\">{} <code>{}</code></p>{seed}",
        language.say("시드 해시", "Hash of the seed"),
        draw.seed_hash
    )
}
