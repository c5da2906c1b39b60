//! The files in deploy/ are correct: their metrics exist, their programs accept them, their
//! settings exist.

#[path = "deploy/compose.rs"]
mod compose;

#[path = "deploy/helm.rs"]
mod helm;

#[path = "deploy/kubernetes.rs"]
mod kubernetes;

#[path = "deploy/proxies.rs"]
mod proxies;

use crate::support::world::{Plan, World};
use podo::config::DEFAULT;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn text_of(file: &str) -> String {
    std::fs::read_to_string(deploy().join(file)).unwrap()
}

/// Whether a list of proxies names only networks of at most this many addresses.
fn are_narrow(proxies: &str, addresses_max: u64) -> bool {
    proxies.split(',').all(|network| {
        let (_, bits) = network.trim().split_once('/').unwrap_or((network, "32"));
        1 << (32 - bits.parse::<u32>().unwrap()) <= addresses_max
    })
}

/// The words in a text with this prefix.
fn words(text: &str, start: &str) -> BTreeSet<String> {
    let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let words = text.split(is_end).filter(|word| word.starts_with(start));
    words.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_that_an_alert_or_a_chart_names_exists() {
    let world = World::start().await;
    let show = world.show(Plan::default()).await;
    world.fan_inside(&show).await.buy(&show, 0).await;
    let metrics = world.stranger.get("/metrics").await.text;
    let known: BTreeSet<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let folder = deploy();
    let files = [
        "prometheus/alerts.yml",
        "prometheus/adapter.yaml",
        "grafana/podo.json",
        "kubernetes/4-jobs.yaml",
    ];
    for file in files {
        let named = words(&std::fs::read_to_string(folder.join(file)).unwrap(), "podo_");
        assert!(!named.is_empty());
        for name in named {
            let is_known = ["", "_total", "_bucket", "_count", "_sum"]
                .iter()
                .any(|end| name.strip_suffix(end).is_some_and(|name| known.contains(name)));
            assert!(is_known, "{file} names {name}; known are {known:#?}");
        }
    }
}

#[test]
fn every_setting_that_is_set_exists() {
    let known: BTreeSet<String> = DEFAULT
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| format!("PODO_{}", name.to_uppercase()))
        .collect();
    for file in files(&deploy()) {
        for name in words(&std::fs::read_to_string(&file).unwrap(), "PODO_") {
            assert!(known.contains(&name), "{}: {name} is no setting", file.display());
        }
    }
}

#[test]
fn manifests_and_dashboards_can_be_read() {
    let mut n_read = 0;
    // Helm reads its templates (deploy/helm.rs).
    let is_template = |file: &PathBuf| file.to_string_lossy().contains("/templates/");
    for file in files(&deploy()).into_iter().filter(|file| !is_template(file)) {
        let text = std::fs::read_to_string(&file).unwrap();
        match file.extension().and_then(|end| end.to_str()) {
            Some("yaml" | "yml") => {
                let documents = yaml_rust2::YamlLoader::load_from_str(&text);
                assert!(!documents.unwrap().is_empty(), "{}", file.display());
            }
            Some("json") => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
            _ => continue,
        }
        n_read += 1;
    }
    assert!(n_read >= 8, "{n_read} files were read");
}

#[test]
fn haproxy_accepts_its_settings() {
    let file = deploy().join("haproxy/haproxy.cfg");
    let haproxy = Command::new("/usr/sbin/haproxy").arg("-c").arg("-f").arg(file).output();
    let said = haproxy.expect("Debian's package `haproxy`");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn metrics_are_never_where_fans_come_in() {
    assert!(text_of("nginx/nginx.conf").contains("location = /metrics { return 404; }"));
    assert!(text_of("haproxy/haproxy.cfg").contains("deny deny_status 404 if { path /metrics }"));
    let unit = text_of("systemd/podo.service");
    assert!(unit.contains("PODO_LISTEN_ADMIN=127.0.0.1:9090"), "{unit}");
    let image = text_of("docker/Dockerfile");
    assert!(image.contains("PODO_LISTEN_ADMIN=0.0.0.0:9090") && !image.contains("EXPOSE 9090"));
    let scraped = text_of("prometheus/prometheus.yml");
    assert!(scraped.contains("port: 9090") && !scraped.contains("8080"), "{scraped}");
}

#[test]
fn the_service_keeps_its_files_to_itself() {
    let unit = text_of("systemd/podo.service");
    for line in ["StateDirectoryMode=0700", "UMask=0077", "NoNewPrivileges=yes"] {
        assert!(unit.lines().any(|it| it == line), "{line}");
    }
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = deploy().join("..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let table = page.lines().filter(|line| line.starts_with("| V"));
    let sources = files(&root.join("crates"));
    let mut n_named = 0;
    for line in table {
        let names = line.split('`').skip(1).step_by(2);
        for name in names.filter(|name| name.ends_with(".rs") || name.contains('/')) {
            let is_there = root.join(name).exists() || sources.iter().any(|it| it.ends_with(name));
            assert!(is_there, "{name} does not exist: {line}");
            n_named += 1;
        }
    }
    assert!(n_named > 40, "{n_named}");
}
