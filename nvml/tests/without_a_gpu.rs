//! A test of a program that uses GPUs, on a machine without one. The book shows it.

// ANCHOR: test
use std::sync::mpsc::channel;
use std::time::Duration;

use tracecast_nvml::{Config, GpuEventKind};
use tracecast_nvml_fake::Fake;

#[test]
fn a_gpu_that_falls_off_the_bus_is_reported() {
    let fake = Fake::new("gpus = 2; gpu1.memory_used = 1000").unwrap();
    let (sender, events) = channel();
    let config = Config::default()
        .with_library(fake.library())
        .with_devices(["0", "1"])
        .with_interval(Duration::from_millis(50))
        .with_event_handler(move |event| sender.send(event).unwrap());
    let monitor = tracecast_nvml::start(config);
    while !monitor.gpus().iter().any(|gpu| gpu.memory_used_bytes == Some(1000)) {
        std::thread::yield_now();
    }

    fake.script("gpus = 2; gpu1.fail = 15").unwrap(); // NVML_ERROR_GPU_IS_LOST
    let event = events.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!((event.gpu, event.kind), (1, GpuEventKind::Lost { error: "gpu_lost" }));

    fake.script("gpus = 2").unwrap();
    let event = events.recv_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!((event.gpu, event.kind), (1, GpuEventKind::Recovered));
}
// ANCHOR_END: test
