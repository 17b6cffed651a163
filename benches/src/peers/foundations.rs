//! foundations with tracing only, set up as in its documentation: Jaeger's format over UDP, the default, to a socket of
//! this process that counts datagrams and discards them. There is one datagram per span. The sending task is on a
//! runtime that runs only on request, because nothing may run while other libraries are measured.

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

/// The sender of spans, and their receiver.
struct Output {
    runtime: Runtime,
    socket: UdpSocket,
}

/// Samples all traces or none: its ratio is 1 or 0.
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

/// Sends pending spans, if it was started.
pub fn flush() {
    if let Some(output) = OUTPUT.get() {
        output.lock().expect("nobody panics while sending").flush();
    }
}

impl Output {
    /// It sends a hundred spans at a time: if nothing arrives for some turns, nothing is left.
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
