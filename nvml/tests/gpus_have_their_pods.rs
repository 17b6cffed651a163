//! Which pod and container a GPU is allocated to, from a fake of the kubelet's pod-resources API on a socket.
#![cfg(unix)]

mod kit;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Response};
use kit::Watched;
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tracecast::testing::Snapshot;
use tracecast_nvml::{Config, Monitor};

/// What the kubelet answers: bytes and a gRPC status.
type Answer = Arc<Mutex<(Vec<u8>, &'static str)>>;

/// A kubelet on a socket, until it is dropped.
struct Kubelet {
    runtime: Option<Runtime>,
    socket: PathBuf,
    answer: Answer,
}

impl Kubelet {
    fn start(name: &str, answer: &[u8]) -> Self {
        let socket = std::env::temp_dir().join(format!("tracecast-{name}-{}.sock", std::process::id()));
        let mut kubelet = Kubelet { runtime: None, socket, answer: Arc::default() };
        kubelet.says(answer, "0");
        kubelet.resume();
        kubelet
    }

    fn says(&self, message: &[u8], status: &'static str) {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        *self.answer.lock().unwrap() = ([&[0], &length[..], message].concat(), status);
    }

    fn stop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
        std::fs::remove_file(&self.socket).unwrap();
    }

    fn resume(&mut self) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = {
            let _entered = runtime.enter();
            UnixListener::bind(&self.socket).unwrap()
        };
        let answer = self.answer.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer.clone()));
            }
        });
        self.runtime = Some(runtime);
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        if self.runtime.is_some() {
            self.stop();
        }
    }
}

async fn serve(stream: tokio::net::UnixStream, answer: Answer) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let (parts, _) = request.into_parts();
        assert_eq!((parts.method, parts.uri.path()), (http::Method::POST, "/v1.PodResourcesLister/List"));
        let (bytes, status) = answer.lock().unwrap().clone();
        let response = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
        let mut body = respond.send_response(response, false).unwrap();
        body.send_data(Bytes::from(bytes), false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", status.parse().unwrap());
        trailers.insert("grpc-message", "as the test says".parse().unwrap());
        body.send_trailers(trailers).unwrap();
    }
}

/// A field of protobuf that is bytes.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let length = value.len();
    let length = if length < 128 { vec![length as u8] } else { vec![length as u8 | 0x80, (length >> 7) as u8] };
    [&[number << 3 | 2], &length[..], value].concat()
}

/// A pod with one container that has these devices.
fn pod(name: &str, resource: &str, ids: &[&str]) -> Vec<u8> {
    let ids: Vec<u8> = ids.iter().flat_map(|id| field(2, id.as_bytes())).collect();
    let devices = [field(1, resource.as_bytes()), ids].concat();
    let container = [field(1, b"main"), field(2, &devices)].concat();
    field(1, &[field(1, name.as_bytes()), field(2, b"models"), field(3, &container)].concat())
}

/// The pods of each GPU or instance, as `uuid namespace/pod/container`.
fn pods(now: &Snapshot) -> Vec<String> {
    let points = now.metric("tc_gpu_pod_info").map(|metric| &*metric.points).unwrap_or_default();
    let mut pods: Vec<_> = points
        .iter()
        .map(|point| {
            let text = |name: &str| {
                let found = point.labels.iter().find(|(own, _)| *own == name);
                found.map(|(_, text)| text.to_string()).unwrap_or_default()
            };
            format!("{} {}/{}/{}", text("uuid"), text("namespace"), text("pod"), text("container"))
        })
        .collect();
    pods.sort();
    pods
}

fn start(kubelet: &Kubelet) -> (Watched, Monitor) {
    let watched = Watched::new();
    let config = Config::default().with_interval(kit::INTERVAL / 5).with_gpus(false).with_host(false);
    (watched, tracecast_nvml::start(config.with_pod_resources(&kubelet.socket)))
}

#[test]
fn gpus_and_instances_have_the_pods_that_they_are_allocated_to() {
    let shared = pod("shared", "nvidia.com/gpu.shared", &["GPU-c::0", "GPU-c::1"]);
    let answer = [
        pod("train", "nvidia.com/gpu", &["GPU-a", "GPU-b"]),
        pod("serve", "nvidia.com/mig-1g.10gb", &["MIG-d"]),
        shared,
        pod("other", "example.com/nic", &["GPU-z"]),
    ];
    let kubelet = Kubelet::start("pods", &answer.concat());
    let (mut watched, monitor) = start(&kubelet);
    let all =
        ["GPU-a models/train/main", "GPU-b models/train/main", "GPU-c models/shared/main", "MIG-d models/serve/main"];
    watched.until("all are there", |now| pods(now) == all);
    // One pod is gone, and its GPUs have another.
    kubelet
        .says(&[pod("serve", "nvidia.com/gpu", &["GPU-a"]), pod("train2", "nvidia.com/gpu", &["GPU-b"])].concat(), "0");
    watched.until("they have others", |now| pods(now) == ["GPU-a models/serve/main", "GPU-b models/train2/main"]);
    monitor.shutdown();
    watched.until("nothing is said after the end", |now| pods(now).is_empty());
}

#[test]
fn a_kubelet_that_does_not_answer_is_a_gap_and_one_line() {
    let answer = pod("train", "nvidia.com/gpu", &["GPU-a"]);
    let mut kubelet = Kubelet::start("gone", &answer);
    let (mut watched, _monitor) = start(&kubelet);
    watched.until("it is there", |now| pods(now) == ["GPU-a models/train/main"]);
    kubelet.stop();
    watched.until("it is a gap", |now| pods(now).is_empty());
    assert_eq!(kit::logged("does not answer").len(), 1, "{:?}", kit::logged(""));
    kubelet.resume();
    watched.until("it is back", |now| pods(now) == ["GPU-a models/train/main"]);
    kubelet.says(&answer, "7");
    watched.until("it is refused", |now| pods(now).is_empty());
    assert_eq!(kit::logged("gRPC status 7: as the test says").len(), 1, "{:?}", kit::logged(""));
    kubelet.says(&answer, "0");
    watched.until("it is allowed", |now| pods(now) == ["GPU-a models/train/main"]);
    kubelet.says(b"\xff\xff\xff", "0");
    watched.until("nonsense is a gap", |_| !kit::logged("its answer is not a list of pods").is_empty());
    assert_eq!(pods(&watched.snapshot()), Vec::<String>::new());
    kubelet.says(&answer, "0");
    watched.until("it is back again", |now| pods(now) == ["GPU-a models/train/main"]);
}
