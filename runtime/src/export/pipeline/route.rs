//! The routes of a signal to its receivers.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::export_queue::{ExportQueue, OtlpReceiver};
use super::exporter::{CustomExporter, ExporterSettings, SpanBatch};
use super::outbox::{Batch, Pool};
use crate::config::{ConsoleFormat, ScrapeAddress};
use crate::encode::resource::EncodedResource;
use crate::export::account::{Account, Counts, State};
use crate::export::console;

/// A receiver of one signal.
pub(crate) enum Receiver {
    Otlp(OtlpReceiver),
    /// A custom exporter, of spans only.
    Custom(ExporterSettings),
    /// Standard error.
    Console(ConsoleFormat),
    /// Scrapers of metrics at this address. Nothing is sent to them, so they have no route.
    Prometheus(ScrapeAddress),
}

/// A request in the formats of all receivers. Each format is made when the first receiver needs it.
pub(super) struct Forms<'a> {
    pub(super) items: u64,
    pub(super) protobuf: &'a dyn Fn() -> Bytes,
    pub(super) json: &'a dyn Fn() -> Bytes,
    pub(super) text: &'a dyn Fn() -> String,
    /// Owned data for custom exporters; `None` for signals other than traces.
    pub(super) spans: Option<&'a Arc<SpanBatch>>,
}

/// The route of a signal to one of its receivers.
enum Route {
    /// To an OTLP receiver.
    Queue(ExportQueue),
    /// To standard error.
    Console(ConsoleFormat, Arc<Account>),
    Custom(CustomExporter),
}

/// All routes of a signal: current ones, and replaced ones that still have requests to send.
pub(super) struct Routes {
    pool: Rc<Pool>,
    current: Vec<Route>,
    replaced: Vec<Replaced>,
    /// The counts of replaced routes that have finished and were removed.
    finished: Counts,
}

/// Routes that were replaced together. All of them got the same requests.
struct Replaced {
    /// The routes; cleared when none of them has requests left to send.
    routes: Vec<Route>,
    accounts: Vec<Arc<Account>>,
}

impl Routes {
    /// Makes an empty list. Pending requests of later routes take their memory from `pool`.
    pub(super) fn new(pool: Rc<Pool>) -> Self {
        Routes { pool, current: Vec::new(), replaced: Vec::new(), finished: Counts::default() }
    }

    /// Replaces the receivers of new requests. If one OTLP receiver replaces another with the same encoding, the new
    /// one takes over pending requests; otherwise the old routes send theirs and end. Custom exporters are kept.
    pub(super) fn replace(&mut self, receivers: Vec<Receiver>, resource: &EncodedResource) {
        let old = std::mem::take(&mut self.current);
        let inherited = inherited(&old, &receivers);
        let to = |receiver| Route::to(receiver, resource, &self.pool, inherited);
        self.current = receivers.into_iter().filter_map(to).collect();
        if inherited.is_none() {
            for route in &old {
                match route {
                    Route::Queue(queue) => queue.retire(),
                    // A configuration cannot recreate custom exporters, so they are kept.
                    Route::Custom(exporter) => self.current.push(Route::Custom(exporter.with_new_account())),
                    Route::Console(..) => {}
                }
            }
            let accounts = old.iter().map(|route| route.account().clone()).collect();
            self.replaced.push(Replaced { routes: old, accounts });
        }
        self.drop_finished();
    }

    /// Drops replaced routes that have nothing left to send, and keeps their counts.
    fn drop_finished(&mut self) {
        let finished = &mut self.finished;
        self.replaced.retain_mut(|replaced| {
            if replaced.routes.iter().all(Route::is_settled) {
                replaced.routes.clear();
            }
            // Current routes may still send requests that the replaced routes have stored on disk.
            let is_final =
                replaced.routes.is_empty() && replaced.accounts.iter().all(|account| account.counts().is_final());
            if is_final {
                *finished += counts_of_least(replaced.accounts.iter());
            }
            !is_final
        });
    }

    /// True if there are no current routes.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    /// True if a route needs protobuf.
    pub(super) fn want_protobuf(&self) -> bool {
        self.current.iter().any(|route| matches!(route, Route::Queue(queue) if !queue.is_json()))
    }

    /// True if a route needs a format that is made from owned data: JSON, text, or spans for custom exporters.
    pub(super) fn want_plain(&self) -> bool {
        self.current.iter().any(|route| !matches!(route, Route::Queue(queue) if !queue.is_json()))
    }

    /// Passes a request to each current route.
    pub(super) fn push(&self, forms: &Forms<'_>) {
        let (mut protobuf, mut json) = (None, None);
        let items = forms.items;
        for route in &self.current {
            match route {
                Route::Queue(queue) => {
                    let bytes = if queue.is_json() {
                        json.get_or_insert_with(forms.json).clone()
                    } else {
                        protobuf.get_or_insert_with(forms.protobuf).clone()
                    };
                    queue.push(Batch { bytes, items });
                }
                Route::Console(format, account) => {
                    match format {
                        ConsoleFormat::Text => console::show(&(forms.text)()),
                        ConsoleFormat::Json => console::show_line(json.get_or_insert_with(forms.json)),
                    }
                    account.add(items, State::Exported);
                }
                Route::Custom(exporter) => forms.spans.iter().for_each(|spans| exporter.push(spans)),
            }
        }
    }

    /// The counts of all items. With several receivers, the counts are those of the receiver that accepted the least.
    pub(super) fn counts(&self) -> Counts {
        let replaced = self.replaced.iter().map(|replaced| counts_of_least(replaced.accounts.iter()));
        replaced.chain([counts_of_least(self.current.iter().map(Route::account)), self.finished]).sum()
    }

    /// Waits until all queues are empty and all custom exporters have flushed.
    pub(super) async fn emptied(&self) {
        // Custom exporters flush while the queues are emptied.
        let flushed: Vec<_> = self.custom().map(CustomExporter::flush).collect();
        for queue in queues(self.all()) {
            queue.emptied().await;
        }
        for answered in flushed {
            let _ = answered.await;
        }
    }

    /// The current custom exporters. Replaced ones have the same threads.
    fn custom(&self) -> impl Iterator<Item = &CustomExporter> {
        self.current.iter().filter_map(|route| if let Route::Custom(exporter) = route { Some(exporter) } else { None })
    }

    /// The current routes, and replaced ones that still have requests to send.
    fn all(&self) -> impl Iterator<Item = &Route> {
        self.replaced.iter().flat_map(|replaced| &replaced.routes).chain(&self.current)
    }

    /// Ends the backoff of queues that wait to retry.
    pub(super) fn hurry(&self) {
        for queue in queues(self.all()) {
            queue.hurry();
        }
    }

    /// Counts stored requests as lost if their files are missing on disk.
    pub(super) async fn verify(&self) {
        for queue in queues(&self.current) {
            queue.verify().await;
        }
    }

    /// Stores requests on disk that cannot be sent any more, if there is a spool.
    pub(super) async fn store_rest(&self) {
        for queue in queues(self.all()) {
            queue.store_rest().await;
        }
    }

    /// Stops all queues after the request in flight, and waits for its end.
    pub(super) async fn settled(&self) {
        for queue in queues(self.all()) {
            queue.settled().await;
        }
    }

    /// Requests a shutdown of all custom exporters, after the requests passed to them so far. The returned channels
    /// signal the end of each. Spans of later requests are not exported.
    pub(super) fn end(&self, deadline: Instant) -> Vec<oneshot::Receiver<()>> {
        self.custom().map(|exporter| exporter.end(deadline)).collect()
    }

    /// The bytes in the spool; `None` if there is no spool.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        queues(&self.current).find_map(ExportQueue::disk_bytes)
    }

    /// The maximum size of the spool in bytes; `None` if there is no spool.
    pub(super) fn disk_capacity(&self) -> Option<u64> {
        queues(&self.current).find_map(ExportQueue::disk_capacity)
    }

    /// The maximum number of pending items of all current receivers together; `None` if no receiver limits it.
    pub(super) fn most_items(&self) -> Option<u64> {
        queues(&self.current).filter_map(ExportQueue::most_items).reduce(u64::saturating_add)
    }

    /// True if the outbox of a working receiver cannot take `bytes` more.
    pub(super) fn are_busy(&self, bytes: usize) -> bool {
        queues(&self.current).any(|queue| queue.is_busy(bytes))
    }

    /// The maximum size in bytes of a request for all current OTLP receivers; `usize::MAX` if there are none.
    pub(super) fn longest_request(&self) -> usize {
        queues(&self.current).map(ExportQueue::longest_request).min().unwrap_or(usize::MAX)
    }

    /// The bytes of all pending requests.
    pub(super) fn bytes(&self) -> u64 {
        queues(self.all()).map(|queue| queue.bytes() as u64).sum()
    }
}

impl Route {
    fn to(receiver: Receiver, resource: &EncodedResource, pool: &Rc<Pool>, old: Option<&ExportQueue>) -> Option<Self> {
        match receiver {
            Receiver::Console(format) => Some(Route::Console(format, Arc::default())),
            Receiver::Custom(settings) => Some(Route::Custom(CustomExporter::start(settings, resource))),
            Receiver::Otlp(otlp) => Some(Route::Queue(ExportQueue::start(otlp, pool, old))),
            Receiver::Prometheus(_) => None,
        }
    }

    fn account(&self) -> &Arc<Account> {
        match self {
            Route::Queue(queue) => queue.account(),
            Route::Console(_, account) => account,
            Route::Custom(exporter) => exporter.account(),
        }
    }

    /// True if the route has nothing pending in memory or in flight.
    fn is_settled(&self) -> bool {
        match self {
            Route::Queue(queue) => queue.has_ended(),
            Route::Console(..) | Route::Custom(_) => self.account().counts().pending == 0,
        }
    }
}

fn queues<'a>(routes: impl IntoIterator<Item = &'a Route>) -> impl Iterator<Item = &'a ExportQueue> {
    routes.into_iter().filter_map(|route| if let Route::Queue(queue) = route { Some(queue) } else { None })
}

/// The counts of the receiver that accepted the least. All receivers got the same requests.
fn counts_of_least<'a>(accounts: impl Iterator<Item = &'a Arc<Account>>) -> Counts {
    accounts.map(|account| account.counts()).min_by_key(|counts| counts.exported).unwrap_or_default()
}

/// Returns the old queue whose pending requests the new queue takes over: only if one OTLP receiver replaces another
/// and accepts the format of these requests. With several receivers, the counts of old and new queues would not match,
/// so each old queue sends its own requests.
fn inherited<'a>(old: &'a [Route], new: &[Receiver]) -> Option<&'a ExportQueue> {
    match (old, new) {
        ([Route::Queue(queue)], [Receiver::Otlp(otlp)]) => queue.suits(otlp.protocol).then_some(queue),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_that_were_replaced_are_let_go_and_their_counts_stay() {
        let mut routes = Routes::new(Pool::within(1 << 20));
        for items in 1..10 {
            routes.replace(vec![Receiver::Console(ConsoleFormat::Text)], &EncodedResource::new(&[]));
            if let [Route::Console(_, account)] = &routes.current[..] {
                account.add(items, State::Exported);
            }
        }
        assert_eq!((routes.replaced.len(), routes.counts().exported), (0, (1..10).sum()));
    }
}
