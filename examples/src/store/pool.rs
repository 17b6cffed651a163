//! The memory of a daemon's devices, reserved by replicas.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracecast::prelude::*;

use super::error::StoreError;
use super::keys;

pub(crate) const DEVICES: u32 = 2;
const DEVICE_BYTES: u64 = 64 << 20;

tc_metrics! {
    /// Bytes of the pool in use.
    static POOL_USED: Gauge<(keys::device, keys::location), u64> = "tc_pool_used_bytes";
    /// Bytes that the pool has.
    static POOL_SIZE: Gauge<(keys::device, keys::location), u64> = "tc_pool_size_bytes";
}

/// The pool of all devices.
#[derive(Clone, Default)]
pub(crate) struct Pool(Arc<Mutex<[u64; DEVICES as usize]>>);

impl Pool {
    pub(crate) fn new() -> Self {
        for device in 0..DEVICES {
            POOL_SIZE.set(DEVICE_BYTES, (device, keys::Location::Gpu));
            POOL_USED.set(0_u64, (device, keys::Location::Gpu));
        }
        Pool::default()
    }

    /// Reserves memory for a replica. Dropping the reservation frees it, unless it was kept.
    #[tc_span("StoreEngine/ReserveMemory", attrs(keys::device = device, keys::size_bytes = bytes))]
    pub(crate) fn reserve(&self, device: u32, bytes: u64) -> Result<Reservation, StoreError> {
        let mut used = self.lock();
        let room = used.get_mut(device as usize).filter(|used| **used + bytes <= DEVICE_BYTES);
        *room.ok_or(StoreError::PoolFull { device })? += bytes;
        POOL_USED.set(used[device as usize], (device, keys::Location::Gpu));
        Ok(Reservation { pool: self.clone(), device, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, [u64; DEVICES as usize]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory of a replica in progress.
pub(crate) struct Reservation {
    pool: Pool,
    device: u32,
    bytes: u64,
}

impl Reservation {
    /// Keeps the memory for a finished replica.
    pub(crate) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let mut used = self.pool.lock();
            used[self.device as usize] -= self.bytes;
            POOL_USED.set(used[self.device as usize], (self.device, keys::Location::Gpu));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_goes_back() {
        let captured = tracecast::testing::capture(|| {
            let pool = Pool::new();
            pool.reserve(1, 100).unwrap().keep();
            drop(pool.reserve(1, 50).unwrap());
            assert!(pool.reserve(1, DEVICE_BYTES).is_err());
        });
        captured.assert_metrics(
            "
            tc_pool_size_bytes{tc.device.id=0, tc.location=gpu} 67108864
            tc_pool_size_bytes{tc.device.id=1, tc.location=gpu} 67108864
            tc_pool_used_bytes{tc.device.id=0, tc.location=gpu} 0
            tc_pool_used_bytes{tc.device.id=1, tc.location=gpu} 100
            ",
        );
    }
}
