//! The state of the process, for its health endpoint.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

use tokio::sync::Notify;

/// The state of the process, which prints as `running` or `shutting_down`.
///
/// ```
/// use tracecast::shutdown::State;
///
/// assert_eq!(State::ShuttingDown.to_string(), "shutting_down");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The process accepts work.
    Running,
    /// The process is ending and should get no more work.
    ShuttingDown,
}

impl State {
    /// Returns the name of the state: `running` or `shutting_down`.
    ///
    /// ```
    /// use tracecast::shutdown::State;
    ///
    /// assert_eq!(State::Running.as_str(), "running");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            State::Running => "running",
            State::ShuttingDown => "shutting_down",
        }
    }

    fn of(begun: bool) -> Self {
        if begun { State::ShuttingDown } else { State::Running }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reports to health endpoints and servers whether a [`Shutdown`](crate::shutdown::Shutdown) has begun. Returned by
/// [`Handle::health`](crate::Handle::health).
///
/// ```
/// use tracecast::shutdown::{Shutdown, State};
///
/// # let telemetry = tracecast::config::Config::new().init()?;
/// let health = telemetry.health(); // for the health endpoint
/// assert_eq!(health.state(), State::Running);
/// let _report = Shutdown::new(telemetry).run();
/// assert_eq!(health.state(), State::ShuttingDown);
/// # Ok::<(), tracecast::InitError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    begun: AtomicBool,
    began: Notify,
}

impl Health {
    /// Returns the state. Costs one load.
    ///
    /// ```
    /// use tracecast::shutdown::{Health, State};
    ///
    /// assert_eq!(Health::default().state(), State::Running);
    /// ```
    pub fn state(&self) -> State {
        State::of(self.0.begun.load(Relaxed))
    }

    /// Waits until the shutdown begins, for the graceful stop of a server. Returns at once if the shutdown has begun.
    /// Works in every async runtime.
    ///
    /// ```
    /// # use tracecast::shutdown::Health;
    /// # async fn accept() {}
    /// async fn serve(health: Health) {
    ///     tokio::select! {
    ///         () = accept() => {}
    ///         () = health.shutting_down() => {} // no more work is taken
    ///     }
    /// }
    /// # tokio::runtime::Runtime::new()?.block_on(serve(Health::default()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub async fn shutting_down(&self) {
        // Registered before the check, so that a shutdown that begins in between is not missed.
        let began = self.0.began.notified();
        if !self.0.begun.load(SeqCst) {
            began.await;
        }
    }

    pub(crate) fn begin(&self) {
        self.0.begun.store(true, SeqCst);
        self.0.began.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_tasks_are_woken_by_the_shutdown() {
        let health = Health::default();
        assert_eq!(health.state().to_string(), "running");
        let waiting = tokio::spawn({
            let health = health.clone();
            async move { health.shutting_down().await }
        });
        tokio::task::yield_now().await;
        health.begin();
        waiting.await.unwrap();
        health.shutting_down().await;
        assert_eq!(health.state().to_string(), "shutting_down");
    }
}
