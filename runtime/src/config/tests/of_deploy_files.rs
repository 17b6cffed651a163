//! The files under `deploy/` can be read, agree with each other, and configure services. `.ci/documents` checks what
//! needs only their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Config, Destination, Otlp, Signal};
use serde_json::Value;

use super::yaml::yaml;

/// The default of `SHUTDOWN_TIMEOUT_MS`.
const SHUTDOWN_TIMEOUT_MS: u64 = 30_000;
const COLLECTORS: [&str; 3] = ["collector-dev.yaml", "collector-sidecar.yaml", "ecs/adot-collector.yaml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { all.extend(files(&entry)) } else { all.push(entry) }
    }
    all.sort();
    all
}

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The documents of a YAML file.
fn documents(name: &str) -> Vec<Value> {
    if name.contains("/templates/") { vec![rendered(name)] } else { yaml(&text(name)) }
}

fn document(name: &str) -> Value {
    documents(name).swap_remove(0)
}

/// Renders a template with the chart's default values; knows only the syntax that our templates use.
fn rendered(name: &str) -> Value {
    let values = yaml(&text("helm/tracecast-service/values.yaml")).swap_remove(0);
    let template = text(name);
    let mut out = String::new();
    for (at, part) in template.split("{{").enumerate() {
        let Some((expression, rest)) = part.split_once("}}").filter(|_| at > 0) else {
            out.push_str(part);
            continue;
        };
        let mut words = expression.split('|').map(str::trim);
        let path = words.next().unwrap();
        let value = match path.strip_prefix(".Values.") {
            Some(name) => values.get(name).unwrap_or_else(|| panic!("values.yaml has no `{name}`")).clone(),
            None => Value::String((path == ".Release.Name").then_some("store").expect(path).to_owned()),
        };
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match words.next() {
            None => out.push_str(&plain),
            Some("quote") => out.push_str(&Value::String(plain).to_string()),
            Some(other) => panic!("`{other}` is more than this test knows"),
        }
        out.push_str(rest);
    }
    yaml(&out).swap_remove(0)
}

fn names(extensions: &[&str]) -> Vec<String> {
    let name = |path: PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let is_one = |name: &String| extensions.iter().any(|extension| name.ends_with(extension));
    files(&root()).into_iter().map(name).filter(is_one).collect()
}

/// Lists every value below this one, with its path.
fn walk(value: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, path, visit)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| walk(value, &format!("{path}/{name}"), visit));
        }
        _ => {}
    }
}

#[test]
fn every_file_can_be_read() {
    let yaml = names(&[".yaml", ".yml"]);
    assert!(yaml.len() >= 12, "{yaml:?}");
    for name in &yaml {
        assert!(documents(name).iter().all(Value::is_object), "{name}");
    }
    let json = names(&[".json"]);
    assert!(!json.is_empty());
    for name in json {
        assert!(serde_json::from_str::<Value>(&text(&name)).unwrap().is_object(), "{name}");
    }
}

#[test]
fn collectors_take_what_services_send_and_use_what_they_declare() {
    let gateway =
        yaml(document("kubernetes/collector.yaml")["data"]["collector.yaml"].as_str().unwrap()).swap_remove(0);
    let all = COLLECTORS.map(document).into_iter().chain([gateway]);
    for collector in all {
        let receiver = &collector["receivers"]["otlp"]["protocols"];
        assert!(receiver["http"]["endpoint"].as_str().unwrap().ends_with(":4318"), "{receiver}");
        assert!(receiver["grpc"].is_null() || receiver["grpc"]["endpoint"].as_str().unwrap().ends_with(":4317"));
        let pipelines = collector["service"]["pipelines"].as_object().unwrap();
        assert_eq!(
            pipelines.keys().collect::<BTreeSet<_>>(),
            BTreeSet::from(["logs", "metrics", "traces"].map(str::to_owned)).iter().collect()
        );
        for part in ["receivers", "processors", "exporters"] {
            let used: BTreeSet<&str> = pipelines
                .values()
                .flat_map(|pipeline| pipeline[part].as_array().unwrap())
                .map(|name| name.as_str().unwrap())
                .collect();
            let declared: BTreeSet<&str> = collector[part].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(used, declared, "{part}");
        }
        assert!(pipelines.values().all(|pipeline| pipeline["processors"][0] == "memory_limiter"));
    }
}

/// The environment of each container that runs a service, by name.
fn services() -> Vec<(String, Value, BTreeMap<String, Value>)> {
    let mut found = Vec::new();
    for name in names(&["service.yaml", "sidecar.yaml", "deployment.yaml"])
        .into_iter()
        .filter(|name| !name.starts_with("collector"))
    {
        let pod = document(&name)["spec"]["template"]["spec"].clone();
        found.push((name, pod["terminationGracePeriodSeconds"].clone(), environment(&pod["containers"][0]["env"])));
    }
    let task: Value = serde_json::from_str(&text("ecs/task-definition.json")).unwrap();
    let container = &task["containerDefinitions"][0];
    found.push(("ecs".to_owned(), container["stopTimeout"].clone(), environment(&container["environment"])));
    found
}

fn environment(list: &Value) -> BTreeMap<String, Value> {
    list.as_array().unwrap().iter().map(|entry| (entry["name"].as_str().unwrap().to_owned(), entry.clone())).collect()
}

#[test]
fn services_have_longer_to_end_than_they_take() {
    let services = services();
    assert_eq!(services.len(), 4, "{services:?}");
    for (name, grace, environment) in services {
        let timeout: u64 = environment["SHUTDOWN_TIMEOUT_MS"]["value"].as_str().unwrap().parse().unwrap();
        assert_eq!(timeout, SHUTDOWN_TIMEOUT_MS, "{name}: the default, said once more");
        assert!(grace.as_u64().unwrap() * 1000 > timeout, "{name}: {grace} s");
        if name == "ecs" {
            continue;
        }
        for (variable, field) in [
            ("K8S_POD_NAME", "metadata.name"),
            ("K8S_POD_UID", "metadata.uid"),
            ("K8S_NAMESPACE_NAME", "metadata.namespace"),
            ("K8S_NODE_NAME", "spec.nodeName"),
        ] {
            assert_eq!(environment[variable]["valueFrom"]["fieldRef"]["fieldPath"], field, "{name}");
        }
    }
}

#[test]
fn services_are_configured_without_a_problem() {
    for (name, _, environment) in services() {
        let config = Config::from_variables(|variable| Some(environment.get(variable)?["value"].as_str()?.to_owned()));
        assert_eq!(config.problems(), [], "{name}");
        assert_eq!(config.service_name(), Some("store"), "{name}");
        for signal in Signal::ALL {
            let endpoint = otlp(&config, signal).endpoint.to_string();
            assert!(endpoint.ends_with(&format!(":4318/v1/{}", signal.name())), "{name}: {endpoint}");
        }
    }
}

fn otlp(config: &Config, signal: Signal) -> Otlp {
    match config.resolved(signal).swap_remove(0) {
        Destination::Otlp(otlp) => *otlp,
        other => panic!("{other:?}"),
    }
}

/// The variables that a shell reads from a file, or the shell's error.
#[cfg(unix)]
fn sourced(name: &str, variables: &[(&str, &str)]) -> Result<std::collections::HashMap<String, String>, String> {
    let script = format!(". '{}' && env", root().join(name).display());
    let command =
        std::process::Command::new("sh").args(["-c", &script]).env_clear().envs(variables.iter().copied()).output();
    let output = command.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let variables = text.lines().filter_map(|line| line.split_once('='));
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if output.status.success() { Ok(variables) } else { Err(String::from_utf8(output.stderr).unwrap()) }
}

#[test]
#[cfg(unix)]
fn files_of_variables_are_complete_but_for_the_secret() {
    use crate::config::{Secret, Temporality};

    let secret = "c2VjcmV0";
    let check = |name: &str, key: Option<&str>, base: &str, header: Option<(&str, &str)>| {
        let given: Vec<_> = key.map(|key| (key, secret)).into_iter().collect();
        let variables = sourced(name, &given).unwrap();
        let config = Config::from_variables(|name| variables.get(name).cloned());
        assert_eq!(config.problems(), [], "{name}");
        assert!(!format!("{config:?}").contains(secret), "{name}");
        for signal in Signal::ALL {
            let otlp = otlp(&config, signal);
            assert_eq!(otlp.endpoint.to_string(), format!("{base}/v1/{}", signal.name()), "{name}");
            let expected = header.map(|(header, value)| (header.to_owned(), Secret::new(value).into()));
            assert!(expected.is_none_or(|header| otlp.headers.contains(&header)), "{name}: {:?}", otlp.headers);
        }
        if let Some(key) = key {
            let error = sourced(name, &[]).unwrap_err();
            assert!(error.contains(key) && error.contains("is not set"), "{name}: {error}");
        }
        config
    };
    let team = Some(("x-honeycomb-team", secret));
    let honeycomb = check("honeycomb/service.env", Some("HONEYCOMB_API_KEY"), "https://api.honeycomb.io", team);
    let dataset = ("x-honeycomb-dataset".to_owned(), Secret::new("store_metrics").into());
    assert!(otlp(&honeycomb, Signal::Metrics).headers.contains(&dataset));
    let basic = Some(("authorization", "Basic c2VjcmV0"));
    let cloud = "https://otlp-gateway-prod-eu-west-2.grafana.net/otlp";
    check("grafana-cloud/service.env", Some("GRAFANA_CLOUD_TOKEN"), cloud, basic);
    let key = Some(("signoz-ingestion-key", secret));
    check("signoz/cloud.env", Some("SIGNOZ_INGESTION_KEY"), "https://ingest.eu.signoz.cloud:443", key);
    check("signoz/self-hosted.env", None, "http://signoz-otel-collector:4318", None);
    let datadog = check("datadog/service.env", None, "http://127.0.0.1:4318", None);
    assert_eq!(datadog.settings.metrics.temporality, Temporality::Delta);
    assert_eq!(names(&[".env"]).len(), 5, "all of them are checked here");
}

#[test]
fn ports_and_files_of_compose_agree_with_the_rest() {
    let services = document("compose.yaml")["services"].clone();
    let published = |service: &str| -> Vec<String> {
        let ports = services[service]["ports"].as_array().unwrap().iter();
        ports.map(|port| port.as_str().unwrap().rsplit(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(published("collector"), ["4317", "4318"]);
    let collector = document("collector-dev.yaml");
    assert_eq!(collector["exporters"]["otlp/jaeger"]["endpoint"], "${env:JAEGER_ENDPOINT:-jaeger:4317}");
    let exposed = collector["exporters"]["prometheus"]["endpoint"].as_str().unwrap().replace("0.0.0.0", "collector");
    let scraped = &document("prometheus.yml")["scrape_configs"][0];
    assert_eq!(scraped["static_configs"][0]["targets"][0], exposed);
    assert_eq!(scraped["honor_labels"], true);
    let sources = document("grafana/provisioning/datasources/datasources.yaml")["datasources"].clone();
    for source in sources.as_array().unwrap() {
        let (host, port) = source["url"].as_str().unwrap().trim_start_matches("http://").split_once(':').unwrap();
        assert!(published(host).contains(&port.to_owned()), "{source}");
    }
    walk(&services, "", &mut |path, value| {
        if path.ends_with("/volumes")
            && let Some(volume) = value.as_str()
        {
            let file = volume.split(':').next().unwrap();
            assert!(root().join(file).exists(), "{file} is not there");
        }
    });
    let dashboards =
        document("grafana/provisioning/dashboards/dashboards.yaml")["providers"][0]["options"]["path"].clone();
    let mounted = format!("./grafana/dashboards:{}:ro", dashboards.as_str().unwrap());
    assert!(services["grafana"]["volumes"].as_array().unwrap().contains(&Value::String(mounted)));
}

#[test]
fn secrets_are_only_referred_to() {
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["password", "api_key", "apikey", "token", "authorization"].iter().any(|word| name.ends_with(word))
    };
    for name in names(&[".yaml", ".yml", ".json"]) {
        let all =
            if name.ends_with(".json") { vec![serde_json::from_str(&text(&name)).unwrap()] } else { documents(&name) };
        for document in all {
            walk(&document, "", &mut |path, value| {
                let refers = |text: &str| text.starts_with("${env:");
                assert!(!is_secret(path) || value.as_str().is_none_or(refers), "{name}: {path}");
                let is_variable = value["name"].as_str().is_some_and(is_secret);
                assert!(!is_variable || value["value"].is_null(), "{name}: {value}");
            });
        }
    }
}
