//! Passes for the wallets of phones, checked by programs that we didn't write: the archive by
//! Python, signatures by OpenSSL. The keys come from a private chain with Apple's shape.

use crate::support::client::text;
use crate::support::world::{Plan, World, config};
use crate::tickets::{accept, check_in, code_of, offer};
use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const PASS_TYPE: &str = "pass.example.podo";
const TEAM: &str = "PODO123456";
const ISSUER: &str = "3388000000012345678";
const ACCOUNT: &str = "wallet@podo.iam.gserviceaccount.com";

/// A root, an intermediate authority as Apple's WWDR is, a certificate for passes, and the key of a
/// service account.
struct Keys(TempDir);

impl Keys {
    fn make() -> Keys {
        let keys = Keys(TempDir::with_prefix("podo-").unwrap());
        let subject = format!("/UID={PASS_TYPE}/CN=Pass Type ID: {PASS_TYPE}/OU={TEAM}/O=Podo");
        keys.certificate("root", "/CN=Podo test root", None);
        keys.certificate("wwdr", "/CN=Podo test relations/OU=G4", Some("root"));
        keys.certificate("pass", &subject, Some("wwdr"));
        keys.openssl(&["genrsa", "-out", "google.key", "2048"]);
        keys.openssl(&["rsa", "-in", "google.key", "-pubout", "-out", "google.pub"]);
        let key = std::fs::read_to_string(keys.path("google.key")).unwrap();
        let account = json!({ "client_email": ACCOUNT, "private_key": key, "type": "x" });
        std::fs::write(keys.path("account.json"), account.to_string()).unwrap();
        keys
    }

    /// A certificate with its key; one without an issuer signs itself.
    fn certificate(&self, name: &str, subject: &str, issuer: Option<&str>) {
        let (key, file) = (format!("{name}.key"), format!("{name}.crt"));
        let mut arguments = vec!["req", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048"];
        arguments.extend(["-keyout", &key, "-out", &file, "-subj", subject]);
        let signed = issuer.map(|it| (format!("{it}.crt"), format!("{it}.key")));
        if let Some((certificate, key)) = &signed {
            arguments.extend(["-CA", certificate, "-CAkey", key]);
        }
        if name == "pass" {
            arguments.extend(["-addext", "basicConstraints=critical,CA:FALSE"]);
            arguments.extend(["-addext", "keyUsage=critical,digitalSignature"]);
        }
        self.openssl(&arguments);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) -> String {
        let (is_fine, said) = self.try_openssl(arguments);
        assert!(is_fine, "{arguments:?}: {said}");
        said
    }

    fn try_openssl(&self, arguments: &[&str]) -> (bool, String) {
        let mut openssl = Command::new("openssl");
        let done = openssl.args(arguments).current_dir(self.0.path()).output();
        let done = done.expect("openssl is in the package openssl");
        let said = [done.stdout, done.stderr].concat();
        (done.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let file = |name: &str| self.path(name).display().to_string();
        vec![
            ("PODO_APPLE_PASS_TYPE_ID", PASS_TYPE.to_owned()),
            ("PODO_APPLE_TEAM_ID", TEAM.to_owned()),
            ("PODO_APPLE_PASS_CERTIFICATE", file("pass.crt")),
            ("PODO_APPLE_PASS_PRIVATE_KEY", file("pass.key")),
            ("PODO_APPLE_WWDR_CERTIFICATE", file("wwdr.crt")),
            ("PODO_GOOGLE_WALLET_ISSUER_ID", ISSUER.to_owned()),
            ("PODO_GOOGLE_WALLET_ACCOUNT_FILE", file("account.json")),
        ]
    }
}

/// A server with these keys and more settings.
async fn world_with(keys: &Keys, more: &[(&str, &str)]) -> World {
    let own = keys.settings();
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    let settings: Vec<(&str, &str)> = more.iter().copied().chain(own).collect();
    World::with(&settings).await
}

/// Unpacks the archive and returns the names of its files.
fn unpack(pass: &[u8], folder: &Path) -> Vec<String> {
    let file = folder.join("ticket.pkpass");
    std::fs::write(&file, pass).unwrap();
    let mut python = Command::new("python3");
    let unpacked = folder.join("unpacked");
    let done = python.args(["-m", "zipfile", "-e"]).arg(&file).arg(&unpacked).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let names = std::fs::read_dir(unpacked).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Verifies the signature of the manifest with OpenSSL, which trusts only the root.
fn verify(keys: &Keys, manifest: &Path) -> (bool, String) {
    let signature = keys.path("unpacked/signature").display().to_string();
    let manifest = manifest.display().to_string();
    keys.try_openssl(&[
        "cms", "-verify", "-binary", "-inform", "DER", "-in", &signature, "-content", &manifest,
        "-CAfile", "root.crt", "-purpose", "any", "-out", "verified",
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_for_apple_wallet_is_what_openssl_verifies() {
    let keys = Keys::make();
    let world = world_with(&keys, &[]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 4).await;
    let offered = fan.api.get("/api/tickets/wallets").await.expect(200);
    assert_eq!(offered, json!({ "apple": true, "google": true }));
    let path = format!("/api/tickets/{}/wallet/apple", bought.ticket);
    let response = fan.api.call(Method::GET, &path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/vnd.apple.pkpass");
    assert_eq!(response.headers()["cache-control"], "private, no-store");
    let bytes = response.bytes().await.unwrap();
    assert!(bytes.len() <= 50_000, "{} bytes", bytes.len());
    let names = unpack(&bytes, keys.0.path());
    let pictures = ["icon", "icon@2x", "icon@3x", "logo", "logo@2x", "logo@3x"];
    let mut expected: Vec<String> = pictures.iter().map(|it| format!("{it}.png")).collect();
    expected.extend(["manifest.json", "pass.json", "signature"].map(str::to_owned));
    expected.sort();
    assert_eq!(names, expected);

    // The manifest names every other file with its hash.
    let folder = keys.path("unpacked");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
    let hash = |name: &String| {
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &read(name));
        hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let listed =
        names.iter().filter(|name| !["manifest.json", "signature"].contains(&name.as_str()));
    let hashes: Value = listed.map(|name| (name.clone(), json!(hash(name)))).collect();
    assert_eq!(manifest, hashes);

    let (is_valid, said) = verify(&keys, &folder.join("manifest.json"));
    assert!(is_valid, "{said}");
    let altered = keys.path("altered.json");
    std::fs::write(&altered, [&read("manifest.json")[..], b" "].concat()).unwrap();
    assert!(!verify(&keys, &altered).0, "an altered manifest");
    let signature = folder.join("signature").display().to_string();
    let print = ["cms", "-cmsout", "-print", "-inform", "DER", "-in", &signature];
    assert!(keys.openssl(&print).contains("signingTime"));

    let pass: Value = serde_json::from_slice(&read("pass.json")).unwrap();
    assert_eq!(pass["passTypeIdentifier"], PASS_TYPE);
    assert_eq!(pass["teamIdentifier"], TEAM);
    assert_eq!(pass["serialNumber"], bought.ticket);
    assert_eq!(pass["barcodes"][0]["message"], code_of(&world, &fan, &bought.ticket).await);
    let view = world.stranger.get(&format!("/api/schedules/{}", show.schedule)).await.expect(200);
    let local = text(&pass, "relevantDate");
    assert!(local.ends_with("+09:00"), "the venue's time: {local}");
    let at = |it: &str| it.parse::<Timestamp>().unwrap().ms() / 1_000;
    assert_eq!(at(&local), at(&text(&view, "startsAt")));
    let words = pass["eventTicket"].to_string();
    for part in
        ["포도 콘서트", "청포도밴드", "포도 아레나 대극장", "A-5", "VIP", &bought.booking_number]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    check_in(&world.organiser, &show, &text(&pass["barcodes"][0], "message")).await.expect(200);
    fan.api.get(&path).await.refused(409, "TICKET_USED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_for_google_wallet_has_the_signature_of_the_account() {
    let keys = Keys::make();
    let world = world_with(&keys, &[]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 2).await;
    let answer = fan.api.get(&format!("/api/tickets/{}/wallet/google", bought.ticket)).await;
    assert_eq!(answer.headers["cache-control"], "private, no-store");
    let url = text(&answer.expect(200), "url");
    let token = url.strip_prefix("https://pay.google.com/gp/v/save/").unwrap();
    assert!(token.len() <= 1_800, "{} characters", token.len());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
    std::fs::write(keys.path("signature"), decode(signature)).unwrap();
    std::fs::write(keys.path("signed"), signed).unwrap();
    let verify = ["dgst", "-sha256", "-verify", "google.pub", "-signature", "signature", "signed"];
    assert!(keys.openssl(&verify).contains("Verified OK"));
    let (head, claims) = signed.split_once('.').unwrap();
    let [head, claims] =
        [head, claims].map(|it| -> Value { serde_json::from_slice(&decode(it)).unwrap() });
    assert_eq!(head, json!({ "alg": "RS256", "typ": "JWT" }));
    assert_eq!(claims["iss"], ACCOUNT);
    assert_eq!((&claims["aud"], &claims["typ"]), (&json!("google"), &json!("savetowallet")));
    let payload = &claims["payload"];
    let (class, object) = (&payload["eventTicketClasses"][0], &payload["eventTicketObjects"][0]);
    assert_eq!(class["eventName"]["defaultValue"]["value"], "포도 콘서트");
    assert!(text(&class["dateTime"], "start").ends_with("+09:00"), "{class}");
    assert!(text(class, "id").starts_with(&format!("{ISSUER}.")), "{class}");
    assert_eq!(object["classId"], class["id"]);
    assert_eq!(object["seatInfo"]["seat"]["defaultValue"]["value"], "A-3");
    assert_eq!(object["barcode"]["value"], code_of(&world, &fan, &bought.ticket).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_or_transferred_ticket_is_put_into_no_wallet() {
    let keys = Keys::make();
    let world = world_with(&keys, &[]).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let (kept, given) = (fan.buy(&show, 0).await, world.fan_inside(&show).await);
    let theirs = given.buy(&show, 1).await;
    let friend = world.fan_at("friend@podo.example").await;
    offer(&given, &theirs.ticket, &json!({ "email": "friend@podo.example" })).await.expect(202);
    accept(&friend, &theirs.ticket, "take").await.expect(200);
    fan.cancel(&kept.reservation).await.expect(200);
    for wallet in ["apple", "google"] {
        let path = |ticket: &str| format!("/api/tickets/{ticket}/wallet/{wallet}");
        fan.api.get(&path(&kept.ticket)).await.refused(409, "TICKET_VOID");
        given.api.get(&path(&theirs.ticket)).await.refused(404, "NOT_FOUND");
        world.stranger.get(&path(&theirs.ticket)).await.refused(401, "LOGIN_REQUIRED");
        assert_eq!(friend.api.get(&path(&theirs.ticket)).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wallets_are_offered_only_with_keys_and_fixed_codes() {
    let keys = Keys::make();
    let rotating = world_with(&keys, &[("PODO_TICKET_CODES", "rotating")]).await;
    for world in [World::start().await, rotating] {
        let show = world.show(Plan::default()).await;
        let fan = world.fan_inside(&show).await;
        let ticket = fan.buy(&show, 0).await.ticket;
        let offered = fan.api.get("/api/tickets/wallets").await.expect(200);
        assert_eq!(offered, json!({ "apple": false, "google": false }));
        for wallet in ["apple", "google"] {
            let path = format!("/api/tickets/{ticket}/wallet/{wallet}");
            fan.api.get(&path).await.refused(409, "PASS_OFF");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_do_not_belong_together_are_refused_at_the_start() {
    let keys = Keys::make();
    let folder = TempDir::with_prefix("podo-").unwrap();
    let refused = async |name: &str, value: &str| {
        let mut settings = keys.settings();
        let file = keys.path(value);
        let is_file = name.ends_with("CERTIFICATE") || name.ends_with("KEY");
        let value = if is_file { file.display().to_string() } else { value.to_owned() };
        let own = settings.iter_mut().find(|(own, _)| *own == name).unwrap();
        own.1 = value;
        let settings: Vec<_> = settings.iter().map(|(name, it)| (*name, it.as_str())).collect();
        let config = config(folder.path(), &settings);
        podo::bootstrap::context(&config).await.map(drop).unwrap_err().to_string()
    };
    let said = refused("PODO_APPLE_PASS_PRIVATE_KEY", "wwdr.key").await;
    assert_eq!(said, "apple_pass_private_key: it is not the key of the certificate");
    let said = refused("PODO_APPLE_WWDR_CERTIFICATE", "root.crt").await;
    assert_eq!(said, "apple_wwdr_certificate: another one issued the certificate");
    let said = refused("PODO_APPLE_TEAM_ID", "OTHER").await;
    assert_eq!(said, format!("apple_team_id: the certificate is for `{TEAM}`, not `OTHER`"));
    let said = refused("PODO_APPLE_PASS_CERTIFICATE", "missing.crt").await;
    assert!(said.starts_with("apple_pass_certificate: cannot read "), "{said}");
}
