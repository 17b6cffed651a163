//! The tasks of one connection. They end with it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

/// Spawns what a connection needs, and aborts it all when the connection is given up.
///
/// A connection of HTTP/2 says goodbye before it ends. Where the other side is gone and the buffers are full, that would
/// wait for the system to notice, many minutes and one socket for each attempt.
pub(super) struct Tasks(Executor);

/// Hands the tasks of a connection to the runtime.
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
        // Those that ended are let go here, because nobody waits for them.
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
        // A task may itself hold what spawns others.
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
