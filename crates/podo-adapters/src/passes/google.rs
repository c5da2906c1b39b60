//! Google Wallet: a link whose path is a signed pass. Nothing is sent to Google; the phone that opens
//! the link does it.

use crate::service_account::ServiceAccount;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_app::tickets::passes::{GooglePassMaker, TicketPass};
use podo_app::{Error, Result};
use podo_domain::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

const SAVE: &str = "https://pay.google.com/gp/v/save/";

/// Google calls a signed pass of up to 1,800 characters safe in every browser.
const SIGNED_MAX: usize = 1_800;

pub struct GooglePassSettings {
    pub issuer_id: String,
    /// The JSON file of the service account.
    pub account: String,
}

pub struct GooglePasses {
    issuer_id: String,
    account: ServiceAccount,
}

impl GooglePasses {
    pub fn open(settings: GooglePassSettings) -> std::result::Result<GooglePasses, String> {
        let account = ServiceAccount::read(&settings.account)
            .map_err(|error| format!("google_wallet_account_file: {error}"))?;
        Ok(GooglePasses { issuer_id: settings.issuer_id, account })
    }

    /// The claims, with as many of the optional parts as this level leaves.
    fn claims(&self, pass: &TicketPass, level: Level, now: Timestamp) -> Value {
        let class = self.named(pass.schedule.uuid(), class(pass, level));
        let mut object = object(pass, level);
        object["classId"] = class["id"].clone();
        let object = self.named(pass.ticket.uuid(), object);
        json!({
            "iss": self.account.email,
            "aud": "google",
            "typ": "savetowallet",
            "iat": now.ms() / 1_000,
            "payload": { "eventTicketClasses": [class], "eventTicketObjects": [object] },
        })
    }

    /// Google keeps the first pass with an id and ignores later ones, so the id has a hash of the
    /// content: a moved show or the new code of a transferred ticket is another pass.
    fn named(&self, id: Uuid, mut content: Value) -> Value {
        let hash = digest(&SHA256, content.to_string().as_bytes());
        let (id, hash) = (id.as_bytes(), &hash.as_ref()[..6]);
        let (id, hash) = (URL_SAFE_NO_PAD.encode(id), URL_SAFE_NO_PAD.encode(hash));
        content["id"] = json!(format!("{}.{id}.{hash}", self.issuer_id));
        content
    }
}

impl GooglePassMaker for GooglePasses {
    fn link(&self, pass: &TicketPass, now: Timestamp) -> Result<String> {
        let mut signed = String::new();
        for level in Level::ALL {
            let claims = self.claims(pass, level, now);
            signed = self.account.sign(&claims).map_err(Error::broken)?;
            if signed.len() <= SIGNED_MAX {
                break;
            }
        }
        Ok(format!("{SAVE}{signed}"))
    }
}

/// How much of a pass fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    All,
    WithoutHolder,
    WithoutVenue,
    /// Only what the gate needs, with names cut short.
    Short,
}

impl Level {
    const ALL: [Level; 4] = [Level::All, Level::WithoutHolder, Level::WithoutVenue, Level::Short];

    fn cut(self, text: &str) -> String {
        let letters_max = if self == Level::Short { 24 } else { usize::MAX };
        text.chars().take(letters_max).collect()
    }
}

fn words(pass: &TicketPass, text: &str) -> Value {
    json!({ "defaultValue": { "language": pass.language.as_str(), "value": text } })
}

fn class(pass: &TicketPass, level: Level) -> Value {
    let mut class = json!({
        "issuerName": level.cut(&pass.organiser),
        "reviewStatus": "UNDER_REVIEW",
        "eventName": words(pass, &level.cut(&pass.title)),
        "dateTime": { "start": pass.starts_local, "end": pass.ends_local },
    });
    if level < Level::WithoutVenue {
        class["venue"] =
            json!({ "name": words(pass, &pass.venue), "address": words(pass, &pass.address) });
    }
    if level < Level::Short {
        class["hexBackgroundColor"] = json!(pass.color);
    }
    class
}

fn object(pass: &TicketPass, level: Level) -> Value {
    let seat = level.cut(&pass.seat);
    let mut seat_info = json!({ "seat": words(pass, &seat) });
    if level < Level::Short && !pass.gates.is_empty() {
        seat_info["gate"] = words(pass, &pass.gates);
    }
    let mut object = json!({
        "state": "ACTIVE",
        "barcode": { "type": "QR_CODE", "value": pass.code, "alternateText": pass.booking_number },
        "seatInfo": seat_info,
    });
    if level < Level::Short {
        object["ticketType"] = words(pass, &pass.grade);
    }
    if level == Level::All {
        object["ticketHolderName"] = json!(pass.holder);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::sample;
    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use base64::engine::general_purpose::STANDARD;

    fn maker() -> GooglePasses {
        let key = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let der: Pkcs8V1Der<'static> = key.as_der().unwrap();
        let bytes: &[u8] = der.as_ref();
        let text = STANDARD.encode(bytes);
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        let email = "wallet@a-project-with-a-name.iam.gserviceaccount.com";
        let account = json!({ "client_email": email, "private_key": pem }).to_string();
        let issuer_id = "3388000000012345678".to_owned();
        GooglePasses::open(GooglePassSettings { issuer_id, account }).unwrap()
    }

    fn claims_of(link: &str) -> Value {
        let part = link.strip_prefix(SAVE).unwrap().split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    }

    #[test]
    fn a_link_is_short_enough_for_every_browser() {
        let maker = maker();
        let now = Timestamp::from_ms(1_800_000_000_000);
        let long = "뷁".repeat(120);
        let pass = TicketPass {
            title: long.clone(),
            venue: long.clone(),
            address: long.clone(),
            holder: long.clone(),
            gates: long.clone(),
            grade: long.clone(),
            organiser: long.clone(),
            seat: long,
            ..sample()
        };
        for pass in [sample(), pass] {
            let link = maker.link(&pass, now).unwrap();
            assert!(link.len() <= SAVE.len() + SIGNED_MAX, "{} characters", link.len());
            let object = &claims_of(&link)["payload"]["eventTicketObjects"][0];
            assert_eq!(object["barcode"]["value"], pass.code);
            assert_eq!(object["barcode"]["alternateText"], pass.booking_number);
        }
    }

    #[test]
    fn a_new_code_is_another_pass_and_a_moved_show_another_class() {
        let maker = maker();
        let now = Timestamp::from_ms(1_800_000_000_000);
        let ids = |pass: &TicketPass| {
            let payload = claims_of(&maker.link(pass, now).unwrap())["payload"].clone();
            let class = payload["eventTicketClasses"][0]["id"].clone();
            let object = &payload["eventTicketObjects"][0];
            assert_eq!(object["classId"], class);
            (class, object["id"].clone())
        };
        let first = ids(&sample());
        assert_eq!(ids(&sample()), first);
        let transferred = ids(&TicketPass { code: "PODO1.B".to_owned(), ..sample() });
        assert!(transferred.0 == first.0 && transferred.1 != first.1);
        let starts_local = "2027-01-17T18:00:00+09:00".to_owned();
        let moved = ids(&TicketPass { starts_local, ..sample() });
        assert!(moved.0 != first.0);
    }
}
