//! Runs custom span exporters.
//!
//! Third-party code may block, hang or panic. Each exporter runs on a thread of its own, with a runtime of its own, so
//! it cannot affect the export thread.

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
use crate::trace::external::ExternalExporter;

/// A custom exporter and its limits.
pub(crate) struct ExporterSettings {
    pub(crate) exporter: Box<dyn ExternalExporter>,
    /// The timeout of one export.
    pub(crate) timeout: Duration,
    /// The maximum number of pending spans.
    pub(crate) room: u64,
}

/// Spans of one request, as owned data.
pub(super) type SpanBatch = Vec<FinishedSpan>;

enum Job {
    Export(Arc<SpanBatch>, Arc<Account>),
    /// Flushes the exporter's own buffers.
    Flush(oneshot::Sender<()>),
    /// Shuts the exporter down by the deadline, and ends the thread.
    End(Instant, oneshot::Sender<()>),
}

/// The handle of a custom exporter's thread.
pub(super) struct CustomExporter {
    jobs: mpsc::Sender<Job>,
    account: Arc<Account>,
    room: u64,
}

impl CustomExporter {
    /// Starts the thread of an exporter. If that fails, all spans for the exporter count as dropped because they were
    /// refused.
    pub(super) fn start(settings: ExporterSettings, resource: &EncodedResource) -> Self {
        let ExporterSettings { mut exporter, timeout, room } = settings;
        let (jobs, receiver) = mpsc::channel();
        let resource = resource.clone();
        let run = move || {
            // The exporter's own activity is not recorded.
            let _suppressed = crate::base::suppress::suppressed();
            let described = catch_unwind(AssertUnwindSafe(|| {
                exporter.set_resource(&resource.attributes, resource.schema_url.as_deref())
            }));
            if described.is_err() {
                notice::say(format_args!(
                    "the span exporter panicked in `set_resource`; its spans may lack resource attributes"
                ));
            }
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => Work { exporter, timeout, reported: Reported::default() }.run(&runtime, &receiver),
                Err(error) => notice::say(format_args!(
                    "warning: could not start a custom span exporter; its spans are dropped: {error}"
                )),
            }
        };
        if let Err(error) = thread::Builder::new().name("tracecast-exporter".to_owned()).spawn(run) {
            notice::say(format_args!(
                "warning: could not start a custom span exporter; its spans are dropped: {error}"
            ));
        }
        CustomExporter { jobs, account: Arc::default(), room }
    }

    pub(super) fn push(&self, spans: &Arc<SpanBatch>) {
        let count = spans.len() as u64;
        if self.account.counts().pending + count > self.room {
            return self.account.add(count, State::Dropped(Reason::ExportQueueFull));
        }
        self.account.add(count, State::Pending);
        if self.jobs.send(Job::Export(spans.clone(), self.account.clone())).is_err() {
            self.account.pass(count, State::Pending, State::Dropped(Reason::Refused));
        }
    }

    /// Returns another handle of the same thread, with an empty account. When receivers are replaced, the new ones also
    /// start with empty accounts, so all count the same requests.
    pub(super) fn with_new_account(&self) -> Self {
        CustomExporter { jobs: self.jobs.clone(), account: Arc::default(), room: self.room }
    }

    /// The account of the spans for this exporter.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Requests a flush of the exporter. The returned channel signals its end, and fails if the thread has ended.
    pub(super) fn flush(&self) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        // If the thread has ended, the receiver of the answer gets an error.
        let _ = self.jobs.send(Job::Flush(answer));
        answered
    }

    /// Requests a shutdown of the exporter by the deadline. The returned channel signals its end, and fails if the
    /// thread has ended.
    pub(super) fn end(&self, deadline: Instant) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        let _ = self.jobs.send(Job::End(deadline, answer));
        answered
    }
}

/// The state of the exporter's thread.
struct Work {
    exporter: Box<dyn ExternalExporter>,
    timeout: Duration,
    reported: Reported,
}

impl Work {
    fn run(mut self, runtime: &tokio::runtime::Runtime, jobs: &mpsc::Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Export(spans, account) => self.export(runtime, &spans, &account),
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

    fn export(&mut self, runtime: &tokio::runtime::Runtime, spans: &SpanBatch, account: &Account) {
        let timeout = self.timeout;
        let exported = self.guarded(|exporter| {
            let export = async {
                match tokio::time::timeout(timeout, exporter.export(spans)).await {
                    Ok(result) => result,
                    Err(_) => Err(format!("timed out after {timeout:?}")),
                }
            };
            runtime.block_on(export)
        });
        if exported {
            self_metrics::succeeded(Signal::Traces, self_metrics::backend("custom exporter"));
        }
        let state = if exported { State::Exported } else { State::Dropped(Reason::Refused) };
        account.pass(spans.len() as u64, State::Pending, state);
    }

    /// Calls the exporter, and returns whether the call succeeded. Reports an error or a panic, each cause once a
    /// minute at most.
    fn guarded(&mut self, call: impl FnOnce(&mut dyn ExternalExporter) -> Result<(), String>) -> bool {
        let cause = match catch_unwind(AssertUnwindSafe(|| call(&mut *self.exporter))) {
            Ok(Ok(())) => return true,
            Ok(Err(cause)) => cause,
            Err(_) => "panicked".to_owned(),
        };
        if self.reported.is_due(head(&cause), Instant::now()) {
            notice::say(format_args!("the span exporter failed: {cause}"));
        }
        false
    }
}
