//! Tests of settings from files, the environment and flags.

use crate::config::*;

fn load(variables: &[(&str, &str)], overrides: &Overrides) -> Result<Config> {
    Config::load(overrides, |name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn everything_has_a_default() {
    let config = load(&[], &Overrides::default()).unwrap();
    assert_eq!(config.listen, "127.0.0.1:8080");
    assert_eq!(config.hold_length(), Duration::from_secs(300));
    assert_eq!(config.limits, Switch::On);
}

#[test]
fn addresses_are_confirmed_if_codes_can_be_mailed() {
    let mail = [("PODO_SMTP_URL", "smtp://mail.example"), ("PODO_SMTP_FROM", "a@podo.example")];
    let confirms =
        |more: &[(&str, &str)]| load(more, &Overrides::default()).unwrap().confirms_email();
    assert!(!confirms(&[]), "no channel could deliver the code");
    assert!(confirms(&mail));
    assert!(!confirms(&[mail[0], mail[1], ("PODO_CONFIRM_EMAIL", "off")]));
    assert!(confirms(&[("PODO_CONFIRM_EMAIL", "on")]));
}

#[test]
fn keys_for_passes_are_complete_or_absent() {
    let refused =
        |settings: &[(&str, &str)]| load(settings, &Overrides::default()).unwrap_err().to_string();
    let said = refused(&[("PODO_APPLE_TEAM_ID", "PODO123456")]);
    assert!(said.ends_with("set all or none"), "{said}");
    let said = refused(&[("PODO_GOOGLE_WALLET_ISSUER_ID", "3388000000012345678")]);
    assert!(said.ends_with("set both or neither"), "{said}");
    let file = ("PODO_GOOGLE_WALLET_ACCOUNT_FILE", "account.json");
    let said = refused(&[("PODO_GOOGLE_WALLET_ISSUER_ID", "podo"), file]);
    assert!(said.starts_with("google_wallet_issuer_id: must be a number"), "{said}");
}

#[test]
fn the_seller_on_receipts_has_a_number_that_exists() {
    let wrong = [("PODO_BUSINESS_NUMBER", "220-81-62518")];
    let said = load(&wrong, &Overrides::default()).unwrap_err().to_string();
    assert!(said.starts_with("business_number: must be a business registration number"), "{said}");
    let right = [("PODO_BUSINESS_NUMBER", "2208162517"), ("PODO_BUSINESS_NAME", " 포도 주식회사 ")];
    let look = load(&right, &Overrides::default()).unwrap().look();
    let expected = ("포도 주식회사", "220-81-62517");
    assert_eq!((look.business_name.as_str(), look.business_number.as_str()), expected);
}

#[test]
fn records_are_kept_for_as_long_as_the_law_asks() {
    let refused = |name: &str, value: &str| {
        load(&[(name, value)], &Overrides::default()).unwrap_err().to_string()
    };
    for years in ["0", "4", "8"] {
        let said = refused("PODO_PAYMENT_RETENTION_YEARS", years);
        assert!(said.starts_with("payment_retention_years: must be 5 to 7, is "), "{said}");
    }
    for days in ["0", "91", "1097"] {
        let said = refused("PODO_LOGIN_HISTORY_DAYS", days);
        assert!(said.starts_with("login_history_days: must be 92 to 1096, is "), "{said}");
    }
    let seven = [("PODO_PAYMENT_RETENTION_YEARS", "7")];
    let config = load(&seven, &Overrides::default()).unwrap();
    let days = config.retention.records_for().unwrap().as_secs() / 86_400;
    assert_eq!(days, 7 * 365 + 2);
}

#[test]
fn embedding_sites_are_origins() {
    let load = |value: &str| load(&[("PODO_EMBED_ORIGINS", value)], &Overrides::default());
    let config = load("https://band.example, http://localhost:8000").unwrap();
    assert_eq!(config.embed_origins, ["https://band.example", "http://localhost:8000"]);
    let said = format!("{:#}", load("https://band.example/tour").unwrap_err());
    assert!(said.starts_with("embed_origins: https://band.example/tour: expected"), "{said}");
}

#[test]
fn flags_win_over_the_environment() {
    let variables = [("PODO_LISTEN", "127.0.0.1:1"), ("PODO_HOLD_SECONDS", "2")];
    let flags = Overrides { listen: Some("127.0.0.1:2".into()), ..Overrides::default() };
    let config = load(&variables, &flags).unwrap();
    assert_eq!((config.listen.as_str(), config.hold_seconds), ("127.0.0.1:2", 2));
}

#[test]
fn replicas_are_a_list_and_their_passwords_are_not_shown() {
    let urls = "postgres://podo:grapes-9@a/podo, postgres://podo@b/podo";
    let config = load(&[("PODO_REPLICA_URLS", urls)], &Overrides::default()).unwrap();
    let settings = config.postgres("postgres://podo@c/podo").unwrap();
    assert_eq!(settings.replica_urls.len(), 2);
    assert_eq!(settings.replica_urls[1], "postgres://podo@b/podo");
    assert!(!config.describe().contains("grapes-9"), "{}", config.describe());
}

#[test]
fn an_answer_is_waited_for_a_little_longer_than_a_statement_may_take() {
    let deadline = |variables: &[(&str, &str)]| {
        let config = load(variables, &Overrides::default())?;
        config.postgres("postgres://podo@c/podo").map(|settings| settings.deadline)
    };
    assert_eq!(deadline(&[]).unwrap(), Duration::from_secs(12));
    let slow = ("PODO_STORE_STATEMENT_TIMEOUT_MS", "30000");
    assert_eq!(deadline(&[slow]).unwrap(), Duration::from_secs(32));
    let set = ("PODO_STORE_DEADLINE_MS", "31000");
    assert_eq!(deadline(&[slow, set]).unwrap(), Duration::from_secs(31));
    let refused = deadline(&[slow, ("PODO_STORE_DEADLINE_MS", "30000")]).unwrap_err();
    assert!(refused.to_string().contains("store_deadline_ms"), "{refused}");
}

#[test]
fn the_sandbox_stands_beside_a_real_gateway_only_in_plain_words() {
    let real = [
        ("PODO_PUBLIC_URL", "https://podo.example"),
        ("PODO_TOSS_CLIENT_KEY", "ck"),
        ("PODO_TOSS_SECRET_KEY", "sk"),
    ];
    let load = |more: &[(&str, &str)]| load(more, &Overrides::default());
    assert!(load(&[]).unwrap().has_sandbox());
    assert!(!load(&real).unwrap().has_sandbox());
    let refused = load(&[&real[..], &[("PODO_SANDBOX", "on")]].concat()).unwrap_err();
    assert!(refused.to_string().starts_with("sandbox: it is on beside"), "{refused}");
    let words = ("PODO_SANDBOX_BESIDE_REAL_GATEWAYS", "fans may buy for nothing");
    assert!(load(&[&real[..], &[("PODO_SANDBOX", "on"), words]].concat()).unwrap().has_sandbox());
    assert!(load(&[("PODO_SANDBOX", "off")]).is_err());
}

#[test]
fn an_unknown_or_wrong_setting_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("podo.toml");
    std::fs::write(&file, "hold_secnods = 3").unwrap();
    let flags = Overrides { file: Some(file), ..Overrides::default() };
    let refused = load(&[], &flags).unwrap_err().to_string();
    assert!(refused.contains("hold_secnods"), "{refused}");
    let refused = load(&[("PODO_HOLD_SECONDS", "soon")], &Overrides::default());
    assert!(format!("{:#}", refused.unwrap_err()).contains("PODO_HOLD_SECONDS"));
    let refused = load(&[("PODO_HOLD_SECONDS", "0")], &Overrides::default());
    assert!(format!("{:#}", refused.unwrap_err()).contains("hold_seconds"));
}

#[test]
fn a_deprecated_name_still_sets_the_value_and_warns_once() {
    let flags = Overrides::default();
    let config = load(&[("PODO_RELAY_BELL", "off")], &flags).unwrap();
    assert_eq!(config.bus.relay_notify, Switch::Off);
    let [warning] = &config.deprecated[..] else { panic!("{:?}", config.deprecated) };
    assert!(warning.contains("PODO_RELAY_BELL") && warning.contains("PODO_RELAY_NOTIFY"));

    let both = [("PODO_RELAY_BELL", "off"), ("PODO_RELAY_NOTIFY", "on")];
    let config = load(&both, &flags).unwrap();
    assert_eq!((config.bus.relay_notify, config.deprecated.len()), (Switch::On, 1));
    let config = load(&both[1..], &flags).unwrap();
    assert_eq!((config.bus.relay_notify, config.deprecated.len()), (Switch::On, 0));
}

#[test]
fn a_deprecated_name_in_the_file_still_sets_the_value() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("podo.toml");
    std::fs::write(&file, "relay_bell = \"off\"").unwrap();
    let flags = Overrides { file: Some(file), ..Overrides::default() };
    let config = load(&[], &flags).unwrap();
    assert_eq!((config.bus.relay_notify, config.deprecated.len()), (Switch::Off, 1));
    let config = load(&[("PODO_RELAY_NOTIFY", "on")], &flags).unwrap();
    assert_eq!(config.bus.relay_notify, Switch::On);
}

#[test]
fn a_free_slot_is_never_left_for_long() {
    let slow = load(&[("PODO_ADMIT_EVERY_MS", "2000")], &Overrides::default());
    assert!(slow.unwrap_err().to_string().contains("admit_every_ms"));
}

#[test]
fn fans_are_let_in_more_slowly_by_the_limits_that_are_set() {
    let limits = |p99_ms, percent| {
        let set = [("PODO_SLOW_DOWN_P99_MS", p99_ms), ("PODO_SLOW_DOWN_ERRORS_PERCENT", percent)];
        load(&set, &Overrides::default()).unwrap().health_limits()
    };
    let both = HealthLimits { p99_ms: 700, failed_per_mille: 20 };
    assert_eq!(limits("700", "2"), Some(both));
    assert_eq!(limits("0", "2").map(|it| it.failed_per_mille), Some(20));
    assert_eq!(limits("0", "0"), None);
}

#[test]
fn a_part_of_the_roles_needs_engines_that_nodes_share() {
    let alone = load(&[("PODO_ROLES", "queue,booking")], &Overrides::default());
    let refused = alone.unwrap_err().to_string();
    assert!(refused.contains("`queue,booking`") && refused.contains("live_url"), "{refused}");
    let shared = [("PODO_ROLES", "queue"), ("PODO_LIVE_URL", "redis://127.0.0.1:1")];
    let flags = Overrides { roles: Some("worker".into()), ..Overrides::default() };
    assert_eq!(load(&shared, &flags).unwrap().roles.to_string(), "worker");
}

#[test]
fn the_password_is_never_shown() {
    let variables = [("PODO_ADMIN_EMAIL", "a@b.kr"), ("PODO_ADMIN_PASSWORD", "grapes-9")];
    let config = load(&variables, &Overrides::default()).unwrap();
    assert!(!config.describe().contains("grapes-9") && !format!("{config:?}").contains("grapes-9"));
    assert!(config.describe().contains("admin_password = \"(set)\""), "{}", config.describe());
    assert!(config.describe().contains("hold_seconds = 300"), "{}", config.describe());
}
