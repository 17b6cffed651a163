//! foundations with its tracing alone, as its documentation starts it: Jaeger's format over UDP, which is the default, here to a
//! socket of this process that counts datagrams and throws them away. There is one for each span.
//!
//! What sends them is a task on a runtime that runs when it is told to, as nothing else may run while others are measured.

use std::hint::black_box;
use std::net::UdpSocket;
use std::sync::{Mutex, OnceLock};

use foundations::telemetry::settings::{
    ActiveSamplingSettings, JaegerThriftUdpOutputSettings, SamplingStrategy, TelemetrySettings, TracesOutput,
    TracingSettings,
};
use foundations::telemetry::{self, TelemetryConfig};
use tokio::runtime::Runtime;

static OUTPUT: OnceLock<Mutex<Output>> = OnceLock::new();

/// What sends spans, and what gets them.
struct Output {
    runtime: Runtime,
    socket: UdpSocket,
}

/// Samples all traces or none, which is what its ratio is for.
pub fn install(sampled: bool) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_nonblocking(true).expect("a socket that does not wait");
    let server_addr = socket.local_addr().expect("an address");
    let output = TracesOutput::JaegerThriftUdp(JaegerThriftUdpOutputSettings { server_addr, ..Default::default() });
    let sampling_ratio = if sampled { 1.0 } else { 0.0 };
    let sampling_strategy = SamplingStrategy::Active(ActiveSamplingSettings { sampling_ratio, ..Default::default() });
    let tracing = TracingSettings { output, sampling_strategy, ..Default::default() };
    let settings = TelemetrySettings { tracing };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let driver = {
        let _inside = runtime.enter();
        let config = TelemetryConfig { service_info: &foundations::service_info!(), settings: &settings };
        telemetry::init(config).expect("telemetry starts")
    };
    runtime.spawn(driver);
    assert!(OUTPUT.set(Mutex::new(Output { runtime, socket })).is_ok(), "started once");
}

/// Has it send what it has, if it was started.
pub fn flush() {
    if let Some(output) = OUTPUT.get() {
        output.lock().expect("nobody panics while sending").flush();
    }
}

impl Output {
    /// It takes a hundred spans at a time: when nothing more comes for some turns there is nothing left.
    fn flush(&self) {
        let mut turns_without = 0;
        while turns_without < 4 {
            self.runtime.block_on(tokio::task::yield_now());
            turns_without = if self.take() == 0 { turns_without + 1 } else { 0 };
        }
    }

    fn take(&self) -> usize {
        let (mut spans, mut datagram) = (0, [0; 1 << 12]);
        while self.socket.recv(&mut datagram).is_ok() {
            black_box(&datagram);
            spans += 1;
        }
        super::saw(spans);
        spans
    }
}
