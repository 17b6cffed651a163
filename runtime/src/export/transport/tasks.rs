//! The tasks of one connection, which end with it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

/// Spawns the tasks of a connection, and aborts them when the connection is dropped.
///
/// An HTTP/2 connection announces its end first. If the peer is gone and buffers are full, that would wait for the
/// system's timeout: many minutes, with an open socket for each attempt.
pub(super) struct Tasks(Executor);

/// Spawns the tasks of a connection on the runtime.
#[derive(Clone)]
pub(super) struct Executor(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    pub(super) fn new() -> Self {
        Tasks(Executor(Arc::default()))
    }

    pub(super) fn executor(&self) -> Executor {
        self.0.clone()
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, future: F) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Tasks that have ended are removed here, because they are not joined.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move { drop(future.await) });
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use hyper::rt::Executor as _;

    use super::*;

    #[tokio::test]
    async fn tasks_end_with_their_connection() {
        let tasks = Tasks::new();
        let (held, mut is_held) = tokio::sync::mpsc::channel::<()>(1);
        let executor = tasks.executor();
        // A task may itself own the executor.
        tasks.executor().execute(async move {
            let _held = (held, executor);
            std::future::pending::<()>().await;
        });
        tokio::task::yield_now().await;
        drop(tasks);
        assert_eq!(is_held.recv().await, None);
    }

    #[tokio::test]
    async fn tasks_that_ended_are_let_go() {
        let tasks = Tasks::new();
        for _ in 0..10 {
            tasks.executor().execute(async {});
            tokio::task::yield_now().await;
        }
        assert_eq!(tasks.0.0.lock().unwrap().len(), 1);
    }
}
