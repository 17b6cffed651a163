//! The size of requests.

/// The maximum size of a request in bytes, unless one item alone is larger: backends reject 4 MiB and more.
const MOST_BYTES: usize = 3 << 20;
/// The lower bound of the maximum size of a request, in bytes.
pub(super) const LEAST_BYTES: usize = 16 << 10;
/// The number of requests that a receiver has to accept, since one was too large, before larger ones are tried again.
const GROWS_AFTER: u32 = 64;

/// The bytes of the memory limit that are reserved for pending requests: a quarter, less the share of log lines that
/// standard error does not take yet. Pending requests may also take unreserved memory (`memory`), but only while the
/// backend is down: spans that come faster than a working backend accepts them stay in the recorder.
pub(super) fn pending_limit(memory_limit: usize) -> usize {
    memory_limit / 4 - memory_limit / 32
}

/// Returns the maximum size of a request in bytes if all pending requests share `limit` bytes: a small part of it, so
/// that many requests fit.
pub(super) fn longest_request(limit: usize) -> usize {
    MOST_BYTES.min(limit / 32).max(LEAST_BYTES)
}

/// The maximum size of a request for one backend: halved when the backend rejects a request as too large, doubled after
/// enough successes.
pub(super) struct Size {
    most: usize,
    now: usize,
    accepted: u32,
}

impl Size {
    pub(super) fn new(most: usize) -> Self {
        Size { most, now: most, accepted: 0 }
    }

    pub(super) fn now(&self) -> usize {
        self.now
    }

    /// Halves the maximum size after a request of `bytes` was too large, and returns the new maximum.
    pub(super) fn halve(&mut self, bytes: usize) -> usize {
        self.accepted = 0;
        self.now = (bytes.min(self.now) / 2).max(LEAST_BYTES);
        self.now
    }

    /// Notes an accepted request.
    pub(super) fn accepted(&mut self) {
        self.accepted += 1;
        if self.accepted >= GROWS_AFTER {
            self.accepted = 0;
            self.now = self.now.saturating_mul(2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_halves_the_size_and_success_restores_it() {
        let mut size = Size::new(1 << 20);
        assert_eq!([size.halve(1 << 20), size.halve(100 << 10), size.halve(1_000)], [1 << 19, 50 << 10, LEAST_BYTES]);
        let mut requests = 0;
        while size.now() < 1 << 20 {
            size.accepted();
            requests += 1;
        }
        assert_eq!(requests, 6 * GROWS_AFTER, "it doubles six times, each after as many requests");
    }

    #[test]
    fn requests_fit_the_memory_limit_several_times() {
        assert_eq!(
            [longest_request(1 << 30), longest_request(16 << 20), longest_request(0)],
            [3 << 20, 512 << 10, 16 << 10]
        );
    }
}
