//! The CPU limit of a cgroup.

use std::path::Path;

use super::parse;
use crate::held::Held;

pub(super) enum Quota {
    /// The files of quota and period.
    V1(Held, Held),
    V2(Held),
}

impl Quota {
    pub(super) fn open(folder: &Path) -> Option<Self> {
        Some(Quota::V2(Held::open(&folder.join("cpu.max"))?))
    }

    pub(super) fn open_v1(folder: &Path) -> Option<Self> {
        let [quota, period] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| Held::open(&folder.join(name)));
        Some(Quota::V1(quota?, period?))
    }

    fn read(&mut self) -> Option<f64> {
        match self {
            Quota::V1(quota, period) => parse::quota_v1(&quota.read()?, &period.read()?),
            Quota::V2(file) => parse::quota(&file.read()?),
        }
    }
}

/// Returns the lowest limit; `None` without a limit or if one cannot be read, because that could be the lowest.
pub(super) fn least(quotas: &mut [Quota]) -> Option<f64> {
    let least = quotas.iter_mut().try_fold(f64::INFINITY, |least, quota| Some(least.min(quota.read()?)))?;
    least.is_finite().then_some(least)
}
