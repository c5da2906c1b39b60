//! `podo doctor` finds out whether payment gateways accept our keys before a fan does.

use podo_testbed::gateways::Gateways;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Toss with these keys at this address.
fn examine(url: &str, client_key: &str, secret_key: &str) -> Output {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
    command.env_clear().envs([
        ("PODO_PUBLIC_URL", "http://podo.example"),
        ("PODO_GATEWAY_TIMEOUT_SECONDS", "1"),
        ("PODO_TOSS_URL", url),
        ("PODO_TOSS_CLIENT_KEY", client_key),
        ("PODO_TOSS_SECRET_KEY", secret_key),
    ]);
    command.args(["doctor", "--data"]).arg(folder.path().join("data")).output().unwrap()
}

/// The line about Toss.
fn said_of_toss(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line = text.lines().find(|line| line.contains("toss"));
    line.unwrap_or_else(|| panic!("no line about toss: {text}")).to_owned()
}

#[test]
fn stripe_is_asked_too_and_mixed_keys_are_named() {
    let stripe = Gateways::start().unwrap();
    let said = |publishable: &str, secret: &str| {
        let folder = TempDir::with_prefix("podo-").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_podo"));
        command.env_clear().envs([
            ("PODO_PUBLIC_URL", "http://podo.example"),
            ("PODO_GATEWAY_TIMEOUT_SECONDS", "1"),
            ("PODO_STRIPE_URL", &stripe.url()),
            ("PODO_STRIPE_PUBLISHABLE_KEY", publishable),
            ("PODO_STRIPE_SECRET_KEY", secret),
            ("PODO_STRIPE_WEBHOOK_SECRETS", "whsec_x"),
        ]);
        let output = command.args(["doctor", "--data"]).arg(folder.path().join("data")).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.lines().find(|line| line.contains("stripe")).unwrap_or(&text).to_owned()
    };
    assert!(said("pk_live_x", "sk_live_x").starts_with("ok"));
    assert!(said("pk_test_x", "rk_test_x").contains("no money moves"));
    assert!(said("pk_live_x", "sk_test_x").contains("take both from one set"));
}

/// Toss that accepts no key. Ends with the test's process.
fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if !stream.read(&mut [0; 4_096]).is_ok_and(|n_read| 0 < n_read) {
                continue;
            }
            let body = r#"{"code":"UNAUTHORIZED_KEY","message":"인증되지 않은 시크릿 키"}"#;
            let head = "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n";
            write!(
                stream,
                "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            )
            .ok();
        }
    });
    url
}

#[test]
fn keys_that_work_are_good_and_test_keys_are_named() {
    let toss = Gateways::start().unwrap();
    let live = examine(&toss.url(), "live_ck", "live_sk");
    assert!(live.status.success(), "{live:?}");
    assert!(said_of_toss(&live).starts_with("ok"), "{live:?}");
    let test = examine(&toss.url(), "test_ck", "test_sk");
    assert!(test.status.success(), "{test:?}");
    assert!(said_of_toss(&test).contains("no money moves"), "{test:?}");
    let said = String::from_utf8(test.stdout).unwrap();
    assert!(said.contains("public_url is not https"), "{said}");
}

#[test]
fn keys_that_a_gateway_refuses_and_a_silent_gateway_are_bad() {
    for url in [refusing(), "http://127.0.0.1:1".to_owned()] {
        let output = examine(&url, "live_ck", "live_sk");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said_of_toss(&output).contains("does not accept the keys"), "{output:?}");
    }
}

#[test]
fn a_test_key_beside_a_live_key_is_bad() {
    let toss = Gateways::start().unwrap();
    let output = examine(&toss.url(), "test_ck", "live_sk");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(said_of_toss(&output).contains("take both from one set"), "{output:?}");
}
