//! The routes of a signal to its receivers.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::export_queue::{ExportQueue, OtlpReceiver};
use super::exporter::{CustomExporter, Plugged, Together};
use super::outbox::{Batch, Pool};
use crate::config::{ConsoleFormat, ScrapeAddress};
use crate::encode::resource::EncodedResource;
use crate::export::account::{Account, Counts, State};
use crate::export::console;

/// A receiver of one signal.
pub(crate) enum Receiver {
    Otlp(OtlpReceiver),
    /// An exporter that somebody else wrote. Of spans only.
    Plugged(Plugged),
    /// People.
    Console(ConsoleFormat),
    /// Those who scrape metrics at this address. It has no route: nothing is handed to it.
    Prometheus(ScrapeAddress),
}

/// A request in each of the forms that receivers want it in, made when the first one does.
pub(super) struct Forms<'a> {
    pub(super) items: u64,
    pub(super) protobuf: &'a dyn Fn() -> Bytes,
    pub(super) json: &'a dyn Fn() -> Bytes,
    pub(super) text: &'a dyn Fn() -> String,
    /// For exporters of spans.
    pub(super) spans: Option<&'a Arc<Together>>,
}

/// The route of a signal to one of its receivers.
enum Route {
    /// Over OTLP.
    Queue(ExportQueue),
    /// To standard error.
    Console(ConsoleFormat, Arc<Account>),
    Plugged(CustomExporter),
}

/// All routes of a signal: those that get new requests, and replaced ones that still have some to send.
pub(super) struct Routes {
    pool: Rc<Pool>,
    current: Vec<Route>,
    replaced: Vec<Replaced>,
    /// What became of the items of replaced routes that are not listed any more.
    finished: Counts,
}

/// Routes that were replaced together. All were handed the same requests.
struct Replaced {
    /// Empty when nothing is left to send.
    routes: Vec<Route>,
    accounts: Vec<Arc<Account>>,
}

impl Routes {
    /// No routes yet. Requests that wait in later ones take their room from `pool`.
    pub(super) fn new(pool: Rc<Pool>) -> Self {
        Routes { pool, current: Vec::new(), replaced: Vec::new(), finished: Counts::default() }
    }

    /// Sends new requests to these receivers from now on.
    pub(super) fn replace(&mut self, receivers: Vec<Receiver>, resource: &EncodedResource) {
        let old = std::mem::take(&mut self.current);
        let inherited = inherited(&old, &receivers);
        let to = |receiver| Route::to(receiver, resource, &self.pool, inherited);
        self.current = receivers.into_iter().filter_map(to).collect();
        if inherited.is_none() {
            for route in &old {
                match route {
                    Route::Queue(queue) => queue.retire(),
                    // Nobody can bring those again that the program brought along.
                    Route::Plugged(handed) => self.current.push(Route::Plugged(handed.with_new_account())),
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
            // Current routes may still send what these have put on disk.
            let is_final =
                replaced.routes.is_empty() && replaced.accounts.iter().all(|account| account.counts().is_final());
            if is_final {
                *finished += counts_of_least(replaced.accounts.iter());
            }
            !is_final
        });
    }

    /// Whether nothing is sent anywhere now.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    /// Whether anybody wants protobuf.
    pub(super) fn want_protobuf(&self) -> bool {
        self.current.iter().any(|route| matches!(route, Route::Queue(queue) if !queue.is_json()))
    }

    /// Whether anybody wants something else.
    pub(super) fn want_plain(&self) -> bool {
        self.current.iter().any(|route| !matches!(route, Route::Queue(queue) if !queue.is_json()))
    }

    /// Hands a request to each receiver.
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
                Route::Plugged(handed) => forms.spans.iter().for_each(|spans| handed.push(spans)),
            }
        }
    }

    /// What became of all items. With several receivers the counts are those of the one that has accepted the least.
    pub(super) fn counts(&self) -> Counts {
        let replaced = self.replaced.iter().map(|replaced| counts_of_least(replaced.accounts.iter()));
        replaced.chain([counts_of_least(self.current.iter().map(Route::account)), self.finished]).sum()
    }

    /// Waits until nothing waits any more.
    pub(super) async fn emptied(&self) {
        // Exporters work while queues are waited for.
        let flushed: Vec<_> = self.plugged().map(CustomExporter::flush).collect();
        for queue in queues(self.all()) {
            queue.emptied().await;
        }
        for answered in flushed {
            let _ = answered.await;
        }
    }

    /// The current exporters; replaced ones are the same.
    fn plugged(&self) -> impl Iterator<Item = &CustomExporter> {
        self.current.iter().filter_map(|route| if let Route::Plugged(handed) = route { Some(handed) } else { None })
    }

    /// The current routes, and replaced ones that still have requests to send.
    fn all(&self) -> impl Iterator<Item = &Route> {
        self.replaced.iter().flat_map(|replaced| &replaced.routes).chain(&self.current)
    }

    /// Has those try again at once that wait to.
    pub(super) fn hurry(&self) {
        for queue in queues(self.all()) {
            queue.hurry();
        }
    }

    /// Looks whether what was put on disk is still there.
    pub(super) async fn verify(&self) {
        for queue in queues(&self.current) {
            queue.verify().await;
        }
    }

    /// Puts on disk what cannot be sent any more, where there is one.
    pub(super) async fn store_rest(&self) {
        for queue in queues(self.all()) {
            queue.store_rest().await;
        }
    }

    /// Waits until what is being sent is dealt with, and has nothing sent after it.
    pub(super) async fn settled(&self) {
        for queue in queues(self.all()) {
            queue.settled().await;
        }
    }

    /// Nothing will be handed over any more: has those end that have to be told. The answers come when they have.
    pub(super) fn end(&self, deadline: Instant) -> Vec<oneshot::Receiver<()>> {
        self.plugged().map(|handed| handed.end(deadline)).collect()
    }

    /// Bytes in the spool, if there is one.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        queues(&self.current).find_map(ExportQueue::disk_bytes)
    }

    /// Bytes that the spool may hold, if there is one.
    pub(super) fn disk_capacity(&self) -> Option<u64> {
        queues(&self.current).find_map(ExportQueue::disk_capacity)
    }

    /// The most items that may wait, if their number is limited: of all current receivers together.
    pub(super) fn most_items(&self) -> Option<u64> {
        queues(&self.current).filter_map(ExportQueue::most_items).reduce(u64::saturating_add)
    }

    /// Whether a receiver that is well has so much to take that there is no room for so many bytes more.
    pub(super) fn are_busy(&self, bytes: usize) -> bool {
        queues(&self.current).any(|queue| queue.is_busy(bytes))
    }

    /// The largest request that all current receivers are sent.
    pub(super) fn longest_request(&self) -> usize {
        queues(&self.current).map(ExportQueue::longest_request).min().unwrap_or(usize::MAX)
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        queues(self.all()).map(|queue| queue.bytes() as u64).sum()
    }
}

impl Route {
    fn to(receiver: Receiver, resource: &EncodedResource, pool: &Rc<Pool>, old: Option<&ExportQueue>) -> Option<Self> {
        match receiver {
            Receiver::Console(format) => Some(Route::Console(format, Arc::default())),
            Receiver::Plugged(plugged) => Some(Route::Plugged(CustomExporter::start(plugged, resource))),
            Receiver::Otlp(otlp) => Some(Route::Queue(ExportQueue::start(otlp, pool, old))),
            Receiver::Prometheus(_) => None,
        }
    }

    fn account(&self) -> &Arc<Account> {
        match self {
            Route::Queue(queue) => queue.account(),
            Route::Console(_, account) => account,
            Route::Plugged(handed) => handed.account(),
        }
    }

    /// Whether nothing that it was handed waits in memory, and nothing is being sent.
    fn is_settled(&self) -> bool {
        match self {
            Route::Queue(queue) => queue.has_ended(),
            Route::Console(..) | Route::Plugged(_) => self.account().counts().pending == 0,
        }
    }
}

fn queues<'a>(routes: impl IntoIterator<Item = &'a Route>) -> impl Iterator<Item = &'a ExportQueue> {
    routes.into_iter().filter_map(|route| if let Route::Queue(queue) = route { Some(queue) } else { None })
}

/// The counts of the receiver that has accepted the least. All were handed the same requests.
fn counts_of_least<'a>(accounts: impl Iterator<Item = &'a Arc<Account>>) -> Counts {
    accounts.map(|account| account.counts()).min_by_key(|counts| counts.exported).unwrap_or_default()
}

/// The queue that a new one takes over from, if what waits is in a form that the new receiver accepts. With several
/// receivers their counts would not match, so there each queue sends what it has.
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
