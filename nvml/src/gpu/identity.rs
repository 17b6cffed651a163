//! Who a GPU is, and its MIG instances, on one info metric each.
//!
//! Info metrics are observed: they have a series for each GPU that is there, however many values their labels could have.

use tracecast::{InternedKey, Observation};

use crate::gpu::conventional::{
    self as hw, Component, Vendor, driver_version, hw_id, hw_model, hw_name, serial_number,
};
use crate::gpu::metrics::*;
use crate::gpu::sample::{Instance, MOST_INSTANCES, Text};
use crate::gpu::view::Description;
use crate::names::Names;

/// Who a GPU is, and its index in the driver. It is on the info metrics while this lives.
pub(crate) struct Identity {
    pub(crate) index: u32,
    description: Description,
    _shown: Vec<Observation>,
}

impl Identity {
    pub(crate) fn new(names: Names, gpu: u32, index: u32, description: &Description) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        let Description { uuid, model, pci_bus_id, serial, driver } = description;
        let [uuid, model, pci_bus_id, serial, driver] = [uuid, model, pci_bus_id, serial, driver].map(text);
        let of_gpu = (uuid::intern(&uuid), model::intern(&model), pci::intern(&pci_bus_id));
        let of_driver = (driver::intern(&driver), serial::intern(&serial));
        let labels = (gpu, index, of_gpu.0, of_gpu.1, of_gpu.2, of_driver.0, of_driver.1);
        let mut shown = vec![INFO.observe(labels, || Some(1))];
        if names == Names::SemanticConventions {
            let name = hw_name::intern(&format!("GPU {gpu}"));
            let of_gpu = (hw_id::intern(&uuid), hw_model::intern(&model));
            let of_driver = (driver_version::intern(&driver), serial_number::intern(&serial));
            let labels = (of_gpu.0, Component::Gpu, name, of_gpu.1, Vendor::Nvidia, of_driver.0, of_driver.1, gpu);
            shown.push(hw::INFO.observe(labels, || Some(1)));
        }
        Identity { index, description: description.clone(), _shown: shown }
    }

    /// Whether it says this.
    pub(crate) fn is(&self, index: u32, description: &Description) -> bool {
        self.index == index && self.description == *description
    }
}

/// The MIG instances of a GPU, while they are shown.
#[derive(Default)]
pub(crate) struct Instances([Option<Shown>; MOST_INSTANCES]);

struct Shown {
    uuid: Text,
    name: Text,
    _shown: Observation,
}

impl Instances {
    /// Shows these instances and no others.
    pub(crate) fn show(&mut self, gpu: u32, instances: &[Option<Instance>; MOST_INSTANCES]) {
        for (number, (shown, instance)) in (0_u32..).zip(self.0.iter_mut().zip(instances)) {
            let Some(Instance { uuid, name, .. }) = instance else {
                *shown = None;
                continue;
            };
            if shown.as_ref().is_some_and(|shown| shown.uuid == *uuid && shown.name == *name) {
                continue;
            }
            let labels =
                (gpu, number, instance_uuid::intern(uuid.as_str()), profile::intern(profile_of(name.as_str())));
            *shown = Some(Shown { uuid: *uuid, name: *name, _shown: INSTANCE_INFO.observe(labels, || Some(1)) });
        }
    }
}

/// The profile at the end of the name of an instance: `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
fn profile_of(name: &str) -> &str {
    name.rsplit_once("MIG ").map_or("unknown", |(_, profile)| profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_at_the_end_of_the_name() {
        assert_eq!(profile_of("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "1g.5gb");
        assert_eq!(profile_of("NVIDIA H100 80GB HBM3 MIG 1c.3g.40gb"), "1c.3g.40gb");
        assert_eq!((profile_of("NVIDIA H100"), profile_of("")), ("unknown", "unknown"));
    }
}
