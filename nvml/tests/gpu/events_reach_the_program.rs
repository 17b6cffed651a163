//! A program reads the newest sample of each GPU, and its handler is called for XIDs, losses, hangs and recoveries.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tracecast_nvml::{Config, Gpu, GpuEvent, GpuEventKind, GpuState};
use tracecast_nvml_fake::Fake;

use crate::kit::{Bench, LONGEST, logged, of, up, value, xids};

const UUID: &str = "GPU-00000001-fa4e-4000-8000-000000000000";

/// A bench whose handler sends each event here.
fn with_events(script: &str) -> (Bench, Receiver<GpuEvent>) {
    let (sender, events) = channel();
    let handler = move |event| sender.send(event).unwrap();
    (Bench::with(Fake::new(script).unwrap(), |config| config.with_event_handler(handler)), events)
}

/// The newest view of a GPU once this holds.
fn until(bench: &Bench, gpu: u32, holds: impl Fn(&Gpu) -> bool) -> Gpu {
    let start = Instant::now();
    loop {
        let gpus = bench.monitor.as_ref().unwrap().gpus();
        if let Some(found) = gpus.iter().find(|of| of.gpu == gpu && holds(of)) {
            return found.clone();
        }
        assert!(start.elapsed() < LONGEST, "there is {gpus:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn next(events: &Receiver<GpuEvent>) -> (u32, GpuEventKind) {
    let event = events.recv_timeout(LONGEST).unwrap();
    (event.gpu, event.kind)
}

#[test]
fn the_newest_sample_is_there_in_units_of_the_metrics() {
    let bench = Bench::new(
        "gpu1.utilization = 87; gpu1.memory_used = 600; gpu1.memory_total = 1000; gpu1.temperature = 61
         gpu1.power = 250500; gpu1.power_limit = 700000; gpu1.clock_sm = 1980; gpu1.processes = 2",
    );
    let gpu = until(&bench, 1, |gpu| gpu.state == GpuState::Up);
    assert_eq!((gpu.uuid.as_deref(), gpu.model.as_deref()), (Some(UUID), Some("NVIDIA Fake 80GB")));
    assert_eq!(gpu.pci_bus_id.as_deref(), Some("00000000:02:00.0"));
    assert_eq!((gpu.utilization_percent, gpu.temperature_celsius), (Some(87.0), Some(61.0)));
    assert_eq!((gpu.memory_used_bytes, gpu.memory_size_bytes), (Some(600), Some(1000)));
    assert_eq!((gpu.power_watts, gpu.power_limit_watts), (Some(250.5), Some(700.0)));
    assert_eq!((gpu.clock_sm_hertz, gpu.compute_processes), (Some(1.98e9), Some(2)));
    assert!(gpu.age.is_some_and(|age| age < LONGEST));
    until(&bench, 0, |gpu| gpu.state == GpuState::Up);
    let gpus = bench.monitor.as_ref().unwrap().gpus();
    assert_eq!(gpus.iter().map(|gpu| gpu.gpu).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn values_of_a_gpu_that_does_not_answer_are_absent_here_too() {
    let (mut bench, events) = with_events("");
    until(&bench, 1, |gpu| gpu.state == GpuState::Up && gpu.power_watts.is_some());
    bench.fake.script("gpu1.fail = 15").unwrap();
    let gpu = until(&bench, 1, |gpu| gpu.state == GpuState::Lost);
    let tries = |now: &_| value(now, "tc_nvml_errors_total", &[("error", "gpu_lost")]).unwrap_or_default();
    bench.until("it is looked for again", |now| tries(now) >= 4.0);
    assert_eq!((gpu.power_watts, gpu.uuid.as_deref(), gpu.age.is_some()), (None, Some(UUID), true));
    bench.fake.script("gpu1.power = 5000").unwrap();
    until(&bench, 1, |gpu| gpu.state == GpuState::Up && gpu.power_watts == Some(5.0));
    let event = events.recv_timeout(LONGEST).unwrap();
    assert_eq!((event.gpu, event.uuid.as_deref()), (1, Some(UUID)));
    assert_eq!(event.kind, GpuEventKind::Lost { error: "gpu_lost" });
    assert_eq!(next(&events), (1, GpuEventKind::Recovered));
    // The attempts to find it were no events.
    drop(bench);
    assert_eq!(events.iter().count(), 0);
}

#[test]
fn a_gpu_that_sleeps_is_asleep_and_has_no_values() {
    let (bench, status) = Bench::that_can_sleep(1, "");
    until(&bench, 1, |gpu| gpu.state == GpuState::Up);
    status("suspended\n");
    let gpu = until(&bench, 1, |gpu| gpu.state == GpuState::Asleep);
    assert_eq!(gpu.power_watts, None);
    status("active\n");
    until(&bench, 1, |gpu| gpu.state == GpuState::Up && gpu.power_watts.is_some());
}

#[test]
fn a_hung_gpu_is_an_event_and_a_log_line_once() {
    let (mut bench, events) = with_events("");
    until(&bench, 1, |gpu| gpu.state == GpuState::Up);
    bench.fake.script("gpu1.hang = 3600").unwrap();
    assert_eq!(next(&events), (1, GpuEventKind::Hung));
    until(&bench, 1, |gpu| gpu.state == GpuState::Hung && gpu.power_watts.is_none());
    // The watching thread looks at it many times more.
    assert!(bench.through_samples_of(0, "gpu1.hang = 3600", |now| up(now, "1") == Some(0.0)));
    bench.fake.script("").unwrap();
    assert_eq!(next(&events), (1, GpuEventKind::Recovered));
    // The line is written after the event is queued.
    bench.until("its return is logged", |_| logged("GPU 1").len() > 1);
    bench.monitor.take().unwrap().shutdown();
    assert_eq!(events.iter().count(), 0);
    let lines = logged("GPU 1");
    assert!(matches!(&lines[..], [hung, back] if hung.contains("hangs") && back.contains("again")), "{lines:?}");
}

#[test]
fn a_gpu_that_hangs_and_then_fails_is_hung_then_lost_then_recovered() {
    let (bench, events) = with_events("");
    until(&bench, 1, |gpu| gpu.state == GpuState::Up);
    bench.fake.script("gpu1.hang = 3600").unwrap();
    assert_eq!(next(&events), (1, GpuEventKind::Hung));
    bench.fake.script("gpu1.fail = 16").unwrap();
    assert_eq!(next(&events), (1, GpuEventKind::Lost { error: "reset_required" }));
    bench.fake.script("").unwrap();
    assert_eq!(next(&events), (1, GpuEventKind::Recovered));
}

#[test]
fn an_xid_is_an_event_with_its_number_gpu_and_time() {
    let (mut bench, events) = with_events("");
    let number = bench.until_watched(1, "");
    bench.fake.script(&format!("xid = {number}:1:79 {}:1:4711", number + 1)).unwrap();
    bench.until("both are counted", |now| xids(now, "1", "79").is_some() && xids(now, "1", "other").is_some());
    let seen = || events.recv_timeout(LONGEST).unwrap();
    let event = std::iter::repeat_with(seen).find(|event| event.kind != GpuEventKind::Xid(13)).unwrap();
    assert_eq!((event.gpu, event.uuid.as_deref(), event.kind), (1, Some(UUID), GpuEventKind::Xid(79)));
    assert!(event.time.elapsed().unwrap() < LONGEST);
    assert_eq!(next(&events), (1, GpuEventKind::Xid(4711)));
}

#[test]
fn a_handler_that_panics_is_called_again() {
    let (sender, events) = channel();
    let handler = move |event: GpuEvent| {
        sender.send(event.kind).unwrap();
        panic!("a mistake of the program");
    };
    let bench = Bench::with(Fake::new("").unwrap(), |config| config.with_event_handler(handler));
    until(&bench, 0, |gpu| gpu.state == GpuState::Up);
    bench.fake.script("gpu0.fail = 15").unwrap();
    assert_eq!(events.recv_timeout(LONGEST).unwrap(), GpuEventKind::Lost { error: "gpu_lost" });
    bench.fake.script("").unwrap();
    assert_eq!(events.recv_timeout(LONGEST).unwrap(), GpuEventKind::Recovered);
    until(&bench, 0, |gpu| gpu.state == GpuState::Up);
}

/// Waits in the handler until it is opened.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        drop(self.changed.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

#[test]
fn a_handler_that_waits_loses_xids_before_losses_and_holds_up_nothing() {
    let (sender, events) = channel();
    let gate = Arc::new(Gate::default());
    let waiting = gate.clone();
    let handler = move |event: GpuEvent| {
        sender.send(event.kind).unwrap();
        waiting.pass();
    };
    let mut bench = Bench::with(Fake::new("").unwrap(), |config| config.with_event_handler(handler));
    let dropped = |now: &_| value(now, "tc_gpu_events_dropped_total", &[]).unwrap_or_default();
    let before = dropped(&bench.watched.snapshot());
    // The handler waits with the first event, and the loss of the other GPU is next in the queue.
    let first = bench.until_watched(1, "");
    bench.fake.script("gpu0.fail = 15").unwrap();
    bench.until("it is lost", |now| up(now, "0") == Some(0.0));
    let storm: String = (first..first + 400).map(|number| format!(" {number}:1:94")).collect();
    bench.fake.script(&format!("gpu0.fail = 15; xid ={storm}")).unwrap();
    bench.until("all are counted", |now| xids(now, "1", "94") == Some(400.0));
    let snapshot = bench.until("some are dropped", |now| dropped(now) > before);
    assert!(bench.through_samples_of(1, "gpu0.fail = 15", |now| up(now, "1") == Some(1.0)));
    let lost = dropped(&snapshot) - before;
    gate.open();
    // 256 of the queue, after the one that the handler waited with.
    let received: Vec<_> = (0..257).map(|_| events.recv_timeout(LONGEST).unwrap()).collect();
    assert!(received.contains(&GpuEventKind::Lost { error: "gpu_lost" }), "{received:?}");
    // All that came was received or counted as dropped.
    let came = 400.0 + xids(&snapshot, "1", "13").unwrap() + 1.0;
    assert_eq!(received.len() as f64 + lost, came);
    assert_eq!(logged("handler").len(), 1);
    assert_eq!(of(&snapshot, "tc_nvml_call_stuck_seconds", "1").unwrap_or_default(), 0.0);
}

#[test]
fn a_handler_that_never_returns_does_not_keep_the_monitor_from_ending() {
    let (sender, events) = channel();
    let gate = Arc::new(Gate::default());
    let waiting = gate.clone();
    let handler = move |event: GpuEvent| {
        sender.send(event.kind).unwrap();
        waiting.pass();
    };
    let mut bench = Bench::with(Fake::new("").unwrap(), |config| config.with_event_handler(handler));
    until(&bench, 0, |gpu| gpu.state == GpuState::Up);
    bench.fake.script("gpu0.fail = 15").unwrap();
    events.recv_timeout(LONGEST).unwrap();
    bench.fake.script("gpu0.power = 3000").unwrap();
    until(&bench, 0, |gpu| gpu.power_watts == Some(3.0));
    let start = Instant::now();
    bench.monitor.take().unwrap().shutdown();
    assert!(start.elapsed() < Duration::from_secs(10));
    gate.open();
    // The recovery was in the queue; after the end the handler is not called.
    assert_eq!(events.iter().count(), 0);
}

#[test]
fn a_second_monitor_has_no_gpus_and_no_events() {
    let bench = Bench::new("");
    until(&bench, 0, |gpu| gpu.state == GpuState::Up);
    let second = tracecast_nvml::start(Config::default().with_event_handler(|event| panic!("{event:?}")));
    assert!(second.gpus().is_empty());
}
