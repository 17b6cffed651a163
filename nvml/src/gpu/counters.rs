//! A GPU's counts, as monotonic counters.

use std::time::Duration;

use crate::gpu::conventional::{self as hw, Component, ErrorType};
use crate::gpu::metrics::*;
use crate::gpu::publish::{DIRECTIONS, Subject};
use crate::gpu::sample::{self, Links, Sample};
use crate::gpu::xids::Xid;
use crate::names::add_as;
use crate::total::Total;

/// The last readings of one GPU's counts; they outlive reloads of the driver.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    energy: Total,
    ecc: [Total; 2],
    replays: Total,
    violations: [Total; sample::VIOLATIONS],
    pcie_bytes: [Total; 2],
    link_kibibytes: [Total; 2],
    link_errors: [Total; sample::LINK_ERRORS],
}

const LINK_FAULTS: [LinkError; sample::LINK_ERRORS] =
    [LinkError::CrcFlit, LinkError::CrcData, LinkError::Replay, LinkError::Recovery];
/// The reasons for lowered clocks, in the order of the queried fields.
const VIOLATED: [Violation; sample::VIOLATIONS] = [
    Violation::Power,
    Violation::Thermal,
    Violation::SyncBoost,
    Violation::BoardLimit,
    Violation::LowUtilization,
    Violation::Reliability,
];

/// Adds the increase since the last sample to the counters of a GPU. `since` is the time since the last sample; 0 if there was a
/// gap.
pub(crate) fn counters(of: Subject, sample: &Sample, totals: &mut Totals, since: Duration) {
    if let Some(millijoules) = sample.energy {
        let joules = totals.energy.advance(millijoules) as f64 / 1e3;
        add_as!(of.names, ENERGY(of.gpu), hw::ENERGY(of.id(), Component::Gpu) += joules);
    }
    let [volatile, _] = sample.wear.ecc;
    for ((severity, reading), total) in SEVERITIES.into_iter().zip(volatile).zip(&mut totals.ecc) {
        let Some(reading) = reading else { continue };
        let (errors, kind) = (total.advance(reading), ErrorType::Memory(severity));
        add_as!(of.names, ECC_ERRORS(of.gpu, severity), hw::ERRORS(of.id(), Component::Gpu, kind) += errors);
    }
    if let Some(replays) = sample.replays {
        REPLAYS.add(totals.replays.advance(u64::from(replays)), (of.gpu,));
    }
    for ((policy, reading), total) in VIOLATED.into_iter().zip(sample.violations).zip(&mut totals.violations) {
        if let Some(nanos) = reading {
            VIOLATIONS.add(total.advance(nanos) as f64 / 1e9, (of.gpu, policy));
        }
    }
    links(of.gpu, &sample.links, totals);
    for (at, direction) in DIRECTIONS.into_iter().enumerate() {
        let counted = sample.pcie_bytes[at].map(|reading| totals.pcie_bytes[at].advance(reading) as f64);
        let estimated = || Some(f64::from(sample.throughput[at]?) * 1e3 * since.as_secs_f64());
        if let Some(bytes) = counted.or_else(estimated) {
            add_as!(of.names, PCIE_BYTES(of.gpu, direction), hw::IO(of.id(), Component::Gpu, direction) += bytes);
        }
    }
}

fn links(gpu: u32, links: &Links, totals: &mut Totals) {
    for ((direction, reading), total) in DIRECTIONS.into_iter().zip(links.moved).zip(&mut totals.link_kibibytes) {
        if let Some(kibibytes) = reading {
            LINK_BYTES.add(total.advance(kibibytes).saturating_mul(1024), (gpu, direction));
        }
    }
    for ((kind, reading), total) in LINK_FAULTS.into_iter().zip(links.errors).zip(&mut totals.link_errors) {
        if let Some(errors) = reading {
            LINK_ERRORS.add(total.advance(errors), (gpu, kind));
        }
    }
}

/// Counts an XID.
pub(crate) fn xid(of: Subject, xid: Xid) {
    let kind = ErrorType::Xid(xid);
    add_as!(of.names, XIDS_SEEN(of.gpu, xid), hw::ERRORS(of.id(), Component::Gpu, kind) += 1_u64);
}
