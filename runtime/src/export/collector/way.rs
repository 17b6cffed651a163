//! The ways from here to the receivers of a signal.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::counts::Counts;
use super::disk::Disk;
use super::exporter::{Handed, Plugged, Together};
use super::lane::Lane;
use super::outbox::{Batch, Outbox, Pool};
use crate::config::{ConsoleFormat, Protocol, Signal};
use crate::encode::resource::EncodedResource;
use crate::export::console;
use crate::export::transport::Transport;

/// A receiver of one signal.
pub(crate) enum Receiver {
    /// Over OTLP; `what` says of it what goes where.
    Otlp {
        signal: Signal,
        what: String,
        protocol: Protocol,
        transport: Box<Transport>,
        most_items: u64,
        disk: Option<Box<Disk>>,
    },
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
    /// As protobuf or as JSON.
    Lane(Rc<Lane>, Protocol),
    /// To standard error, and how much went there.
    Console(ConsoleFormat, Cell<u64>),
    Plugged(Handed),
}

/// All receivers of a signal: those of today, and those that it had before and that may still be sent something.
pub(super) struct Ways {
    pool: Rc<Pool>,
    today: Vec<Way>,
    before: Vec<Vec<Way>>,
    /// What became of what was handed to receivers before those, which have dealt with all of it.
    past: Counts,
}

impl Ways {
    /// None yet; what waits for those to come takes its room from `pool`.
    pub(super) fn new(pool: Rc<Pool>) -> Self {
        Ways { pool, today: Vec::new(), before: Vec::new(), past: Counts::default() }
    }

    /// Sends what comes from now on to these receivers.
    pub(super) fn replace(&mut self, receivers: Vec<Receiver>, resource: &EncodedResource) {
        let mut today: Vec<_> = receivers.into_iter().map(|receiver| Way::to(receiver, resource, &self.pool)).collect();
        // What waits goes to the new receiver, if it is in a form that can. Beside others its count would be that of another
        // day, so there those of before send what they have.
        if let ([Way::Lane(old, from)], [Way::Lane(new, to)]) = (&self.today[..], &today[..])
            && is_json(*from) == is_json(*to)
        {
            new.adopt(old);
        }
        for way in &self.today {
            match way {
                Way::Lane(old, _) => old.retire(),
                // Nobody can bring those again that the program brought along.
                Way::Plugged(handed) => today.push(Way::Plugged(handed.another_day())),
                Way::Console(..) => {}
            }
        }
        let before = std::mem::replace(&mut self.today, today);
        if !before.is_empty() {
            self.before.push(before);
        }
        self.forget_settled();
    }

    /// Lets receivers of earlier days go that have dealt with all that they were handed, and keeps their counts.
    fn forget_settled(&mut self) {
        let all = std::mem::take(&mut self.before).into_iter();
        let (settled, open): (Vec<_>, _) = all.partition(|day| day.iter().all(Way::is_settled));
        self.before = open;
        for day in settled {
            self.past = std::iter::once(self.past).chain(of_day(&day)).sum();
            day.iter().for_each(Way::stop);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.today.is_empty()
    }

    /// Whether anybody wants protobuf.
    pub(super) fn want_protobuf(&self) -> bool {
        self.today.iter().any(|way| matches!(way, Way::Lane(_, Protocol::Grpc | Protocol::HttpProtobuf)))
    }

    /// Whether anybody wants something else.
    pub(super) fn want_plain(&self) -> bool {
        self.today
            .iter()
            .any(|way| matches!(way, Way::Lane(_, Protocol::HttpJson) | Way::Console(..) | Way::Plugged(_)))
    }

    /// Hands a request to each receiver.
    pub(super) fn push(&self, forms: &Forms<'_>) {
        let (mut protobuf, mut json) = (None, None);
        let items = forms.items;
        for way in &self.today {
            match way {
                Way::Lane(lane, Protocol::HttpJson) => {
                    let bytes = json.get_or_insert_with(forms.json).clone();
                    lane.push(Batch { bytes, items });
                }
                Way::Lane(lane, _) => {
                    let bytes = protobuf.get_or_insert_with(forms.protobuf).clone();
                    lane.push(Batch { bytes, items });
                }
                Way::Console(format, shown) => {
                    match format {
                        ConsoleFormat::Text => console::show(&(forms.text)()),
                        ConsoleFormat::Json => console::show_line(json.get_or_insert_with(forms.json)),
                    }
                    shown.set(shown.get() + items);
                }
                Way::Plugged(handed) => forms.spans.iter().for_each(|spans| handed.push(spans)),
            }
        }
    }

    /// What became of what was handed over. All receivers of a day were handed the same; the one that has got the least of
    /// it speaks for them.
    pub(super) fn counts(&self) -> Counts {
        let days = self.before.iter().chain(std::iter::once(&self.today));
        days.filter_map(|day| of_day(day)).chain(std::iter::once(self.past)).sum()
    }

    /// Waits until nothing waits any more.
    pub(super) async fn emptied(&self) {
        // Exporters work while lanes are waited for.
        let flushed: Vec<_> = self.plugged().map(Handed::flush).collect();
        for way in self.before.iter().flatten().chain(&self.today) {
            if let Way::Lane(lane, _) = way {
                lane.emptied().await;
            }
        }
        for answered in flushed {
            let _ = answered.await;
        }
    }

    /// The exporters of today; those of before are the same.
    fn plugged(&self) -> impl Iterator<Item = &Handed> {
        self.today.iter().filter_map(|way| if let Way::Plugged(handed) = way { Some(handed) } else { None })
    }

    /// Has those try again at once that wait to.
    pub(super) fn hurry(&self) {
        for way in self.before.iter().flatten().chain(&self.today) {
            if let Way::Lane(lane, _) = way {
                lane.hurry();
            }
        }
    }

    /// Looks whether what was put on disk is still there.
    pub(super) async fn verify(&self) {
        for way in &self.today {
            if let Way::Lane(lane, _) = way {
                lane.verify().await;
            }
        }
    }

    /// Puts on disk what cannot be sent any more, where there is one.
    pub(super) async fn store_rest(&self) {
        for way in self.before.iter().flatten().chain(&self.today) {
            if let Way::Lane(lane, _) = way {
                lane.store_rest().await;
            }
        }
    }

    /// Waits until what is being sent is dealt with, and has nothing sent after it.
    pub(super) async fn settled(&self) {
        for way in self.before.iter().flatten().chain(&self.today) {
            if let Way::Lane(lane, _) = way {
                lane.settled().await;
            }
        }
    }

    /// Nothing will be handed over any more: has those end that have to be told. The answers come when they have.
    pub(super) fn end(&self, deadline: Instant) -> Vec<oneshot::Receiver<()>> {
        self.plugged().map(|handed| handed.end(deadline)).collect()
    }

    /// Bytes in the spool, if there is one.
    pub(super) fn disk_bytes(&self) -> Option<u64> {
        self.today.iter().find_map(|way| if let Way::Lane(lane, _) = way { lane.disk_bytes() } else { None })
    }

    /// Whether a receiver that is well has so much to take that there is no room for so many bytes more.
    pub(super) fn are_busy(&self, bytes: usize) -> bool {
        self.today.iter().any(|way| if let Way::Lane(lane, _) = way { lane.is_busy(bytes) } else { false })
    }

    /// The largest request that all receivers of today are sent.
    pub(super) fn longest_request(&self) -> usize {
        let lanes = self.today.iter().filter_map(|way| if let Way::Lane(lane, _) = way { Some(lane) } else { None });
        lanes.map(|lane| lane.longest_request()).min().unwrap_or(usize::MAX)
    }

    /// Bytes that wait to be sent.
    pub(super) fn bytes(&self) -> u64 {
        let lanes = self.before.iter().flatten().chain(&self.today);
        lanes.map(|way| if let Way::Lane(lane, _) = way { lane.bytes() as u64 } else { 0 }).sum()
    }
}

impl Way {
    fn to(receiver: Receiver, resource: &EncodedResource, pool: &Rc<Pool>) -> Self {
        match receiver {
            Receiver::Console(format) => Way::Console(format, Cell::new(0)),
            Receiver::Plugged(plugged) => Way::Plugged(Handed::start(plugged, resource)),
            Receiver::Otlp { signal, what, protocol, transport, most_items, disk } => {
                let lane = Lane::new(signal, protocol, what, Outbox::new(pool.clone(), most_items), disk);
                lane.start(transport);
                Way::Lane(lane, protocol)
            }
        }
    }

    fn counts(&self) -> Counts {
        match self {
            Way::Lane(lane, _) => lane.counts(),
            Way::Console(_, shown) => Counts { exported: shown.get(), ..Counts::default() },
            Way::Plugged(handed) => handed.counts(),
        }
    }

    /// Whether it has dealt with all that it was handed.
    fn is_settled(&self) -> bool {
        match self {
            Way::Lane(lane, _) => lane.is_settled(),
            Way::Console(..) => true,
            Way::Plugged(handed) => handed.counts().waiting == 0,
        }
    }

    fn stop(&self) {
        if let Way::Lane(lane, _) = self {
            lane.stop();
        }
    }
}

/// What became of what was handed to the receivers of a day: what the one says that has got the least of it.
fn of_day(day: &[Way]) -> Option<Counts> {
    day.iter().map(Way::counts).min_by_key(|counts| counts.exported)
}

fn is_json(protocol: Protocol) -> bool {
    protocol == Protocol::HttpJson
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_that_were_replaced_are_let_go_and_their_counts_stay() {
        let mut ways = Ways::new(Pool::within(1 << 20));
        for day in 1..10 {
            ways.replace(vec![Receiver::Console(ConsoleFormat::Text)], &EncodedResource::new(&[]));
            if let [Way::Console(_, shown)] = &ways.today[..] {
                shown.set(day);
            }
        }
        assert_eq!((ways.before.len(), ways.counts().exported), (0, (1..10).sum()));
    }
}
