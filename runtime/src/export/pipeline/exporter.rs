//! Spans on their way through an exporter that somebody else wrote.
//!
//! Its code may block, hang or panic. It runs on a thread of its own, with a runtime of its own, so that all of that is its
//! affair alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::reported::{Reported, head};
use crate::base::notice;
use crate::config::Signal;
use crate::encode::resource::EncodedResource;
use crate::export::account::{Account, State};
use crate::export::self_metrics::{self, Reason};
use crate::record::finished::FinishedSpan;
use crate::trace::foreign::ForeignExporter;

/// An exporter that was plugged in, and how it is to be treated.
pub(crate) struct Plugged {
    pub(crate) exporter: Box<dyn ForeignExporter>,
    /// How long one export may take.
    pub(crate) timeout: Duration,
    /// Spans that may wait for it.
    pub(crate) room: u64,
}

/// Spans that were taken together.
pub(super) type Together = Vec<FinishedSpan>;

enum Job {
    Export(Arc<Together>, Arc<Account>),
    /// Bring out what the exporter itself holds.
    Flush(oneshot::Sender<()>),
    /// The same, and end.
    End(Instant, oneshot::Sender<()>),
}

/// The exporter, as those who fill it and ask about it see it.
pub(super) struct CustomExporter {
    jobs: mpsc::Sender<Job>,
    account: Arc<Account>,
    room: u64,
}

impl CustomExporter {
    /// Starts its thread. Without one all spans count as refused.
    pub(super) fn start(plugged: Plugged, resource: &EncodedResource) -> Self {
        let Plugged { mut exporter, timeout, room } = plugged;
        let (jobs, receiver) = mpsc::channel();
        let resource = resource.clone();
        let run = move || {
            // What happens here is not to be told to anybody by telemetry.
            let _suppressed = crate::base::suppress::suppressed();
            let described = catch_unwind(AssertUnwindSafe(|| {
                exporter.set_resource(&resource.attributes, resource.schema_url.as_deref())
            }));
            if described.is_err() {
                notice::say(format_args!("the span exporter panicked when it was told of the resource"));
            }
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => Work { exporter, timeout, reported: Reported::default() }.run(&runtime, &receiver),
                Err(error) => notice::say(format_args!("no runtime for the span exporter: {error}")),
            }
        };
        if let Err(error) = thread::Builder::new().name("tracecast-exporter".to_owned()).spawn(run) {
            notice::say(format_args!("no thread for the span exporter: {error}"));
        }
        CustomExporter { jobs, account: Arc::default(), room }
    }

    pub(super) fn push(&self, together: &Arc<Together>) {
        let spans = together.len() as u64;
        if self.account.counts().pending + spans > self.room {
            return self.account.add(spans, State::Dropped(Reason::ExportQueueFull));
        }
        self.account.add(spans, State::Pending);
        if self.jobs.send(Job::Export(together.clone(), self.account.clone())).is_err() {
            self.account.pass(spans, State::Pending, State::Dropped(Reason::Refused));
        }
    }

    /// The same exporter with counts of its own, for receivers that are new beside it.
    pub(super) fn with_new_account(&self) -> Self {
        CustomExporter { jobs: self.jobs.clone(), account: Arc::default(), room: self.room }
    }

    /// What became of its spans until now.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Asks the exporter to bring out all that it was handed; the answer comes when it has.
    pub(super) fn flush(&self) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        // If it has ended, who waits for the answer is told so.
        let _ = self.jobs.send(Job::Flush(answer));
        answered
    }

    /// The same, and has it end.
    pub(super) fn end(&self, deadline: Instant) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let _ = self.jobs.send(Job::End(deadline, answer));
        answered
    }
}

/// What the exporter's thread does.
struct Work {
    exporter: Box<dyn ForeignExporter>,
    timeout: Duration,
    reported: Reported,
}

impl Work {
    fn run(mut self, runtime: &tokio::runtime::Runtime, jobs: &mpsc::Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Export(together, account) => self.export(runtime, &together, &account),
                Job::Flush(answer) => {
                    self.guarded(|exporter| exporter.flush());
                    let _ = answer.send(());
                }
                Job::End(deadline, answer) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    self.guarded(|exporter| exporter.shutdown(left));
                    let _ = answer.send(());
                    return;
                }
            }
        }
    }

    fn export(&mut self, runtime: &tokio::runtime::Runtime, together: &Together, account: &Account) {
        let timeout = self.timeout;
        let exported = self.guarded(|exporter| {
            let export = async {
                match tokio::time::timeout(timeout, exporter.export(together)).await {
                    Ok(result) => result,
                    Err(_) => Err(format!("it took longer than {timeout:?}")),
                }
            };
            runtime.block_on(export)
        });
        if exported {
            self_metrics::succeeded(Signal::Traces, self_metrics::backend("custom exporter"));
        }
        let state = if exported { State::Exported } else { State::Dropped(Reason::Refused) };
        account.pass(together.len() as u64, State::Pending, state);
    }

    /// Calls the exporter; says whether it did what it was asked for.
    fn guarded(&mut self, call: impl FnOnce(&mut dyn ForeignExporter) -> Result<(), String>) -> bool {
        let cause = match catch_unwind(AssertUnwindSafe(|| call(&mut *self.exporter))) {
            Ok(Ok(())) => return true,
            Ok(Err(cause)) => cause,
            Err(_) => "it panicked".to_owned(),
        };
        if self.reported.is_due(head(&cause), Instant::now()) {
            notice::say(format_args!("the span exporter failed: {cause}"));
        }
        false
    }
}
