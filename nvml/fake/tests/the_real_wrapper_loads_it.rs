//! nvml-wrapper, unmodified, against the fake.

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::enums::gpm::GpmMetricId;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::gpm::gpm_metrics_get;
use tracecast_nvml_fake::{Driver, Fake};

fn load(fake: &Fake) -> Result<Nvml, NvmlError> {
    Nvml::builder().lib_path(fake.library().as_os_str()).init()
}

#[test]
fn two_gpus_with_plausible_values_are_the_default() {
    let fake = Fake::new("").unwrap();
    let nvml = load(&fake).unwrap();
    assert_eq!(nvml.device_count().unwrap(), 2);
    let gpu = nvml.device_by_index(1).unwrap();
    assert_eq!(gpu.uuid().unwrap(), "GPU-00000001-fa4e-4000-8000-000000000000");
    assert_eq!(gpu.pci_info().unwrap().bus_id, "00000000:02:00.0");
    let memory = gpu.memory_info().unwrap();
    assert_eq!(memory.total, memory.used + memory.free + memory.reserved);
    assert!((40..=75).contains(&gpu.temperature(TemperatureSensor::Gpu).unwrap()));
    let before = gpu.total_energy_consumption().unwrap();
    while gpu.total_energy_consumption().unwrap() == before {}
}

#[test]
fn a_script_changes_what_the_next_call_returns() {
    let fake = Fake::new("gpu0.power = 1000").unwrap();
    let nvml = load(&fake).unwrap();
    let (first, second) = (nvml.device_by_index(0).unwrap(), nvml.device_by_index(1).unwrap());
    assert_eq!(first.power_usage().unwrap(), 1000);
    fake.script("gpu0.fail = 15; gpu1.fail.nvmlDeviceGetPowerUsage = 3").unwrap();
    assert!(matches!(first.power_usage(), Err(NvmlError::GpuLost)));
    assert!(matches!(first.uuid(), Err(NvmlError::GpuLost)));
    assert!(matches!(second.power_usage(), Err(NvmlError::NotSupported)));
    assert!(second.uuid().is_ok());
}

#[test]
fn copies_do_not_share_their_scripts() {
    let (one, four) = (Fake::new("gpus = 1").unwrap(), Fake::new("gpus = 4").unwrap());
    let (of_one, of_four) = (load(&one).unwrap(), load(&four).unwrap());
    assert_eq!((of_one.device_count().unwrap(), of_four.device_count().unwrap()), (1, 4));
}

#[test]
fn a_function_that_was_left_out_is_missing() {
    let fake = Fake::without(&["nvmlDeviceGetMemoryInfo_v2"], "").unwrap();
    let nvml = load(&fake).unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    assert!(matches!(gpu.memory_info(), Err(NvmlError::FailedToLoadSymbol(_))));
    assert!(gpu.power_usage().is_ok());
    assert!(Fake::without(&["nvmlDeviceGetNothing"], "").is_err());
}

#[test]
fn a_driver_that_does_not_fit_fails_at_init() {
    let fake = Fake::new("fail.nvmlInit_v2 = 18").unwrap();
    assert!(matches!(load(&fake), Err(NvmlError::LibRmVersionMismatch)));
}

#[test]
fn handles_do_not_outlive_a_driver_reload() {
    let fake = Fake::new("").unwrap();
    let nvml = load(&fake).unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    fake.script("generation = 2").unwrap();
    assert!(matches!(gpu.power_usage(), Err(NvmlError::Uninitialized)));
    assert!(nvml.device_by_index(0).unwrap().power_usage().is_ok());
}

#[test]
fn an_xid_is_delivered_once_to_those_who_watch_its_gpu() {
    let fake = Fake::new("xid = 1:0:31").unwrap();
    let nvml = load(&fake).unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    let set = nvml.create_event_set().unwrap();
    let set = gpu.register_events(EventTypes::CRITICAL_XID_ERROR, set).unwrap();
    // The first came before anybody watched, the second is of another GPU.
    fake.script("xid = 1:0:31 2:1:48 3:0:79").unwrap();
    assert_eq!(set.wait(10_000).unwrap().event_data, Some(XidError::Value(79)));
    assert!(matches!(set.wait(10), Err(NvmlError::Timeout)));
}

#[test]
fn a_set_of_events_does_not_outlive_a_driver_reload() {
    let fake = Fake::new("").unwrap();
    let nvml = load(&fake).unwrap();
    let set = nvml.create_event_set().unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    let set = gpu.register_events(EventTypes::CRITICAL_XID_ERROR, set).unwrap();
    fake.script("generation = 2; xid = 1:0:79").unwrap();
    assert!(matches!(set.wait(10), Err(NvmlError::Uninitialized)));
}

#[test]
fn mig_instances_share_the_memory_of_their_gpu() {
    let fake = Fake::new("gpu0.mig = 4; gpu0.memory_total = 4096").unwrap();
    let nvml = load(&fake).unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    assert_eq!(gpu.mig_device_count().unwrap(), 4);
    assert_eq!(gpu.mig_device_by_index(3).unwrap().memory_info().unwrap().total, 1024);
    assert!(matches!(gpu.mig_device_by_index(4), Err(NvmlError::NotFound)));
    assert!(matches!(gpu.utilization_rates(), Err(NvmlError::NotSupported)));
}

#[test]
fn drivers_lack_what_they_should() {
    for driver in [Driver::Old, Driver::Cuda14] {
        let fake = Fake::of(driver, "").unwrap();
        let nvml = load(&fake).unwrap();
        let gpu = nvml.device_by_index(0).unwrap();
        let is_absent = |error: Option<NvmlError>| matches!(error, Some(NvmlError::FailedToLoadSymbol(_)));
        let absent = [
            is_absent(gpu.memory_info().err()),
            is_absent(gpu.mig_mode().err()),
            is_absent(gpu.temperature(TemperatureSensor::Gpu).err()),
            is_absent(gpu.current_throttle_reasons().err()),
        ];
        assert_eq!(absent, if driver == Driver::Old { [true, true, false, false] } else { [false, false, true, true] });
        assert!(gpu.power_usage().is_ok());
    }
}

#[test]
fn activity_is_measured_between_two_samples_of_one_gpu() {
    let fake = Fake::new("gpu0.active_tensor = 12.5; gpu1.fail.nvmlGpmSampleGet = 3").unwrap();
    let nvml = load(&fake).unwrap();
    let gpu = nvml.device_by_index(0).unwrap();
    let (first, second) = (gpu.gpm_sample().unwrap(), gpu.gpm_sample().unwrap());
    let metrics = [GpmMetricId::AnyTensorUtil, GpmMetricId::NvlinkTotalRxPerSec];
    let results = gpm_metrics_get(&nvml, &first, &second, &metrics).unwrap();
    assert_eq!(results[0].as_ref().unwrap().value, 12.5);
    assert!(matches!(results[1], Err(NvmlError::NotSupported)));
    assert!(matches!(gpm_metrics_get(&nvml, &first, &first, &metrics), Err(NvmlError::InvalidArg)));
    let other = nvml.device_by_index(1).unwrap();
    assert!(matches!(other.gpm_sample(), Err(NvmlError::NotSupported)));
}

#[test]
fn a_recording_answers_as_what_was_recorded() {
    let script = "gpus = 2; driver = 555.42; name = NVIDIA Odd; gpu0.temperature = 33; gpu0.fail.clock_memory = 3
        gpu0.fail.limit_memory = 3; gpu0.nvlink_count = 2; gpu0.link_state.1 = 0; gpu0.fail.link_crc.0 = 4
        gpu0.short.pcie_bytes_sent = 1; gpu0.active_tensor = 12.5; gpu1.mig = 2; gpu1.instance2.profile = 2g.20gb
        gpu1.fail.nvmlGpmSampleGet = 3; gpu1.fail.fan = 3; gpu1.ecc_aggregate_uncorrected = 7";
    for lacks in [&[][..], Driver::Old.lacks(), Driver::Cuda14.lacks()] {
        let fake = Fake::without(lacks, script).unwrap();
        let recording = tracecast_nvml_fake::record(&fake.library()).unwrap();
        let replayed = Fake::replay(&recording).unwrap();
        let again = tracecast_nvml_fake::record(&replayed.library()).unwrap();
        let differ: Vec<_> = recording.lines().zip(again.lines()).filter(|(first, second)| first != second).collect();
        assert!(differ.is_empty() && again.len() == recording.len(), "{differ:?}");
        let has = |line: &str| recording.lines().any(|own| own == line);
        for line in ["gpus = 2", "driver = 555.42", "gpu0.name = NVIDIA Odd", "gpu0.temperature = 33"] {
            assert!(has(line), "{line} in\n{recording}");
        }
        assert!(has("gpu0.fail.clock_memory = 3") && has("gpu1.fail.fan = 3"), "{recording}");
        assert!(has("gpu0.link_state.1 = 0") && has("gpu0.fail.link_crc.0 = 4"), "{recording}");
        assert_eq!(has("gpu0.active_tensor = 12.5"), lacks.is_empty() || lacks == Driver::Cuda14.lacks());
        assert!(!recording.contains("GPU-") && !recording.contains("serial"), "{recording}");
        for function in lacks.iter().filter(|function| !function.starts_with("nvmlEvent")) {
            let listed = recording.lines().next().unwrap().split(' ').any(|name| name == *function);
            assert!(listed || MADE_ONLY_WITH_OTHERS.contains(function), "{function} in\n{recording}");
        }
    }
}

/// Functions that are called only where another one answers.
const MADE_ONLY_WITH_OTHERS: [&str; 8] = [
    "nvmlDeviceGetMaxMigDeviceCount",
    "nvmlDeviceGetMigDeviceHandleByIndex",
    "nvmlDeviceGetGpuInstanceId",
    "nvmlGpmSampleFree",
    "nvmlGpmSampleGet",
    "nvmlGpmMigSampleGet",
    "nvmlGpmMetricsGet",
    "nvmlEventSetWait",
];
