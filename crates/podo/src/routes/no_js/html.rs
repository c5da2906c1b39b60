//! The page around its content. All user input is escaped.

use crate::http::assets;
use crate::http::language::Language;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::catalog::images::ImageView;
use podo_app::messaging::templates::words;
use podo_domain::messaging::messages;
use podo_domain::{Currency, Money, Timestamp, Won};

/// The fans' page, whose empty main element is filled here.
const SHELL: &str = "fan/index.html";
const MIDDLE: &str = "<main id=\"main\" tabindex=\"-1\">";
const MENU: &str = "<nav id=\"nav\" aria-label=\"podo\">";

pub(crate) struct Html {
    language: Language,
    title: String,
    about: String,
    picture: String,
    body: String,
    again_in_s: Option<u32>,
}

impl Html {
    pub(crate) fn new(language: Language, title: &str) -> Html {
        Html {
            language,
            title: escape(title),
            about: String::new(),
            picture: String::new(),
            body: String::new(),
            again_in_s: None,
        }
    }

    /// The description for link previews.
    pub(crate) fn about(mut self, words: &str) -> Html {
        self.about = escape(words);
        self
    }

    /// The picture for link previews, which needs a whole address.
    pub(crate) fn picture(mut self, home: &str, image: Option<&ImageView>) -> Html {
        if let Some(image) = image.filter(|_| !home.is_empty()) {
            self.picture = format!(
                "<meta property=\"og:image\" content=\"{}{}\">\
                 <meta property=\"og:image:width\" content=\"{}\">\
                 <meta property=\"og:image:height\" content=\"{}\">\
                 <meta property=\"og:image:alt\" content=\"{}\">",
                escape(home),
                escape(&image.url),
                image.width,
                image.height,
                escape(&image.alt)
            );
        }
        self
    }

    pub(crate) fn body(mut self, html: &str) -> Html {
        self.body = format!("<div class=\"stack\">{html}</div>");
        self
    }

    /// Browsers without JavaScript reload after this time.
    pub(crate) fn again_in(mut self, seconds: u32) -> Html {
        self.again_in_s = Some(seconds);
        self
    }

    /// The page with its tag, or 304 if the client has it.
    pub(crate) fn reply(self, headers: &HeaderMap) -> Response {
        let text = self.write();
        let hash = podo_app::identity::keyring::sha256(text.as_bytes());
        let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let tag = format!("\"{hash}\"");
        let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        let mut response = match known == Some(tag.as_str()) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => page(text),
        };
        if let Ok(tag) = HeaderValue::try_from(tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }

    fn write(&self) -> String {
        let (title, about) = (&self.title, &self.about);
        let again = self.again_in_s.map_or(String::new(), |seconds| {
            format!("<noscript><meta http-equiv=\"refresh\" content=\"{seconds}\"></noscript>")
        });
        let head = format!("<title>{title} — podo</title>{}{again}", self.picture);
        let page = assets::page_text(SHELL)
            .replace("<title>podo</title>", &head)
            .replace("<html lang=\"ko\">", &format!("<html lang=\"{}\">", self.language.tag()))
            .replace("content=\"podo — 공연 예매\"", &format!("content=\"{title}\""))
            .replace(MENU, &format!("{MENU}{}", menu(self.language)))
            .replace(MIDDLE, &format!("{MIDDLE}{}{}", self.body, machine_made(self.language)));
        match about.is_empty() {
            true => page,
            false => page.replace("순번은 지키고, 좌석은 실시간으로.", about),
        }
    }
}

impl IntoResponse for Html {
    fn into_response(self) -> Response {
        page(self.write())
    }
}

/// No speaker has read these translations, and the page says so, as the app does.
fn machine_made(language: Language) -> String {
    let words = match language {
        Language::Korean | Language::English => return String::new(),
        Language::Japanese => "この日本語は機械翻訳で、まだ人が確認していません。",
        Language::Chinese => "此中文为机器翻译，尚未经人工审核。",
    };
    format!("<p class=\"quiet\">{words} Machine translation, not yet reviewed.</p>")
}

/// The app replaces it with its own menu.
fn menu(language: Language) -> String {
    let (events, tickets) =
        (language.say("공연", "Concerts"), language.say("내 티켓", "My tickets"));
    format!("<a href=\"/\">{events}</a><a href=\"/tickets\">{tickets}</a>")
}

fn page(text: String) -> Response {
    let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    let kept = (header::CACHE_CONTROL, "no-cache");
    let varies = (header::VARY, "Accept-Language, Cookie");
    ([kind, kept, varies], text).into_response()
}

/// A picture with its size, so that nothing moves when it arrives.
pub(crate) fn picture(image: &ImageView, class: &str, sizes: &str) -> String {
    format!(
        "<img class=\"{class}\" src=\"{}\" srcset=\"{}\" sizes=\"{sizes}\" width=\"{}\" \
         height=\"{}\" alt=\"{}\" loading=\"lazy\" decoding=\"async\">",
        escape(&image.url),
        escape(&image.srcset),
        image.width,
        image.height,
        escape(&image.alt)
    )
}

pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

pub(crate) fn link(address: &str, words: &str) -> String {
    format!("<a class=\"btn\" href=\"{}\">{}</a>", escape(address), escape(words))
}

/// `2026-12-16 17:02 KST`, where the venue is.
pub(crate) fn day(moment: Timestamp, zone: &str) -> String {
    words::stamp(moment, zone)
}

/// `150,000원` or `₩150,000`, `€45.50`.
pub(crate) fn money(amount: Won, currency: Currency, language: Language) -> String {
    let language = language.choose(messages::Language::Ko, messages::Language::En);
    words::money(Money::new(amount, currency), language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_is_text() {
        assert_eq!(escape("<b onload='x'>\"&"), "&lt;b onload=&#39;x&#39;&gt;&quot;&amp;");
        let page = Html::new(Language::English, "</title><script>").body("<p>x</p>").write();
        assert!(page.contains("&lt;/title&gt;&lt;script&gt;") && page.contains("<p>x</p>"));
        assert!(page.contains("<html lang=\"en\">"), "{page}");
    }

    #[test]
    fn money_and_days_are_written_as_people_read_them() {
        let say = |amount, currency| money(Won::new(amount).unwrap(), currency, Language::Korean);
        assert_eq!(say(1_234_567, Currency::Krw), "1,234,567원");
        assert_eq!(say(9_950, Currency::Eur), "€99.50");
        let english = money(Won::new(99_000).unwrap(), Currency::Krw, Language::English);
        assert_eq!(english, "₩99,000");
        assert_eq!(day(Timestamp::from_ms(0), "Asia/Seoul"), "1970-01-01 09:00 KST");
        assert_eq!(day(Timestamp::from_ms(0), "Europe/Berlin"), "1970-01-01 01:00 CET");
    }
}
