//! The Kubernetes manifests: least privilege for pods, a network that denies by default, and enough
//! replicas.

use crate::process::deploy::{are_narrow, deploy, files};
use yaml_rust2::{Yaml, YamlLoader};

/// All applied objects.
fn objects() -> Vec<Yaml> {
    let files = files(&deploy().join("kubernetes"));
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| YamlLoader::load_from_str(&text).unwrap()).collect()
}

fn of_kind(kind: &str) -> Vec<Yaml> {
    objects().into_iter().filter(|it| it["kind"].as_str() == Some(kind)).collect()
}

fn name_of(object: &Yaml) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn named(kind: &str, name: &str) -> Yaml {
    of_kind(kind).into_iter().find(|it| name_of(it) == name).unwrap()
}

/// All workloads, with their pod templates.
fn pods() -> Vec<(String, Yaml)> {
    let kinds = ["Deployment", "StatefulSet", "Job"];
    let all = kinds.iter().flat_map(|kind| of_kind(kind));
    all.map(|it| (name_of(&it).to_owned(), it["spec"]["template"].clone())).collect()
}

fn list(yaml: &Yaml) -> &[Yaml] {
    yaml.as_vec().map_or(&[], Vec::as_slice)
}

fn is_ours(container: &Yaml) -> bool {
    container["image"].as_str().unwrap().starts_with("podo:")
}

#[test]
fn every_pod_runs_as_an_unprivileged_user() {
    let pods = pods();
    assert!(pods.len() >= 10, "{}", pods.len());
    for (name, pod) in pods {
        let spec = &pod["spec"];
        assert_eq!(spec["automountServiceAccountToken"].as_bool(), Some(false), "{name}");
        let rights = &spec["securityContext"];
        assert_eq!(rights["runAsNonRoot"].as_bool(), Some(true), "{name}");
        assert_eq!(rights["seccompProfile"]["type"].as_str(), Some("RuntimeDefault"), "{name}");
        for container in list(&spec["containers"]) {
            let rights = &container["securityContext"];
            assert_eq!(rights["allowPrivilegeEscalation"].as_bool(), Some(false), "{name}");
            assert_eq!(rights["capabilities"]["drop"][0].as_str(), Some("ALL"), "{name}");
            if is_ours(container) {
                assert_eq!(rights["readOnlyRootFilesystem"].as_bool(), Some(true), "{name}");
                assert_eq!(spec["serviceAccountName"].as_str(), Some("podo"), "{name}");
            }
        }
    }
    let account = named("ServiceAccount", "podo");
    assert_eq!(account["automountServiceAccountToken"].as_bool(), Some(false));
    let labels = &named("Namespace", "podo")["metadata"]["labels"];
    assert_eq!(labels["pod-security.kubernetes.io/enforce"].as_str(), Some("restricted"));
}

#[test]
fn the_migration_is_the_owner_and_no_node_is() {
    for (name, pod) in pods() {
        for container in list(&pod["spec"]["containers"]).iter().filter(|it| is_ours(it)) {
            let secrets = list(&container["envFrom"]).iter();
            let has_owner = secrets
                .filter_map(|it| it["secretRef"]["name"].as_str())
                .any(|secret| secret == "podo-owner");
            assert_eq!(has_owner, name == "podo-migrate", "{name}");
        }
    }
}

#[test]
fn metrics_are_on_the_inner_address() {
    let settings = named("ConfigMap", "podo");
    assert_eq!(settings["data"]["PODO_LISTEN_ADMIN"].as_str(), Some("0.0.0.0:9090"));
    for deployment in of_kind("Deployment") {
        let notes = &deployment["spec"]["template"]["metadata"]["annotations"];
        assert_eq!(notes["prometheus.io/port"].as_str(), Some("9090"), "{}", name_of(&deployment));
    }
    for service in of_kind("Service") {
        let ports = list(&service["spec"]["ports"]).iter().map(|it| it["port"].as_i64().unwrap());
        assert!(ports.into_iter().all(|port| port != 9090), "{}", name_of(&service));
    }
}

#[test]
fn network_policies_block_traffic_that_is_not_allowed() {
    let deny_all = named("NetworkPolicy", "default-deny");
    assert!(deny_all["spec"]["podSelector"].as_hash().unwrap().is_empty());
    let types: Vec<&str> =
        list(&deny_all["spec"]["policyTypes"]).iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(types, ["Ingress", "Egress"]);
    for direction in ["ingress", "egress"] {
        assert_eq!(deny_all["spec"][direction], Yaml::BadValue, "it allows nothing");
    }
    let mut n_rules = 0;
    for policy in of_kind("NetworkPolicy") {
        for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
            for rule in list(&policy["spec"][direction]) {
                let name = name_of(&policy);
                assert!(!list(&rule[peers]).is_empty(), "{name} is open to everybody");
                assert!(!list(&rule["ports"]).is_empty(), "{name} has every port open");
                n_rules += 1;
            }
        }
    }
    assert!(n_rules >= 8, "{n_rules}");
    let metrics = &named("NetworkPolicy", "metrics")["spec"]["ingress"][0];
    assert_eq!(metrics["ports"][0]["port"].as_i64(), Some(9090));
    let outside = &named("NetworkPolicy", "outside")["spec"]["egress"][0]["to"][0]["ipBlock"];
    let except: Vec<&str> =
        list(&outside["except"]).iter().map(|it| it.as_str().unwrap()).collect();
    for private in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"] {
        assert!(except.contains(&private), "{private} can be reached");
    }
}

#[test]
fn settings_trust_few_and_examples_hold_no_secret_that_works() {
    let settings = named("ConfigMap", "podo");
    let proxies = settings["data"]["PODO_TRUSTED_PROXIES"].as_str().unwrap();
    assert!(are_narrow(proxies, 256), "{proxies}");
    for secret in of_kind("Secret") {
        for (key, value) in secret["stringData"].as_hash().into_iter().flatten() {
            let (key, value) = (key.as_str().unwrap(), value.as_str().unwrap());
            let is_gap = value.contains("PASSWORD") || value.contains(' ');
            assert!(is_gap, "{key} has a value that would work");
        }
    }
}

#[test]
fn workers_grow_with_what_waits_and_everything_is_spread_over_zones() {
    let scaler = named("HorizontalPodAutoscaler", "podo-worker");
    let (least, most) = (&scaler["spec"]["minReplicas"], &scaler["spec"]["maxReplicas"]);
    assert_eq!((least.as_i64(), most.as_i64()), (Some(2), Some(30)));
    let metric = scaler["spec"]["metrics"][0]["pods"]["metric"]["name"].as_str().unwrap();
    let adapter = crate::process::deploy::text_of("prometheus/adapter.yaml");
    assert!(adapter.contains(&format!("name: {{ as: {metric} }}")), "{metric}");
    let partitions = named("ConfigMap", "podo")["data"]["PODO_BUS_PARTITIONS"].clone();
    let partitions: i64 = partitions.as_str().unwrap().parse().unwrap();
    assert!(partitions >= most.as_i64().unwrap(), "a worker without a partition has nothing to do");
    for kind in ["Deployment", "StatefulSet"] {
        for object in of_kind(kind) {
            let spread = list(&object["spec"]["template"]["spec"]["topologySpreadConstraints"]);
            let keys: Vec<_> =
                spread.iter().map(|it| it["topologyKey"].as_str().unwrap()).collect();
            let expected = ["topology.kubernetes.io/zone", "kubernetes.io/hostname"];
            assert_eq!(keys, expected, "{}", name_of(&object));
        }
    }
}

#[test]
fn the_engines_are_what_the_settings_name() {
    let redis = named("StatefulSet", "redis");
    assert_eq!(redis["spec"]["replicas"].as_i64(), Some(6));
    let command =
        redis["spec"]["template"]["spec"]["containers"][0]["args"][0].as_str().unwrap().to_owned();
    for word in ["--cluster-enabled yes", "--appendonly yes", "--save", "--requirepass"] {
        assert!(command.contains(word), "{word}: {command}");
    }
    let kafka = named("StatefulSet", "kafka");
    assert_eq!(kafka["spec"]["replicas"].as_i64(), Some(3));
    let bus = named("ConfigMap", "podo")["data"]["PODO_BUS_URL"].clone();
    for number in 0..3 {
        assert!(bus.as_str().unwrap().contains(&format!("kafka-{number}.kafka:9092")), "{bus:?}");
    }
    let secret = named("Secret", "podo");
    assert!(secret["stringData"]["PODO_REPLICA_URLS"].as_str().unwrap().starts_with("postgres://"));
    assert!(
        secret["stringData"]["PODO_LIVE_URL"].as_str().unwrap().starts_with("redis-cluster://")
    );
}
