//! The whole system on one machine: no guessable password, nothing published by mistake, and all
//! engines included.

use crate::process::deploy::{are_narrow, text_of};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use yaml_rust2::{Yaml, YamlLoader};

const FILE: &str = "docker/compose.yaml";

fn services() -> Vec<(String, Yaml)> {
    let file = YamlLoader::load_from_str(&text_of(FILE)).unwrap().remove(0);
    let services = file["services"].as_hash().unwrap();
    services.iter().map(|(name, it)| (name.as_str().unwrap().to_owned(), it.clone())).collect()
}

fn service(name: &str) -> Yaml {
    services().into_iter().find(|(other, _)| other == name).unwrap().1
}

/// A service's own field, or the one from its merge key.
fn field<'y>(service: &'y Yaml, name: &str) -> &'y Yaml {
    let own = &service[name];
    if own.is_badvalue() { &service["<<"][name] } else { own }
}

fn setting(service: &Yaml, name: &str) -> String {
    field(service, "environment")[name].as_str().unwrap_or_default().to_owned()
}

/// The services that run our program.
fn nodes() -> Vec<(String, Yaml)> {
    let is_ours = |it: &Yaml| *field(it, "build") != Yaml::BadValue;
    services().into_iter().filter(|(_, it)| is_ours(it)).collect()
}

#[test]
fn every_secret_has_to_be_given() {
    for line in text_of(FILE).lines().filter(|line| !line.trim_start().starts_with('#')) {
        let is_secret =
            ["PASSWORD:", "SECRET:", "REDISCLI_AUTH:", "postgres://", "redis-cluster://"]
                .iter()
                .any(|word| line.contains(word));
        // `${NAME:?…}` fails if it is unset or empty, `${NAME:-…}` has a default.
        assert!(!is_secret || line.contains(":?"), "{line}");
        assert!(!is_secret || !line.contains(":-"), "{line}");
    }
    for (name, node) in nodes() {
        for secret in ["PODO_TOKEN_SECRET", "PODO_FIELD_SECRET", "PODO_ADMIN_PASSWORD"] {
            assert!(setting(&node, secret).starts_with("${"), "{name} {secret}");
        }
    }
    assert!(setting(&service("postgres"), "POSTGRES_HOST_AUTH_METHOD").starts_with("scram"));
}

#[test]
fn only_the_shop_is_published_and_grafana_to_this_machine_alone() {
    for (name, it) in services() {
        let published: Vec<&str> = field(&it, "ports")
            .as_vec()
            .into_iter()
            .flatten()
            .map(|it| it.as_str().unwrap())
            .collect();
        match name.as_str() {
            "nginx" => assert_eq!(published, ["8080:8080"]),
            "grafana" => assert_eq!(published, ["127.0.0.1:3000:3000"]),
            _ => assert!(published.is_empty(), "{name} {published:?}"),
        }
    }
    let grafana = service("grafana");
    assert_eq!(setting(&grafana, "GF_AUTH_ANONYMOUS_ENABLED"), "false");
    assert_eq!(setting(&grafana, "GF_USERS_ALLOW_SIGN_UP"), "false");
    assert!(setting(&grafana, "GF_SECURITY_ADMIN_PASSWORD").contains(":?"));
}

#[test]
fn nodes_believe_the_proxy_alone_and_have_no_rights_of_the_machine() {
    let proxy = service("nginx")["networks"]["inside"]["ipv4_address"].as_str().unwrap().to_owned();
    assert_eq!(nodes().len(), 5);
    for (name, node) in nodes() {
        let trusted = setting(&node, "PODO_TRUSTED_PROXIES");
        assert!(are_narrow(&trusted, 1) && trusted == format!("{proxy}/32"), "{name} {trusted}");
        assert_eq!(setting(&node, "PODO_LISTEN_ADMIN"), "0.0.0.0:9090", "{name}");
        assert_eq!(field(&node, "cap_drop")[0].as_str(), Some("ALL"), "{name}");
        assert_eq!(field(&node, "security_opt")[0].as_str(), Some("no-new-privileges:true"));
        assert_eq!(field(&node, "read_only").as_bool(), Some(true), "{name}");
    }
}

/// Killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The real server with the file's arguments, except its folder and its port.
#[test]
fn redis_takes_its_words_asks_for_the_password_and_writes_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let command = field(&service("redis1"), "command").as_str().unwrap().to_owned();
    let command = command.replace("$$", "$").replace("/data", folder.path().to_str().unwrap());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let script = command.strip_prefix("sh -c '").unwrap().strip_suffix('\'').unwrap();
    let script = format!("{script} --port {port} --cluster-port 0 --bind 127.0.0.1");
    let mut redis = Command::new("sh");
    redis.args(["-c", &script]).env("REDIS_PASSWORD", "sour-grapes").stdout(Stdio::null());
    let _redis = Running(redis.spawn().unwrap());
    let ask = |password: &str, words: &[&str]| {
        let mut cli = Command::new("redis-cli");
        cli.args(["-p", &port, "--no-auth-warning"]).env("REDISCLI_AUTH", password).args(words);
        String::from_utf8(cli.output().unwrap().stdout).unwrap()
    };
    let start = Instant::now();
    while ask("sour-grapes", &["ping"]).trim() != "PONG" {
        assert!(start.elapsed() < Duration::from_secs(20), "Redis does not start: {script}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(ask("wrong", &["ping"]).contains("NOAUTH"));
    let saves = ask("sour-grapes", &["config", "get", "save"]);
    assert!(saves.contains("900 1 300 100 60 10000"), "{saves}");
    assert!(ask("sour-grapes", &["config", "get", "appendonly"]).contains("yes"));
    assert!(ask("sour-grapes", &["info", "cluster"]).contains("cluster_enabled:1"));
    assert!(ask("sour-grapes", &["save"]).contains("OK"));
    assert!(folder.path().join("dump.rdb").exists());
    assert!(folder.path().join("appendonlydir").exists());
}

#[test]
fn all_engines_are_in_it() {
    let (_, node) = nodes().remove(0);
    assert_eq!(setting(&node, "PODO_BUS_URL"), "kafka://kafka:9092");
    assert!(service("kafka")["image"].as_str().unwrap().starts_with("apache/kafka:"));
    assert!(setting(&node, "PODO_REPLICA_URLS").contains("@replica:5432"));
    for name in ["postgres", "replica"] {
        assert_eq!(service(name)["image"].as_str(), Some("postgres:18"));
    }
    for number in 1..=6 {
        let redis = service(&format!("redis{number}"));
        let command = field(&redis, "command").as_str().unwrap();
        let all = ["--cluster-enabled yes", "--appendonly yes", "--appendfsync everysec", "--save"];
        for word in all.iter().chain(&["--requirepass", "--masterauth"]) {
            assert!(command.contains(word), "redis{number} {word}: {command}");
        }
        let volume = field(&redis, "volumes")[0].as_str().unwrap();
        assert_eq!(volume, format!("redis{number}:/data"));
    }
    let joins = service("redis")["command"].as_str().unwrap().to_owned();
    assert!(joins.contains("for n in 1 2 3 4 5 6") && joins.contains("--cluster-replicas 1"));
}
