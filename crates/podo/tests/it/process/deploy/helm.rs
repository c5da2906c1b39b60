//! The Helm chart: with its default values it gives the objects of deploy/kubernetes/.

use crate::process::deploy::deploy;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

const MISSING: &str = "Helm is not there: install it, or run `cargo xtask test --only packages`, which \
     fetches it on x86_64";

/// Where `cargo xtask test --only packages` puts it; otherwise the one in PATH.
fn helm(arguments: &[&str]) -> String {
    let fetched = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/helm/helm");
    let program = if fetched.exists() { fetched } else { "helm".into() };
    let output = Command::new(program).args(arguments).output().expect(MISSING);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "helm {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn chart() -> String {
    deploy().join("helm/podo").to_str().unwrap().to_owned()
}

/// Objects by kind and name.
type Objects = BTreeMap<(String, String), Value>;

fn read(text: &str) -> Objects {
    let mut objects = Objects::new();
    let documents = YamlLoader::load_from_str(text).unwrap();
    for object in documents.iter().map(to_json).filter(|it| !it.is_null()) {
        let key = (word(&object["kind"]), word(&object["metadata"]["name"]));
        assert!(objects.insert(key, object).is_none(), "two objects have one name:\n{text}");
    }
    objects
}

fn word(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn rendered(release: &str, options: &[&str]) -> Objects {
    let chart = chart();
    let mut arguments = vec!["template", release, &chart, "--namespace", "podo"];
    arguments.extend(options);
    read(&helm(&arguments))
}

fn manifests() -> Objects {
    let files = ["1-settings", "3-nodes", "4-jobs", "5-ingress", "6-network", "7-migrate"];
    let text = |name: &str| {
        let file = deploy().join(format!("kubernetes/{name}.yaml"));
        std::fs::read_to_string(file).unwrap()
    };
    let mut objects: Objects = files.iter().flat_map(|name| read(&text(name))).collect();
    // Helm makes the namespace, if it is asked to.
    objects.remove(&("Namespace".to_owned(), "podo".to_owned())).unwrap();
    objects
}

/// Sorts the lists whose order means nothing.
fn to_json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Hash(members) => {
            let member = |(name, value): (&Yaml, &Yaml)| {
                let name = name.as_str().unwrap().to_owned();
                let mut value = to_json(value);
                if let (true, Some(list)) =
                    (["paths", "values"].contains(&&*name), value.as_array_mut())
                {
                    list.sort_by_key(Value::to_string);
                }
                (name, value)
            };
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Yaml::Array(items) => items.iter().map(to_json).collect(),
        Yaml::Integer(number) => json!(number),
        Yaml::Boolean(value) => json!(value),
        Yaml::String(text) | Yaml::Real(text) => json!(text),
        Yaml::Null | Yaml::BadValue | Yaml::Alias(_) => Value::Null,
    }
}

fn remove(object: &mut Value, path: &str, name: &str) {
    if let Some(members) = object.pointer_mut(path).and_then(Value::as_object_mut) {
        members.remove(name);
    }
}

/// What a chart has and a manifest hasn't: labels and annotations of the release, a policy for pulling
/// images, and a checksum that restarts nodes after a change of the settings. Where there is an
/// autoscaler, the chart leaves the number of replicas to it.
fn without_release(mut object: Value, all: &Objects) -> Value {
    let pod = "/spec/template/spec/containers/0";
    remove(&mut object, pod, "imagePullPolicy");
    remove(&mut object, "/spec/template/metadata/annotations", "checksum/settings");
    remove(&mut object, "/metadata", "labels");
    let name = word(&object["metadata"]["name"]);
    let scaler = all.get(&("HorizontalPodAutoscaler".to_owned(), name));
    if let Some(scaler) = scaler.filter(|_| object["kind"] == "Deployment") {
        assert!(object["spec"]["replicas"].is_null(), "an upgrade would take pods away");
        object["spec"]["replicas"] = scaler["spec"]["minReplicas"].clone();
    }
    object
}

/// The manifest as a chart has it: in no namespace of its own, policies with the name of the release,
/// and a migration that runs before anything else of the release is there.
fn as_in_a_chart(mut object: Value) -> Value {
    remove(&mut object, "/metadata", "namespace");
    if object["kind"] == "NetworkPolicy" {
        object["metadata"]["name"] = json!(format!("podo-{}", word(&object["metadata"]["name"])));
    }
    if object["kind"] == "Job" {
        let when = json!({ "helm.sh/hook": "pre-install,pre-upgrade",
                           "helm.sh/hook-delete-policy": "before-hook-creation" });
        object["metadata"]["annotations"] = when;
        remove(&mut object, "/spec/template/spec", "serviceAccountName");
        let settings = "/spec/template/spec/containers/0/envFrom/0/configMapRef/name";
        *object.pointer_mut(settings).unwrap() = json!("podo-migrate");
    }
    object
}

#[test]
fn helm_accepts_the_chart() {
    helm(&["lint", "--strict", &chart()]);
}

#[test]
fn the_chart_gives_what_the_manifests_give() {
    let mut chart = rendered("podo", &[]);
    let copy = chart.remove(&("ConfigMap".to_owned(), "podo-migrate".to_owned())).unwrap();
    assert_eq!(copy["data"], chart[&("ConfigMap".to_owned(), "podo".to_owned())]["data"]);
    let manifests: Vec<Value> = manifests().into_values().map(as_in_a_chart).collect();
    let n_manifests = manifests.len();
    assert!(n_manifests > 30, "{n_manifests}");
    for manifest in manifests {
        let key = (word(&manifest["kind"]), word(&manifest["metadata"]["name"]));
        let object = chart.get(&key).unwrap_or_else(|| panic!("the chart has no {key:?}")).clone();
        assert_eq!(without_release(object, &chart), manifest, "{key:?}");
    }
    assert_eq!(chart.len(), n_manifests, "the chart has objects that no manifest has");
}

#[test]
fn two_releases_share_no_name() {
    for ((kind, name), object) in rendered("shop", &[]) {
        assert!(name == "shop" || name.starts_with("shop-"), "{kind} {name}");
        let selected = &object["spec"]["selector"]["matchLabels"]["app"];
        assert!(selected.is_null() || selected == "shop", "{kind} {name}: {selected}");
    }
}

#[test]
fn parts_can_be_left_out() {
    let off = ["networkPolicy.enabled", "ingress.enabled", "migration.enabled"];
    let off = off.map(|name| format!("{name}=false")).join(",");
    let kinds = rendered("podo", &["--set", &off]);
    let has = |wanted: &str| kinds.keys().any(|(kind, _)| kind == wanted);
    assert!(has("Deployment") && has("Service"));
    assert!(!has("NetworkPolicy") && !has("Ingress") && !has("Job"));
    let shared = rendered("podo", &["--set", "networkPolicy.wholeNamespace=false"]);
    let deny_all = &shared[&("NetworkPolicy".to_owned(), "podo-default-deny".to_owned())];
    assert_eq!(deny_all["spec"]["podSelector"], json!({ "matchLabels": { "app": "podo" } }));
}
