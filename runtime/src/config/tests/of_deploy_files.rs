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

/// Returns the documents of a YAML file. Templates of the chart are not YAML; their rendered output is kept beside the
/// chart.
fn documents(name: &str) -> Vec<Value> {
    yaml(&text(name))
}

fn document(name: &str) -> Value {
    documents(name).swap_remove(0)
}

/// Returns the document of this kind and name.
fn of_kind(file: &str, kind: &str, name: &str) -> Value {
    let mut found = documents(file).into_iter().filter(|document| document["kind"] == kind);
    found.find(|document| document["metadata"]["name"] == name).unwrap_or_else(|| panic!("{file}: no {kind} {name}"))
}

fn names(extensions: &[&str]) -> Vec<String> {
    let name = |path: PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let is_one = |name: &String| extensions.iter().any(|extension| name.ends_with(extension));
    files(&root()).into_iter().map(name).filter(is_one).filter(|name| !name.contains("/templates/")).collect()
}

/// Visits a value and every value below it, with its path.
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

/// Returns the configurations of all Collectors, with their names.
fn collectors() -> Vec<(String, Value)> {
    let mut all: Vec<_> = COLLECTORS.map(|name| (name.to_owned(), document(name))).into();
    for name in names(&[".yaml"]).into_iter().filter(|name| name.starts_with("kubernetes/")) {
        for map in documents(&name).iter().filter(|document| document["kind"] == "ConfigMap") {
            let config = yaml(map["data"]["collector.yaml"].as_str().unwrap()).swap_remove(0);
            all.push((map["metadata"]["name"].as_str().unwrap().to_owned(), config));
        }
    }
    all
}

#[test]
fn collectors_take_what_services_send_and_use_what_they_declare() {
    let all = collectors();
    assert_eq!(all.len(), COLLECTORS.len() + 3, "{all:?}");
    for (name, collector) in all {
        let receiver = &collector["receivers"]["otlp"]["protocols"];
        let has = |protocol: &str, port: &str| match &receiver[protocol]["endpoint"] {
            Value::String(endpoint) => endpoint.ends_with(port),
            _ => false,
        };
        // Only other Collectors send to samplers, over gRPC.
        let is_sampler = name == "otel-sampler";
        assert!(if is_sampler { has("grpc", ":4317") } else { has("http", ":4318") }, "{name}: {receiver}");
        assert!(receiver["grpc"].is_null() || has("grpc", ":4317"), "{name}: {receiver}");
        let pipelines = collector["service"]["pipelines"].as_object().unwrap();
        let signals: Vec<&str> = pipelines.keys().map(String::as_str).collect();
        let expected = if is_sampler { &["traces"][..] } else { &["logs", "metrics", "traces"] };
        assert_eq!(signals.into_iter().collect::<BTreeSet<_>>(), expected.iter().copied().collect(), "{name}");
        let declared = |part: &str| -> BTreeSet<&str> {
            collector[part].as_object().unwrap().keys().map(String::as_str).collect()
        };
        let texts = |list: &'_ Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
        };
        for part in ["receivers", "processors", "exporters"] {
            let used: Vec<String> = pipelines.values().flat_map(|pipeline| texts(&pipeline[part])).collect();
            assert_eq!(used.iter().map(String::as_str).collect::<BTreeSet<_>>(), declared(part), "{name}: {part}");
        }
        let extensions = texts(&collector["service"]["extensions"]);
        assert_eq!(extensions.iter().map(String::as_str).collect::<BTreeSet<_>>(), declared("extensions"), "{name}");
        assert!(pipelines.values().all(|pipeline| pipeline["processors"][0] == "memory_limiter"), "{name}");
        for (exporter, settings) in collector["exporters"].as_object().unwrap() {
            let retry = &settings["retry_on_failure"]["max_elapsed_time"];
            assert!(retry.is_null() || retry == "0s", "{name}: {exporter} gives up after {retry}");
            let storage = &settings["sending_queue"]["storage"];
            assert!(
                storage.is_null() || declared("extensions").contains(storage.as_str().unwrap()),
                "{name}: {exporter}"
            );
        }
    }
}

#[test]
fn collectors_in_kubernetes_have_the_ports_and_volumes_that_they_name() {
    for (file, kind, name) in [
        ("kubernetes/collector.yaml", "StatefulSet", "otel-collector"),
        ("kubernetes/tail-sampling.yaml", "Deployment", "otel-balancer"),
        ("kubernetes/tail-sampling.yaml", "Deployment", "otel-sampler"),
    ] {
        let (workload, config) = (of_kind(file, kind, name), of_kind(file, "ConfigMap", name));
        let pod = &workload["spec"]["template"];
        let container = &pod["spec"]["containers"][0];
        let ports: BTreeSet<String> =
            container["ports"].as_array().unwrap().iter().map(|port| format!(":{}", port["containerPort"])).collect();
        let config = yaml(config["data"]["collector.yaml"].as_str().unwrap()).swap_remove(0);
        let mut listened = BTreeSet::new();
        for part in ["receivers", "extensions"] {
            walk(&config[part], "", &mut |path, value| {
                if path.ends_with("/endpoint") {
                    listened.insert(format!(":{}", value.as_str().unwrap().rsplit(':').next().unwrap()));
                }
            });
        }
        let metrics =
            &config["service"]["telemetry"]["metrics"]["readers"][0]["pull"]["exporter"]["prometheus"]["port"];
        listened.insert(format!(":{metrics}"));
        assert_eq!(ports, listened, "{name}");
        assert_eq!(pod["metadata"]["annotations"]["prometheus.io/port"], metrics.to_string(), "{name}");
        if let Value::String(directory) = &config["extensions"]["file_storage"]["directory"] {
            let mounts = container["volumeMounts"].as_array().unwrap();
            assert!(mounts.iter().any(|mount| mount["mountPath"] == directory.as_str()), "{name}: {directory}");
        }
    }
}

/// Returns the grace period and the environment of each container that runs a service.
fn services() -> Vec<(String, Value, BTreeMap<String, Value>)> {
    let mut found = Vec::new();
    for name in names(&[".yaml"]).into_iter().filter(|name| !name.contains("values")) {
        for workload in documents(&name) {
            let is_ours = ["Deployment", "DaemonSet"].iter().any(|kind| workload["kind"] == *kind);
            let pod = &workload["spec"]["template"]["spec"];
            if is_ours && pod["containers"][0]["name"] != "collector" {
                let environment = environment(&pod["containers"][0]["env"]);
                found.push((name.clone(), pod["terminationGracePeriodSeconds"].clone(), environment));
            }
        }
    }
    for name in ["ecs/task-definition.json", "ecs/task-definition-gpu.json"] {
        let task: Value = serde_json::from_str(&text(name)).unwrap();
        let container = &task["containerDefinitions"][0];
        found.push((name.to_owned(), container["stopTimeout"].clone(), environment(&container["environment"])));
    }
    found
}

#[test]
fn a_collector_of_ecs_neither_delays_nor_ends_the_service() {
    let tasks = ["ecs/task-definition.json", "ecs/task-definition-gpu.json"];
    let [plain, gpu] = tasks.map(|name| serde_json::from_str::<Value>(&text(name)).unwrap());
    for task in [&plain, &gpu] {
        let containers = task["containerDefinitions"].as_array().unwrap();
        assert_eq!(
            containers.iter().map(|container| container["essential"] == true).collect::<Vec<_>>(),
            [true, false]
        );
        assert!(containers.iter().all(|container| container["dependsOn"].is_null()));
        for container in containers {
            let options = &container["logConfiguration"]["options"];
            assert_eq!(options["mode"], "non-blocking", "a log driver that blocks stops the service");
            assert!(options["awslogs-group"].is_string() && options["awslogs-region"].is_string(), "{options}");
        }
    }
    assert_eq!(gpu["requiresCompatibilities"], serde_json::json!(["EC2"]), "Fargate has no GPUs");
    assert_eq!(gpu["containerDefinitions"][0]["resourceRequirements"][0]["type"], "GPU");
}

fn environment(list: &Value) -> BTreeMap<String, Value> {
    list.as_array().unwrap().iter().map(|entry| (entry["name"].as_str().unwrap().to_owned(), entry.clone())).collect()
}

#[test]
fn services_have_longer_to_end_than_they_take() {
    let services = services();
    assert_eq!(services.len(), 7, "{services:?}");
    for (name, grace, environment) in services {
        let timeout: u64 = environment["SHUTDOWN_TIMEOUT_MS"]["value"].as_str().unwrap().parse().unwrap();
        let is_other = name.ends_with("rendered/gpu.yaml");
        assert!(is_other || timeout == SHUTDOWN_TIMEOUT_MS, "{name}: the default, said once more");
        assert!(grace.as_u64().unwrap() * 1000 > timeout, "{name}: {grace} s");
        if name.starts_with("ecs/") {
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
        let expected = if name.ends_with("gpu-node.yaml") { "gpu-node" } else { "store" };
        assert_eq!(config.service_name(), Some(expected), "{name}");
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

/// Returns the variables that a shell reads from a file, or the shell's error.
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
    use crate::config::{Secret, TemporalityPreference};

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
    assert_eq!(datadog.settings.metrics.temporality, TemporalityPreference::Delta);
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
    let prometheus = document("prometheus.yml");
    assert_eq!(prometheus["rule_files"][0], "prometheus/rules/*.yaml");
    let mount = "./prometheus/rules:/etc/prometheus/prometheus/rules:ro";
    assert!(services["prometheus"]["volumes"].as_array().unwrap().contains(&Value::String(mount.to_owned())));
    let scraped = &prometheus["scrape_configs"][0];
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
