//! The resource: attributes of the process that all its telemetry carries.
//!
//! Command lines are never read. Of the environment, only variables that are meant to describe the process are read,
//! because other variables may hold secrets.

use std::path::Path;

use crate::config::Config;
use crate::declare::value::OwnedValue;
use crate::encode::resource::EncodedResource;
use crate::record::ids;

/// The sources of attributes: the environment and the file system, or replacements in tests.
struct Surroundings<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: &'a dyn Fn(&str) -> Option<String>,
    executable: Option<String>,
}

type Attributes = Vec<(&'static str, OwnedValue)>;

/// Makes the resource: configured attributes take precedence over detected ones. The redaction hook is applied to all.
pub(crate) fn describe(config: &Config) -> EncodedResource {
    let around = Surroundings {
        // An empty variable counts as not set.
        variable: &|name| std::env::var(name).ok().filter(|value| !value.is_empty()),
        file: &|path| std::fs::read_to_string(path).ok(),
        executable: executable(),
    };
    let configured = config.settings.resource.attributes.iter();
    let mut attributes: Vec<(String, OwnedValue)> =
        configured.map(|(name, value)| (name.clone(), (**value).clone())).collect();
    if config.service_name().is_none() {
        attributes.push(("service.name".to_owned(), fallback_service_name(&around).into()));
    }
    for (name, found) in detect(&around) {
        if !attributes.iter().any(|(known, _)| known == name) {
            attributes.push((name.to_owned(), found));
        }
    }
    if let Some(redact) = &config.redact {
        attributes.iter_mut().for_each(|(name, value)| redact.attribute(name, value));
    }
    let resource = EncodedResource::new(&attributes);
    match &config.settings.resource.schema_url {
        Some(url) => resource.with_schema_url(url),
        None => resource,
    }
}

/// Returns the configured name of the service. Without one, returns `unknown_service`, followed by the file name of the
/// program.
#[cfg(has_logs)]
pub(crate) fn service_name(config: &Config) -> String {
    let around = Surroundings { variable: &|_| None, file: &|_| None, executable: executable() };
    config.service_name().map_or_else(|| fallback_service_name(&around), str::to_owned)
}

/// Detects the attributes of this process, except the name of its service.
fn detect(around: &Surroundings<'_>) -> Attributes {
    let mut attributes = sdk();
    attributes.push(("service.instance.id", OwnedValue::from(random_uuid())));
    attributes.extend(process(around));
    attributes.extend(host(around));
    attributes.extend(container(around).map(|id| ("container.id", OwnedValue::from(id))));
    attributes.extend(kubernetes(around));
    attributes
}

/// Returns the name of a service that has no configured name: `unknown_service`, followed by the file name of the
/// program if that is known.
fn fallback_service_name(around: &Surroundings<'_>) -> String {
    match &around.executable {
        Some(executable) => format!("unknown_service:{executable}"),
        None => "unknown_service".to_owned(),
    }
}

/// Returns the file name of the running program; `None` if it is unknown or not UTF-8.
fn executable() -> Option<String> {
    let path = std::env::current_exe().ok()?;
    Path::new(&path).file_name()?.to_str().map(str::to_owned)
}

fn sdk() -> Attributes {
    let text = |text: &str| OwnedValue::from(text);
    vec![
        ("telemetry.sdk.name", text("tracecast")),
        ("telemetry.sdk.language", text("rust")),
        ("telemetry.sdk.version", text(env!("CARGO_PKG_VERSION"))),
    ]
}

fn process(around: &Surroundings<'_>) -> Attributes {
    let mut attributes = vec![("process.pid", OwnedValue::I64(i64::from(std::process::id())))];
    attributes.extend(around.executable.clone().map(|name| ("process.executable.name", OwnedValue::from(name))));
    attributes
}

fn host(around: &Surroundings<'_>) -> Attributes {
    let name = (around.file)("/proc/sys/kernel/hostname").or_else(|| (around.variable)("HOSTNAME"));
    let mut attributes: Attributes = named("host.name", name);
    attributes.push(("host.arch", OwnedValue::from(architecture(std::env::consts::ARCH))));
    attributes.push(("os.type", OwnedValue::from(system(std::env::consts::OS))));
    attributes
}

/// Makes an attribute with the trimmed value; none if the value is missing or empty.
fn named(key: &'static str, value: Option<String>) -> Attributes {
    let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    value.map(|value| (key, OwnedValue::from(value))).into_iter().collect()
}

/// Translates Rust's name of an architecture to that of the semantic conventions.
fn architecture(name: &str) -> &str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "arm" => "arm32",
        "powerpc" => "ppc32",
        "powerpc64" => "ppc64",
        other => other,
    }
}

/// Translates Rust's name of an operating system to that of the semantic conventions.
fn system(name: &str) -> &str {
    match name {
        "macos" => "darwin",
        other => other,
    }
}

/// Finds the container's id: the last part of a cgroup's path or, where the container cannot see its cgroups, part of
/// the path from which `hostname` or `resolv.conf` is mounted.
fn container(around: &Surroundings<'_>) -> Option<String> {
    let cgroups = (around.file)("/proc/self/cgroup").unwrap_or_default();
    let of_cgroup = cgroups.lines().filter_map(|line| line.rsplit('/').next()).find_map(container_id);
    of_cgroup.or_else(|| {
        let mounts = (around.file)("/proc/self/mountinfo").unwrap_or_default();
        let files = mounts.lines().filter(|line| line.contains("/hostname") || line.contains("/resolv.conf"));
        files.flat_map(|line| line.split(['/', ' '])).find_map(container_id)
    })
}

/// Extracts the id from `docker-<id>.scope`, `cri-containerd-<id>.scope`, `crio-<id>` or `<id>`.
fn container_id(part: &str) -> Option<String> {
    let part = part.trim().trim_end_matches(".scope");
    let id = part.rsplit(['-', ':']).next()?;
    let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_ascii_lowercase())
}

/// Attributes, and the environment variables in which pod specifications usually pass their values from the downward
/// API. The first variable that is set is used.
const DOWNWARD: [(&str, [&str; 2]); 7] = [
    ("k8s.pod.name", ["K8S_POD_NAME", "POD_NAME"]),
    ("k8s.pod.uid", ["K8S_POD_UID", "POD_UID"]),
    ("k8s.namespace.name", ["K8S_NAMESPACE_NAME", "POD_NAMESPACE"]),
    ("k8s.node.name", ["K8S_NODE_NAME", "NODE_NAME"]),
    ("k8s.container.name", ["K8S_CONTAINER_NAME", "CONTAINER_NAME"]),
    ("k8s.deployment.name", ["K8S_DEPLOYMENT_NAME", "DEPLOYMENT_NAME"]),
    ("k8s.cluster.name", ["K8S_CLUSTER_NAME", "CLUSTER_NAME"]),
];
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

fn kubernetes(around: &Surroundings<'_>) -> Attributes {
    // Outside of a cluster, names such as `NODE_NAME` may have another meaning.
    if (around.variable)("KUBERNETES_SERVICE_HOST").is_none() {
        return Vec::new();
    }
    let found = |(key, names): &(&'static str, [&str; 2])| {
        let mut value = names.iter().find_map(|name| (around.variable)(name));
        if value.is_none() && *key == "k8s.namespace.name" {
            value = (around.file)(NAMESPACE_FILE);
        }
        if value.is_none() && *key == "k8s.pod.name" {
            value = (around.variable)("HOSTNAME");
        }
        named(key, value)
    };
    DOWNWARD.iter().flat_map(found).collect()
}

/// Makes a UUID of version 4.
fn random_uuid() -> String {
    let mut bytes = (u128::from(ids::random()) << 64 | u128::from(ids::random())).to_ne_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f4e5a6b7c8d9e0f3f4e5a6b7c8d9e0f3f4e5a6b7c8d9e0f3f4e5a6b7c8d9e0f";

    fn found(variables: &[(&str, &str)], files: &[(&str, String)], key: &str) -> Option<String> {
        let around = Surroundings {
            variable: &|name| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()),
            file: &|path| files.iter().find(|(known, _)| *known == path).map(|(_, text)| text.clone()),
            executable: Some("daemon".to_owned()),
        };
        detect(&around).into_iter().find(|(known, _)| *known == key).map(|(_, value)| match value {
            OwnedValue::Str(text) => text.into_owned(),
            OwnedValue::I64(number) => number.to_string(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn containers_of_every_runtime_and_both_versions_of_cgroups() {
        let cgroup = |line: &str| found(&[], &[("/proc/self/cgroup", format!("{line}\n"))], "container.id");
        for line in [
            format!("12:memory:/docker/{ID}"),
            format!("1:name=systemd:/kubepods/burstable/pod2f5e/{ID}"),
            format!("0::/kubepods.slice/kubepods-pod12.slice/cri-containerd-{ID}.scope"),
            format!("0::/system.slice/docker-{ID}.scope"),
            format!("0::/kubepods/pod1/crio-{ID}"),
            format!("10:cpuset:/kubepods/pod1/cri-containerd:{ID}"),
        ] {
            assert_eq!(cgroup(&line).as_deref(), Some(ID), "{line}");
        }
        for line in ["0::/", "0::/user.slice/user-1000.slice/session-2.scope", "garbage", ""] {
            assert_eq!(cgroup(line), None, "{line}");
        }
        let mounts =
            format!("612 585 8:1 /var/lib/docker/containers/{ID}/hostname /etc/hostname rw - ext4 /dev/sda1 rw\n");
        let files = [("/proc/self/cgroup", "0::/\n".to_owned()), ("/proc/self/mountinfo", mounts)];
        assert_eq!(found(&[], &files, "container.id").as_deref(), Some(ID));
    }

    #[test]
    fn kubernetes_only_inside_of_it() {
        let variables = [("NODE_NAME", "gpu-7"), ("POD_NAME", "store-0"), ("HOSTNAME", "store-0")];
        assert_eq!(found(&variables, &[], "k8s.node.name"), None);
        let inside = [&variables[..], &[("KUBERNETES_SERVICE_HOST", "10.0.0.1")]].concat();
        assert_eq!(found(&inside, &[], "k8s.node.name").as_deref(), Some("gpu-7"));
        assert_eq!(found(&inside, &[], "k8s.namespace.name"), None);
        let files = [(NAMESPACE_FILE, "tensors\n".to_owned())];
        assert_eq!(found(&inside, &files, "k8s.namespace.name").as_deref(), Some("tensors"));
        let unnamed = [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("HOSTNAME", "store-1")];
        assert_eq!(found(&unnamed, &[], "k8s.pod.name").as_deref(), Some("store-1"));
    }

    #[test]
    fn host_process_and_sdk() {
        let files = [("/proc/sys/kernel/hostname", "node-3\n".to_owned())];
        assert_eq!(found(&[("HOSTNAME", "other")], &files, "host.name").as_deref(), Some("node-3"));
        assert_eq!(found(&[("HOSTNAME", "other")], &[], "host.name").as_deref(), Some("other"));
        assert_eq!(found(&[], &[], "host.name"), None);
        assert_eq!(found(&[], &[], "process.executable.name").as_deref(), Some("daemon"));
        assert_eq!(found(&[], &[], "process.pid"), Some(std::process::id().to_string()));
        assert_eq!(found(&[], &[], "telemetry.sdk.name").as_deref(), Some("tracecast"));
        assert_eq!((architecture("x86_64"), architecture("riscv64"), system("macos")), ("amd64", "riscv64", "darwin"));
    }

    #[test]
    fn instances_have_random_ids() {
        let [one, two] = [random_uuid(), random_uuid()];
        assert_ne!(one, two);
        let parts: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(one.as_bytes()[14], b'4', "{one}");
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
    }

    #[test]
    fn a_service_without_a_name() {
        let around = |executable: Option<&str>| Surroundings {
            variable: &|_| None,
            file: &|_| None,
            executable: executable.map(str::to_owned),
        };
        assert_eq!(fallback_service_name(&around(Some("daemon"))), "unknown_service:daemon");
        assert_eq!(fallback_service_name(&around(None)), "unknown_service");
    }
}
