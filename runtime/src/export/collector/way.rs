//! The ways from here to the receivers of a signal.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::export_queue::{ExportQueue, OtlpReceiver};
use super::exporter::{Handed, Plugged, Together};
use super::outbox::{Batch, Pool};
use crate::config::ConsoleFormat;
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

/// How a signal goes to one of its receivers.
enum Way {
    /// Over OTLP.
    Queue(ExportQueue),
    /// To standard error.
    Console(ConsoleFormat, Arc<Account>),
    Plugged(Handed),
}

/// All receivers of a signal: those of today, and those that it had before and that may still be sent something.
pub(super) struct Ways {
    pool: Rc<Pool>,
    today: Vec<Way>,
    before: Vec<Day>,
    /// What became of what was handed to receivers before those, which have dealt with all of it.
    past: Counts,
}

/// Receivers that were replaced together. All were handed the same.
struct Day {
    /// Those that may still be sent something; all of them or none.
    ways: Vec<Way>,
    accounts: Vec<Arc<Account>>,
}

impl Ways {
    /// None yet; what waits for those to come takes its room from `pool`.
    pub(super) fn new(pool: Rc<Pool>) -> Self {
        Ways { pool, today: Vec::new(), before: Vec::new(), past: Counts::default() }
    }

    /// Sends what comes from now on to these receivers.
    pub(super) fn replace(&mut self, receivers: Vec<Receiver>, resource: &EncodedResource) {
        let old = std::mem::take(&mut self.today);
        let inherited = inherited(&old, &receivers);
        let to = |receiver| Way::to(receiver, resource, &self.pool, inherited);
        self.today = receivers.into_iter().map(to).collect();
        if inherited.is_none() {
            for way in &old {
                match way {
                    Way::Queue(queue) => queue.retire(),
                    // Nobody can bring those again that the program brought along.
                    Way::Plugged(handed) => self.today.push(Way::Plugged(handed.another_day())),
                    Way::Console(..) => {}
                }
            }
            let accounts = old.iter().map(|way| way.account().clone()).collect();
            self.before.push(Day { ways: old, accounts });
        }
        self.forget_settled();
    }

    /// Lets receivers of earlier days go that have dealt with all that they were handed, and keeps their counts.
    fn forget_settled(&mut self) {
        let past = &mut self.past;
        self.before.retain_mut(|day| {
            if day.ways.iter().all(Way::is_settled) {
                day.ways.clear();
            }
            // Others may still send or remove what these have put on disk.
            let is_final = day.ways.is_empty() && day.accounts.iter().all(|account| account.counts().is_final());
            if is_final {
                *past += of_day(day.accounts.iter());
            }
            !is_final
        });
    }

    /// Whether anybody wants protobuf.
    pub(super) fn want_protobuf(&self) -> bool {
        self.today.iter().any(|way| matches!(way, Way::Queue(queue) if !queue.is_json()))
    }

    /// Whether anybody wants something else.
    pub(super) fn want_plain(&self) -> bool {
        self.today.iter().any(|way| !matches!(way, Way::Queue(queue) if !queue.is_json()))
    }

    /// Hands a request to each receiver.
    pub(super) fn push(&self, forms: &Forms<'_>) {
        let (mut protobuf, mut json) = (None, None);
        let items = forms.items;
        for way in &self.today {
            match way {
                Way::Queue(queue) => {
                    let bytes = if queue.is_json() {
                        json.get_or_insert_with(forms.json).clone()
                    } else {
                        protobuf.get_or_insert_with(forms.protobuf).clone()
                    };
                    queue.push(Batch { bytes, items });
                }
                Way::Console(format, account) => {
                    match format {
                        ConsoleFormat::Text => console::show(&(forms.text)()),
                        ConsoleFormat::Json => console::show_line(json.get_or_insert_with(forms.json)),
                    }
                    account.add(items, State::Exported);
                }
                Way::Plugged(handed) => forms.spans.iter().for_each(|spans| handed.push(spans)),
            }
        }
    }

    /// What became of what was handed over. All receivers of a day were handed the same; the one that has got the least of
    /// it speaks for them.
    pub(super) fn counts(&self) -> Counts {
        let before = self.before.iter().map(|day| of_day(day.accounts.iter()));
        before.chain([of_day(self.today.iter().map(Way::account)), self.past]).sum()
    }

    /// Waits until nothing waits any more.
    pub(super) async fn emptied(&self) {
        // Exporters work while queues are waited for.
        let flushed: Vec<_> = self.plugged().map(Handed::flush).collect();
        for queue in queues(self.all()) {
            queue.emptied().await;
        }
        for answered in flushed {
            let _ = answered.await;
        }
    }

    /// The exporters of today; those of before are the same.
    fn plugged(&self) -> impl Iterator<Item = &Handed> {
        self.today.iter().filter_map(|way| if let Way::Plugged(handed) = way { Some(handed) } else { None })
    }

    /// Those of today, and those of before that may still be sent something.
    fn all(&self) -> impl Iterator<Item = &Way> {
        self.before.iter().flat_map(|day| &day.ways).chain(&self.today)
    }

    /// Has those try again at once that wait to.
    pub(super) fn hurry(&self) {
        for queue in queues(self.all()) {
            queue.hurry();
        }
    }

    /// Looks whether what was put on disk is still there.
    pub(super) async fn verify(&self) {
        for queue in queues(&self.today) {
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
        queues(&self.today).find_map(ExportQueue::disk_bytes)
    }

    /// Whether a receiver that is well has so much to take that there is no room for so many bytes more.
    pub(super) fn are_busy(&self, bytes: usize) -> bool {
        queues(&self.today).any(|queue| queue.is_busy(bytes))
    }

    /// The largest request that all receivers of today are sent.
    pub(super) fn longest_request(&self) -> usize {
        queues(&self.today).map(ExportQueue::longest_request).min().unwrap_or(usize::MAX)
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        queues(self.all()).map(|queue| queue.bytes() as u64).sum()
    }
}

impl Way {
    fn to(receiver: Receiver, resource: &EncodedResource, pool: &Rc<Pool>, old: Option<&ExportQueue>) -> Self {
        match receiver {
            Receiver::Console(format) => Way::Console(format, Arc::default()),
            Receiver::Plugged(plugged) => Way::Plugged(Handed::start(plugged, resource)),
            Receiver::Otlp(otlp) => Way::Queue(ExportQueue::start(otlp, pool, old)),
        }
    }

    fn account(&self) -> &Arc<Account> {
        match self {
            Way::Queue(queue) => queue.account(),
            Way::Console(_, account) => account,
            Way::Plugged(handed) => handed.account(),
        }
    }

    /// Whether nothing that it was handed waits in memory, and nothing is being sent.
    fn is_settled(&self) -> bool {
        match self {
            Way::Queue(queue) => queue.has_ended(),
            Way::Console(..) | Way::Plugged(_) => self.account().counts().pending == 0,
        }
    }
}

fn queues<'a>(ways: impl IntoIterator<Item = &'a Way>) -> impl Iterator<Item = &'a ExportQueue> {
    ways.into_iter().filter_map(|way| if let Way::Queue(queue) = way { Some(queue) } else { None })
}

/// What became of what was handed to the receivers of a day: what the one says that has got the least of it.
fn of_day<'a>(accounts: impl Iterator<Item = &'a Arc<Account>>) -> Counts {
    accounts.map(|account| account.counts()).min_by_key(|counts| counts.exported).unwrap_or_default()
}

/// The queue that a new one takes over from, if what waits is in a form that the new receiver accepts. Beside others its counts
/// would be those of another day, so there those of before send what they have.
fn inherited<'a>(old: &'a [Way], new: &[Receiver]) -> Option<&'a ExportQueue> {
    match (old, new) {
        ([Way::Queue(queue)], [Receiver::Otlp(otlp)]) => queue.suits(otlp.protocol).then_some(queue),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_that_were_replaced_are_let_go_and_their_counts_stay() {
        let mut ways = Ways::new(Pool::within(1 << 20));
        for day in 1..10 {
            ways.replace(vec![Receiver::Console(ConsoleFormat::Text)], &EncodedResource::new(&[]));
            if let [Way::Console(_, account)] = &ways.today[..] {
                account.add(day, State::Exported);
            }
        }
        assert_eq!((ways.before.len(), ways.counts().exported), (0, (1..10).sum()));
    }
}
