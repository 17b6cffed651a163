//! Info metrics with the attributes of GPUs and of their MIG instances.
//!
//! One label has all attributes of a GPU: its ordinal is the GPU's label, its values are the current attributes.
//!
//! Conventional names are from version 1.44 of OpenTelemetry's semantic conventions, where they may change.

use tracecast::{tc_keys, tc_metrics};

use crate::described::described;
use crate::gpu::labels::MOST_GPUS;
use crate::gpu::sample::{Instance, MOST_INSTANCES, Text};
use crate::gpu::view::Description;
use crate::names::Names;

described! {
    /// A GPU, by its label.
    OfGpu of MOST_GPUS as usize, in GPUS: ["gpu", "index", "uuid", "name", "pci_bus_id", "driver", "serial"];
    /// A GPU as the conventions describe it, and its label, by which its other metrics are found.
    OfHardware of MOST_GPUS as usize, in HARDWARE:
        ["hw.id", "hw.type", "hw.name", "hw.model", "hw.vendor", "hw.driver_version", "hw.serial_number", "gpu"];
    /// A MIG instance, by the label of its GPU and its index there.
    OfInstance of MOST_GPUS as usize * MOST_INSTANCES, in INSTANCES: ["gpu", "gpu_instance", "uuid", "profile"];
}

tc_keys! {
    /// All that describes a GPU.
    label of_gpu: OfGpu = "tc.gpu";
    /// All that describes a GPU in the words of the conventions.
    label of_hardware: OfHardware = "tc.gpu.hardware";
    /// All that describes a MIG instance.
    label of_instance: OfInstance = "tc.gpu.instance";
}

tc_metrics! {
    /// 1 with all that describes the GPU, and its index in the driver now.
    static INFO: Gauge<(of_gpu,), u64> = "tc_gpu_info";
    /// 1 with all that describes the GPU.
    static HARDWARE_INFO: Gauge<(of_hardware,), u64> = "hw.gpu.info" { unit: "1" };
    /// 1 with all that describes the MIG instance.
    static INSTANCE_INFO: Gauge<(of_instance,), u64> = "tc_gpu_instance_info";
}

/// The attributes of a GPU, including its index in the driver. The info metrics show them until this is dropped.
pub(crate) struct Identity {
    gpu: usize,
    names: Names,
    pub(crate) index: u32,
    description: Description,
}

impl Identity {
    pub(crate) fn new(names: Names, gpu: u32, index: u32, description: &Description) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let Description { uuid, model, pci_bus_id, serial, driver } = description;
        let [uuid, model, pci_bus_id, serial, driver] = [uuid, model, pci_bus_id, serial, driver].map(text);
        let (number, vendor) = (gpu.to_string(), "NVIDIA".to_owned());
        if names == Names::SemanticConventions {
            let (id, model, driver, serial) = (uuid.clone(), model.clone(), driver.clone(), serial.clone());
            let name = format!("GPU {gpu}");
            let texts = [id, "gpu".to_owned(), name, model, vendor, driver, serial, number.clone()];
            HARDWARE.set(gpu as usize, texts);
        }
        GPUS.set(gpu as usize, [number, index.to_string(), uuid, model, pci_bus_id, driver, serial]);
        Identity { gpu: gpu as usize, names, index, description: description.clone() }
    }

    /// Returns whether the attributes are unchanged.
    pub(crate) fn is(&self, index: u32, description: &Description) -> bool {
        self.index == index && self.description == *description
    }

    /// Sets the info metrics; called at each sample, because metrics may have been switched on meanwhile.
    pub(crate) fn show(&self) {
        INFO.set(1_u64, (OfGpu(self.gpu),));
        if self.names == Names::SemanticConventions {
            HARDWARE_INFO.set(1_u64, (OfHardware(self.gpu),));
        }
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        INFO.clear((OfGpu(self.gpu),));
        if self.names == Names::SemanticConventions {
            HARDWARE_INFO.clear((OfHardware(self.gpu),));
        }
    }
}

/// The MIG instances of a GPU that the info metric shows: UUID and name of each.
#[derive(Default)]
pub(crate) struct Instances([Option<(Text, Text)>; MOST_INSTANCES]);

impl Instances {
    /// Shows these instances and no others.
    pub(crate) fn show(&mut self, gpu: u32, instances: &[Option<Instance>; MOST_INSTANCES]) {
        for (number, (shown, instance)) in self.0.iter_mut().zip(instances).enumerate() {
            let ordinal = gpu as usize * MOST_INSTANCES + number;
            let Some(Instance { uuid, name, .. }) = instance else {
                if shown.take().is_some() {
                    INSTANCE_INFO.clear((OfInstance(ordinal),));
                }
                continue;
            };
            if *shown != Some((*uuid, *name)) {
                let profile = profile_of(name.as_str()).to_owned();
                INSTANCES.set(ordinal, [gpu.to_string(), number.to_string(), uuid.as_str().to_owned(), profile]);
                *shown = Some((*uuid, *name));
            }
            INSTANCE_INFO.set(1_u64, (OfInstance(ordinal),));
        }
    }
}

/// Returns the profile at the end of an instance's name: `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
fn profile_of(name: &str) -> &str {
    name.rsplit_once("MIG ").map_or("", |(_, profile)| profile)
}

#[cfg(test)]
mod tests {
    use tracecast::Label;

    use super::*;

    #[test]
    fn the_profile_is_at_the_end_of_the_name() {
        assert_eq!(profile_of("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "1g.5gb");
        assert_eq!(profile_of("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb"), "1c.3g.40gb");
        assert_eq!((profile_of("NVIDIA H100"), profile_of("")), ("", ""));
    }

    #[test]
    fn what_is_not_known_of_a_gpu_is_left_out() {
        let description = Description { uuid: Some("GPU-identity".to_owned()), ..Description::default() };
        let captured = tracecast::testing::capture(|| Identity::new(Names::Tracecast, 30, 2, &description).show());
        let metric = captured.metrics.iter().find(|metric| metric.name == "tc_gpu_info").unwrap();
        // The identity was dropped, which cleared the metric; the table still has the texts of its ordinal.
        assert!(metric.points.is_empty());
        assert_eq!([0, 1, 2, 3].map(|part| OfGpu::part(30, part)), ["30", "2", "GPU-identity", ""]);
    }
}
