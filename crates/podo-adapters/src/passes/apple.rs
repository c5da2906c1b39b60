//! Apple Wallet: a `.pkpass` file is a ZIP archive with the pass in JSON, its pictures, a manifest
//! with the hash of each file, and the manifest's signature.

use crate::passes::say;
use crate::passes::signature::Signer;
use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use podo_app::tickets::passes::{ApplePassMaker, TicketPass};
use podo_app::{Error, Result};
use podo_domain::Timestamp;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::time::Duration;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A pass leaves the front of the wallet this long after the show.
const SHOWN_AFTER: Duration = Duration::from_secs(6 * 60 * 60);

/// Our mark, for the lock screen and, because Apple shows a pass without one as broken, as the logo.
const PICTURES: [(&str, &[u8]); 6] = [
    ("icon.png", include_bytes!("art/icon.png")),
    ("icon@2x.png", include_bytes!("art/icon@2x.png")),
    ("icon@3x.png", include_bytes!("art/icon@3x.png")),
    ("logo.png", include_bytes!("art/icon.png")),
    ("logo@2x.png", include_bytes!("art/icon@2x.png")),
    ("logo@3x.png", include_bytes!("art/icon@3x.png")),
];

pub struct ApplePassSettings {
    pub pass_type_id: String,
    pub team_id: String,
    pub certificate: PathBuf,
    pub private_key: PathBuf,
    pub wwdr_certificate: PathBuf,
}

pub struct ApplePasses {
    pass_type_id: String,
    team_id: String,
    signer: Signer,
}

impl ApplePasses {
    /// Fails if the files don't belong together, because phones would refuse the passes silently.
    pub fn open(settings: ApplePassSettings) -> std::result::Result<ApplePasses, String> {
        let ApplePassSettings { pass_type_id, team_id, certificate, .. } = settings;
        let (key, wwdr) = (settings.private_key, settings.wwdr_certificate);
        let signer = Signer::open(&certificate, &key, &wwdr)?;
        let (found_type, found_team) = signer.names();
        for (setting, set, found) in [
            ("apple_pass_type_id", &pass_type_id, found_type),
            ("apple_team_id", &team_id, found_team),
        ] {
            if found.as_ref() != Some(set) {
                let found = found.unwrap_or_default();
                return Err(format!("{setting}: the certificate is for `{found}`, not `{set}`"));
            }
        }
        Ok(ApplePasses { pass_type_id, team_id, signer })
    }

    /// The certificate's last moment.
    pub fn expires_at(&self) -> Timestamp {
        self.signer.expires_at()
    }

    fn pass(&self, pass: &TicketPass) -> Value {
        let color = Rgb::read(&pass.color);
        json!({
            "formatVersion": 1,
            "passTypeIdentifier": self.pass_type_id,
            "teamIdentifier": self.team_id,
            // A pass that is added again replaces the one with its number.
            "serialNumber": pass.ticket,
            "groupingIdentifier": pass.reservation,
            "organizationName": pass.organiser,
            "logoText": pass.organiser,
            "description": format!("{} {}", pass.title, pass.seat),
            "relevantDate": pass.starts_local,
            "expirationDate": pass.ends_at.plus(SHOWN_AFTER).to_string(),
            // A copy would show the same code, which admits one person.
            "sharingProhibited": true,
            "backgroundColor": color.text(),
            "foregroundColor": color.on_it(),
            "labelColor": color.on_it(),
            "barcodes": [{
                "format": "PKBarcodeFormatQR",
                "message": pass.code,
                "messageEncoding": "iso-8859-1",
                "altText": pass.booking_number,
            }],
            "eventTicket": fields(pass),
            "semantics": {
                "eventName": pass.title,
                "eventType": "PKEventTypeLivePerformance",
                "eventStartDate": pass.starts_local,
                "eventEndDate": pass.ends_local,
                "performerNames": [pass.artist],
                "venueName": pass.venue,
            },
        })
    }
}

impl ApplePassMaker for ApplePasses {
    fn file(&self, pass: &TicketPass, now: Timestamp) -> Result<Vec<u8>> {
        if self.expires_at() <= now {
            let why = "the certificate of Apple Wallet passes has expired: replace \
                       apple_pass_certificate";
            return Err(Error::Unavailable(why.into()));
        }
        let text = self.pass(pass).to_string();
        let mut files = vec![("pass.json", text.as_bytes())];
        files.extend(PICTURES);
        let manifest = manifest(&files);
        let signature = self.signer.sign(manifest.as_bytes(), now).map_err(Error::broken)?;
        files.push(("manifest.json", manifest.as_bytes()));
        files.push(("signature", &signature));
        archive(&files)
    }
}

/// What the pass shows. Phones display the date in the offset that it has, the venue's.
fn fields(pass: &TicketPass) -> Value {
    let field =
        |key: &str, label: &str, value: &str| json!({ "key": key, "label": label, "value": value });
    let mut date = field("date", say(pass, "일시", "Date"), &pass.starts_local);
    date["dateStyle"] = json!("PKDateStyleMedium");
    date["timeStyle"] = json!("PKDateStyleShort");
    date["ignoresTimeZone"] = json!(true);
    let mut places = vec![
        field("grade", say(pass, "등급", "Grade"), &pass.grade),
        field("seat", say(pass, "좌석", "Seat"), &pass.seat),
    ];
    if let Some(section) = &pass.section {
        places.insert(0, field("section", say(pass, "구역", "Section"), section));
    }
    if !pass.gates.is_empty() {
        places.push(field("gate", say(pass, "입구", "Gate"), &pass.gates));
    }
    let note = say(
        pass,
        "입구에서 코드를 보여 주세요. 코드마다 한 번만 입장할 수 있어요. 취소하거나 보낸 티켓의 코드로는 \
         입장할 수 없어요.",
        "Show the code at the entrance. Each code admits one person, once. The code of a canceled \
         or transferred ticket admits no one.",
    );
    let mut back = vec![
        field("when", say(pass, "일시", "Date"), &pass.when),
        field("address", say(pass, "주소", "Address"), &pass.address),
        field("booking", say(pass, "예매번호", "Booking"), &pass.booking_number),
        field("holder", say(pass, "관람자", "Name"), &pass.holder),
        field("note", say(pass, "안내", "Note"), note),
    ];
    if !pass.home.is_empty() {
        let tickets = format!("{}/#/tickets", pass.home);
        back.push(field("tickets", say(pass, "내 티켓", "My tickets"), &tickets));
    }
    json!({
        "primaryFields": [field("event", &pass.artist, &pass.title)],
        "secondaryFields": [date, field("venue", say(pass, "장소", "Venue"), &pass.venue)],
        "auxiliaryFields": places,
        "backFields": back,
    })
}

/// The SHA-1 hash of each file, which is the only one that the format has.
fn manifest(files: &[(&str, &[u8])]) -> String {
    let hash = |bytes: &[u8]| {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes);
        hash.as_ref().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string does not fail");
            text
        })
    };
    let entries = files.iter().map(|(name, bytes)| ((*name).to_owned(), json!(hash(bytes))));
    Value::Object(entries.collect::<Map<String, Value>>()).to_string()
}

/// Without compression: most of it is pictures, which are compressed already.
fn archive(files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        archive.start_file(*name, options).map_err(Error::broken)?;
        archive.write_all(bytes).map_err(Error::broken)?;
    }
    Ok(archive.finish().map_err(Error::broken)?.into_inner())
}

/// The colour of the pass.
#[derive(Clone, Copy)]
struct Rgb([u8; 3]);

impl Rgb {
    /// Reads `#4a16ba`; black for anything else.
    fn read(text: &str) -> Rgb {
        let part = |from: usize| {
            let digits = text.get(from..from + 2);
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or_default()
        };
        Rgb([part(1), part(3), part(5)])
    }

    fn text(self) -> String {
        let Rgb([red, green, blue]) = self;
        format!("rgb({red}, {green}, {blue})")
    }

    /// Black or white, which has more contrast (WCAG 2, relative luminance above 0.179 is light).
    fn on_it(self) -> &'static str {
        let channel = |byte: u8| {
            let share = f64::from(byte) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(channel);
        let light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        if light > 0.179 { "rgb(0, 0, 0)" } else { "rgb(255, 255, 255)" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_out_from_the_organiser_s_colour() {
        for (color, on_it) in [
            ("#4a16ba", "rgb(255, 255, 255)"),
            ("#ffffff", "rgb(0, 0, 0)"),
            ("#fee500", "rgb(0, 0, 0)"),
            ("#000000", "rgb(255, 255, 255)"),
        ] {
            assert_eq!(Rgb::read(color).on_it(), on_it, "{color}");
        }
        assert_eq!(Rgb::read("#4a16ba").text(), "rgb(74, 22, 186)");
    }

    #[test]
    fn the_manifest_has_the_known_hash_of_a_text() {
        let text = manifest(&[("pass.json", b"abc")]);
        assert_eq!(text, r#"{"pass.json":"a9993e364706816aba3e25717850c26c9cd0d89d"}"#);
    }
}
