//! Labels belong to UUIDs: a GPU that changes its index is followed. A program of its own, because labels are assigned for the
//! life of a process.

mod kit;

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use kit::{Bench, LONGEST, is_described, of, up, value, xids};
use tracecast::tc_span;
use tracecast::testing::{Snapshot, capture};
use tracecast_nvml::{Config, Gpu, GpuEventKind, GpuState, Names};
use tracecast_nvml_fake::Fake;

/// Two GPUs of all tests here. The first test assigns their labels 0 and 1.
const A: &str = "GPU-00000000-fa4e-4000-8000-000000000000";
const B: &str = "GPU-00000001-fa4e-4000-8000-000000000000";
/// The driver was loaded again, and has both under each other's index.
const SWAPPED: &str = "generation = 2; gpu0.uuid = GPU-00000001-fa4e-4000-8000-000000000000
    gpu1.uuid = GPU-00000000-fa4e-4000-8000-000000000000";

fn start(script: &str, change: impl FnOnce(Config) -> Config) -> Bench {
    // Whichever test is first.
    {
        let mut bench = Bench::new("");
        bench.until("labels are assigned", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    }
    Bench::with(Fake::new(script).unwrap(), change)
}

fn power(now: &Snapshot, gpu: &str) -> Option<f64> {
    of(now, "tc_gpu_power_watts", gpu)
}

fn index(now: &Snapshot, gpu: &str, index: &str) -> Option<f64> {
    is_described(now, gpu, "index", index).then_some(1.0)
}

fn view(bench: &Bench, uuid: &str) -> Option<Gpu> {
    bench.monitor.as_ref().unwrap().gpus().into_iter().find(|gpu| gpu.uuid.as_deref() == Some(uuid))
}

/// The GPU with this UUID once this holds.
fn until(bench: &Bench, uuid: &str, holds: impl Fn(&Gpu) -> bool) -> Gpu {
    let start = Instant::now();
    loop {
        if let Some(gpu) = view(bench, uuid).filter(&holds) {
            return gpu;
        }
        assert!(start.elapsed() < LONGEST, "there is {:?}", bench.monitor.as_ref().unwrap().gpus());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_gpu_selected_by_its_uuid_is_followed_to_another_index_and_back() {
    let mut bench = start("gpu0.power = 1000; gpu0.energy = 5000", |config| config.with_devices(["GPU-00000000"]));
    let joules = |now: &_| of(now, "tc_gpu_energy_joules_total", "0");
    bench.until("it is up", |now| power(now, "0") == Some(1.0) && index(now, "0", "0") == Some(1.0));
    let swapped = format!("{SWAPPED}; gpu0.power = 8000; gpu0.energy = 800000; gpu1.power = 2000; gpu1.energy = 7000");
    bench.fake.script(&swapped).unwrap();
    let snapshot = bench.until("it is found", |now| power(now, "0") == Some(2.0) && joules(now) == Some(2.0));
    assert_eq!((index(&snapshot, "0", "0"), index(&snapshot, "0", "1")), (None, Some(1.0)));
    assert_eq!((up(&snapshot, "1"), power(&snapshot, "1")), (None, None));
    let gpu = until(&bench, A, |gpu| gpu.state == GpuState::Up);
    assert_eq!((gpu.gpu, gpu.index), (0, Some(1)));
    bench.fake.script("generation = 3; gpu0.power = 3000; gpu0.energy = 9000; gpu1.power = 9000").unwrap();
    let snapshot = bench.until("it is back", |now| power(now, "0") == Some(3.0) && joules(now) == Some(4.0));
    assert_eq!((index(&snapshot, "0", "0"), index(&snapshot, "0", "1")), (Some(1.0), None));
    assert_eq!(up(&snapshot, "1"), None);
}

#[test]
fn a_gpu_selected_by_its_uuid_is_found_after_it_was_unplugged() {
    let mut bench = start("gpus = 2", |config| config.with_devices([B]));
    bench.until("it is up", |now| up(now, "1") == Some(1.0) && up(now, "0").is_none());
    bench.fake.script("gpus = 1").unwrap();
    bench.until("it is gone", |now| up(now, "1") == Some(0.0));
    bench.fake.script(&format!("gpus = 1; gpu0.uuid = {B}; gpu0.power = 4000; generation = 2")).unwrap();
    bench.until("it is seen at another index", |now| power(now, "1") == Some(4.0) && up(now, "1") == Some(1.0));
}

#[test]
fn all_gpus_keep_their_labels_when_their_indices_change() {
    for names in [Names::Tracecast, Names::SemanticConventions] {
        let mut bench = start("gpu0.clock_sm = 1; gpu1.clock_sm = 2", |config| config.with_names(names));
        // The clock has the same name in both styles.
        let clock = |now: &_, gpu| value(now, "tc_gpu_clock_hertz", &[("gpu", gpu), ("clock", "sm")]);
        bench.until("both are up", |now| clock(now, "0") == Some(1e6) && clock(now, "1") == Some(2e6));
        bench.fake.script(&format!("{SWAPPED}; gpu0.clock_sm = 3; gpu1.clock_sm = 4; gpu1.power = 5000")).unwrap();
        let snapshot =
            bench.until("both are followed", |now| clock(now, "0") == Some(4e6) && clock(now, "1") == Some(3e6));
        assert_eq!((index(&snapshot, "0", "1"), index(&snapshot, "1", "0")), (Some(1.0), Some(1.0)));
        assert!(is_described(&snapshot, "0", "uuid", A));
        assert_eq!(snapshot.metric("tc_gpu_info").unwrap().points.len(), 2);
        if names == Names::SemanticConventions {
            assert_eq!(value(&snapshot, "hw.power", &[("hw.id", A), ("hw.type", "gpu")]), Some(5.0));
        }
    }
}

#[test]
fn an_index_selects_whichever_gpu_is_there() {
    let mut bench = start("", |config| config.with_devices(["0"]));
    bench.until("it is up", |now| up(now, "0") == Some(1.0) && up(now, "1").is_none());
    bench.fake.script(SWAPPED).unwrap();
    bench.until("the other is there, and nothing is said of the first", |now| {
        up(now, "1") == Some(1.0) && up(now, "0").is_none()
    });
    assert!(view(&bench, A).is_none());
}

#[test]
fn a_gpu_that_replaces_another_has_a_label_of_its_own() {
    let mut bench = start("gpu0.energy = 5000", |config| config);
    let joules = |now: &_, gpu: u32| of(now, "tc_gpu_energy_joules_total", &gpu.to_string());
    bench.until("it counts from here", |now| joules(now, 0) == Some(0.0));
    bench.fake.script("generation = 2; gpu0.energy = 900000; gpu0.uuid = GPU-new").unwrap();
    let new = until(&bench, "GPU-new", |gpu| gpu.state == GpuState::Up);
    assert!(new.gpu > 1 && new.index == Some(0), "{new:?}");
    assert_eq!(until(&bench, A, |gpu| gpu.state == GpuState::Lost).index, None);
    bench.until("it counts from 0", |now| joules(now, new.gpu) == Some(0.0) && up(now, "0") == Some(0.0));
    bench.fake.script("generation = 2; gpu0.energy = 901000; gpu0.uuid = GPU-new").unwrap();
    let snapshot = bench.until("it grows", |now| joules(now, new.gpu) == Some(1.0));
    assert_eq!(joules(&snapshot, 0), Some(0.0));
}

#[test]
fn a_late_answer_for_the_old_index_changes_nothing() {
    let (sender, events) = channel();
    let handler = move |event| sender.send(event).unwrap();
    let mut bench = start("", |config| config.with_event_handler(handler));
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script("gpu0.hang = 3600").unwrap();
    bench.until("it hangs", |now| up(now, "0") == Some(0.0));
    // The call for index 0 still hangs.
    let moved = format!("generation = 2; gpus = 2; gpu1.uuid = {A}; gpu1.power = 6000");
    bench.fake.script(&format!("{moved}; gpu0.hang = 3600")).unwrap();
    bench.until("it is found at the other index", |now| power(now, "0") == Some(6.0) && up(now, "1") == Some(0.0));
    bench.fake.script(&format!("{moved}; gpu0.uuid = {B}")).unwrap();
    bench.until("both are up", |now| power(now, "0") == Some(6.0) && up(now, "1") == Some(1.0));
    // Events are in order: all of GPU 0 are before this one.
    let next = || events.recv_timeout(LONGEST).unwrap();
    let until_back = std::iter::repeat_with(next)
        .take_while(|event| (event.gpu, event.kind) != (1, GpuEventKind::Recovered))
        .collect::<Vec<_>>();
    bench.monitor.take().unwrap().shutdown();
    let of_first: Vec<_> =
        until_back.into_iter().chain(events.iter()).filter(|event| event.gpu == 0).map(|event| event.kind).collect();
    assert_eq!(of_first, [GpuEventKind::Hung, GpuEventKind::Recovered]);
}

#[tc_span("Worker/Run")]
fn run(device: impl tracecast_nvml::DeviceId, work: impl FnOnce()) {
    let _on_device = tracecast_nvml::on_device(device);
    work();
}

#[test]
fn xids_and_spans_follow_a_gpu() {
    let mut bench = start("", |config| config);
    bench.until("both are up", |now| up(now, "0") == Some(1.0) && up(now, "1") == Some(1.0));
    bench.fake.script(SWAPPED).unwrap();
    bench.until("both are followed", |now| index(now, "0", "1") == Some(1.0) && index(now, "1", "0") == Some(1.0));
    // Index 1 is GPU 0 by now.
    let script = |number| format!("{SWAPPED}; xid = {number}:1:13");
    let next = bench.until_reported(1, script, |now| xids(now, "0", "13").is_some());
    let captured = capture(|| {
        run(1, || {
            run("GPU-00000000", || {
                run(0, || {
                    bench.fake.script(&format!("{SWAPPED}; xid = {next}:1:79")).unwrap();
                    bench.until("it is counted", |now| xids(now, "0", "79").is_some());
                });
            });
        });
        run("GPU-unknown", || {});
    });
    let snapshot = bench.watched.snapshot();
    assert_eq!((xids(&snapshot, "1", "13"), xids(&snapshot, "1", "79")), (None, None));
    let mut spans: Vec<_> = captured.spans.iter().map(|span| (span.start_unix_nanos, span.events.len())).collect();
    spans.sort_unstable();
    assert_eq!(spans.into_iter().map(|(_, events)| events).collect::<Vec<_>>(), [1, 1, 0, 0]);
    let devices: Vec<_> = captured.tree().lines().filter(|line| line.contains("Worker/Run")).map(device).collect();
    assert_eq!(devices, [Some("0".to_owned()), Some("0".to_owned()), Some("1".to_owned()), None]);
}

fn device(line: &str) -> Option<String> {
    line.split_once("tc.device.id=").map(|(_, value)| value.split_whitespace().next().unwrap_or_default().to_owned())
}
