//! How large a request may be.

/// Requests stay below this, unless one item alone is larger: backends refuse 4 MiB and more.
const MOST_BYTES: usize = 3 << 20;
/// Requests are not made smaller than this.
pub(super) const LEAST_BYTES: usize = 16 << 10;
/// So many requests in a row have to be accepted before larger ones are tried again.
const GROWS_AFTER: u32 = 64;

/// The bytes that are reserved for pending requests, of all that telemetry may take: a quarter, less what lines have that wait
/// for standard error. They may take more while that is
/// reserved for nobody (`memory`), but only if the backend is down: spans that come faster than a backend takes them wait
/// where they were recorded.
pub(super) fn pending_limit(memory_limit: usize) -> usize {
    memory_limit / 4 - memory_limit / 32
}

/// The largest request where all pending ones share `limit` bytes: several have to fit.
pub(super) fn longest_request(limit: usize) -> usize {
    MOST_BYTES.min(limit / 32).max(LEAST_BYTES)
}

/// The largest request that one backend is sent: halved when it finds one too large, and doubled after a while.
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

    /// The backend found a request of so many bytes too large. Gives the size for the next ones.
    pub(super) fn halve(&mut self, bytes: usize) -> usize {
        self.accepted = 0;
        self.now = (bytes.min(self.now) / 2).max(LEAST_BYTES);
        self.now
    }

    /// The backend accepted a request.
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
