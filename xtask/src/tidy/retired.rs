//! Words that this code base no longer uses, because a newcomer would search for the usual term.

use crate::tidy::{File, Violation};

/// A retired word and the term that replaces it. Words match whole and in this spelling.
// The first letter stands apart so that this file does not contain the words.
const RETIRED: &[(&str, &str)] = &[
    (concat!("P", "latform"), "AppContext"),
    (concat!("p", "arcel"), "envelope"),
    (concat!("p", "arcels"), "envelopes"),
    (concat!("P", "arcel"), "Envelope"),
    (concat!("r", "iddle"), "proof of work"),
    (concat!("r", "iddles"), "proofs of work"),
    (concat!("R", "iddle"), "ProofOfWork"),
    (concat!("k", "nocks"), "poll_rate_limiter"),
    (concat!("K", "nocks"), "PollRateLimiter"),
    (concat!("S", "trains"), "NodeLoad"),
    (concat!("V", "itals"), "LatencyWindow"),
    (concat!("v", "itals"), "latency_window"),
    (concat!("S", "lowDown"), "AdmissionThrottle"),
    (concat!("S", "helf"), "CatalogCache"),
    (concat!("s", "helf"), "cache"),
    (concat!("S", "eals"), "Keyring"),
    (concat!("r", "eseal"), "reencrypt"),
    (concat!("C", "ourier"), "WebhookClient"),
    (concat!("c", "ourier"), "webhook_client"),
    (concat!("K", "eyUse"), "IdempotencyKey"),
    (concat!("V", "olley"), "LoadRun"),
    (concat!("v", "olley"), "load_run"),
    (concat!("T", "idings"), "FastBody"),
    (concat!("U", "nstoppable"), "DetachOnDrop"),
    (concat!("W", "eather"), "FaultInjector"),
    (concat!("w", "eather"), "faults"),
    (concat!("H", "orizon"), "DurableWatermark"),
    (concat!("L", "ookups"), "AdminSearch"),
    (concat!("a", "t_hand"), "cached"),
    (concat!("r", "efusal_at_hand"), "cached_refusal"),
    (concat!("s", "tanding_now"), "cached_position"),
    (concat!("i", "s_doubted"), "is_stale"),
    (concat!("t", "ake_turn"), "claim_run"),
    (concat!("T", "akeTurn"), "ClaimRun"),
    (concat!("n", "_resealed"), "n_reencrypted"),
    (concat!("K", "eepLess"), "ApplyRetention"),
    (concat!("V", "erifyPromises"), "VerifyInvariants"),
    (concat!("L", "etter"), "Notification"),
    (concat!("S", "entLetters"), "SentNotifications"),
    (concat!("e", "rase_letters"), "erase_notifications"),
    (concat!("E", "raseLetters"), "EraseNotifications"),
    (concat!("l", "ettersCard"), "notificationsCard"),
    (concat!("e", "ar"), "cache invalidator"),
    (concat!("T", "old"), "Acknowledged"),
    (concat!("D", "esk"), "StatementBatcher"),
    (concat!("H", "ousehold"), "SourceAddress"),
    (concat!("T", "ally"), "Stats"),
    (concat!("O", "utrun"), "LostRace"),
    (concat!("G", "uests"), "ConnectionLimiter"),
    (concat!("R", "eturning"), "PlaceProof"),
    (concat!("o", "utrun"), "lost race"),
    (concat!("S", "aid"), "IdentifiedPerson"),
    (concat!("S", "een"), "what was seen"),
    (concat!("W", "ire"), "GatewayProtocol"),
    (concat!("w", "hoever"), "the fan, the organiser or the process that does it"),
    (concat!("s", "omebody"), "the fan, the organiser or the process that does it"),
    (concat!("n", "obody"), "no fan, no process, none"),
    (concat!("W", "ish"), "SeatRequest"),
    (concat!("P", "haseAsk"), "PhaseInput"),
    (concat!("T", "ypeAsk"), "TicketTypeInput"),
    (concat!("A", "skSignUp"), "RequestSignUp"),
    (concat!("S", "ignalsAsk"), "SignalQuery"),
    (concat!("T", "imelineAsk"), "TimelineQuery"),
    (concat!("A", "uditAsk"), "AuditQuery"),
    (concat!("A", "skToPay"), "PaymentRequest"),
    (concat!("A", "skToPayFromWallet"), "WalletPaymentRequest"),
    (concat!("A", "skToConfirm"), "ConfirmationRequest"),
    (concat!("A", "skToCancel"), "CancellationRequest"),
    (concat!("A", "skToRefund"), "RefundRequest"),
    (concat!("A", "skToResolve"), "ResolutionRequest"),
    (concat!("A", "skToCharge"), "ChargeRequest"),
    (concat!("A", "skForList"), "GateListRequest"),
    (concat!("A", "skToUndo"), "UndoRequest"),
    (concat!("P", "ageAsk"), "PageRequest"),
    (concat!("A", "skGateway"), "GatewayQuery"),
    (concat!("편", "지"), "알림"),
    (concat!("씨", "앗"), "시드"),
];

const EXTENSIONS: &[&str] = &[
    "rs", "js", "mjs", "lua", "css", "html", "toml", "md", "sql", "yml", "yaml", "py", "cfg",
    "conf", "sh",
];

/// Generated clients know a schema by its first name, so the name stays when the type's changes.
const SCHEMA_NAME: &str = "schema(as = ";

/// Decision records and the changelog tell what things were called before; the style guide quotes
/// words to avoid; released migrations are never edited.
const HISTORY: &[&str] =
    &["docs/adr/", "CHANGELOG.md", "STYLE.md", "crates/podo-adapters/migrations/"];

pub(super) fn check(file: &File) -> Vec<Violation> {
    let is_history = HISTORY.iter().any(|path| file.path.starts_with(path));
    if is_history || !EXTENSIONS.contains(&file.extension()) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| !line.contains(SCHEMA_NAME));
    let hits = lines.flat_map(|(index, line)| {
        let found = RETIRED.iter().filter(move |(word, _)| has_word(line, word));
        found.map(move |(word, instead)| (index + 1, word, instead))
    });
    hits.map(|(line, word, instead)| file.violation(line, format!("`{word}`: say `{instead}`")))
        .collect()
}

/// Whether the word stands in the line with no letter, digit or `_` beside it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[test]
fn a_retired_word_is_found_with_its_replacement() {
    let text = concat!("a\nlet w", "eather = 1;\n");
    let printed = concat!("a.rs:2: `w", "eather`: say `faults`");
    crate::tidy::expect(check, "a.rs", text, &[printed]);
    for path in ["a.sql", "a.yml", "a.yaml", "a.py", "a.cfg", "a.lua", "a.sh", "a.conf"] {
        let printed = format!("{path}:2: `w{}`: say `faults`", "eather");
        crate::tidy::expect(check, path, text, &[&printed]);
    }
}

#[test]
fn parts_of_words_and_history_are_left_alone() {
    crate::tidy::expect(check, "a.rs", concat!("let w", "eathered = 1;\n"), &[]);
    crate::tidy::expect(check, "CHANGELOG.md", concat!("the w", "eather\n"), &[]);
    let migration = "crates/podo-adapters/migrations/sqlite/V1__podo.sql";
    crate::tidy::expect(check, migration, concat!("-- w", "eather\n"), &[]);
    crate::tidy::expect(check, "a.rs", concat!("#[schema(as = L", "etter)]\n"), &[]);
}
