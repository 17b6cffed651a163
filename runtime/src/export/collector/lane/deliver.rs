//! One request on its way: sent, in parts if need be, and counted by what the receiver says.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::Lane;
use crate::export::account::{Counts, State};
use crate::export::collector::outbox::Batch;
use crate::export::collector::size::LEAST_BYTES;
use crate::export::collector::split::split;
use crate::export::collector::told::head;
use crate::export::own::{self, Outcome, Reason};
use crate::export::spool::Claimed;
use crate::export::transport::{Probe, Sent, Transport};

/// A request that is to be sent.
pub(super) enum Work {
    /// From memory.
    Live(Batch),
    /// From disk.
    Stored(Claimed),
}

impl Work {
    pub(super) fn batch(&self) -> Batch {
        match self {
            Work::Live(batch) => batch.clone(),
            Work::Stored(claimed) => Batch { bytes: claimed.bytes.clone(), items: claimed.items },
        }
    }
}

/// Why a request has to be sent again, and when.
pub(super) struct Retry {
    pub(super) after: Option<Duration>,
    pub(super) cause: String,
    pub(super) probe: Probe,
}

/// How far a request came.
#[derive(Default)]
pub(super) struct Delivery {
    /// What became of the parts that the receiver has answered for good.
    counts: Counts,
    /// Parts that have to be sent again.
    rest: Vec<Batch>,
    retry: Option<Retry>,
}

impl Lane {
    /// Sends a request, in parts if the receiver finds it too large, up to the first part that has to wait.
    pub(super) async fn deliver(&self, transport: &mut Transport, batch: Batch, stored: bool) -> Delivery {
        let mut parts = VecDeque::from(split(batch, self.form, self.size.now()));
        let mut delivery = Delivery::default();
        while let Some(part) = parts.pop_front() {
            let began = Instant::now();
            let sent = self.attempt(transport, part.bytes.clone(), stored).await;
            own::sent(self.signal, outcome(&sent), began.elapsed());
            if let Some(problem) = transport.files_problem() {
                self.complain("files", &format!("{problem}; using the previous certificates"));
            }
            match sent {
                Sent::Accepted { rejected, message } => {
                    self.accepted(part.items, rejected, &message.unwrap_or_default(), &mut delivery.counts);
                }
                Sent::Unconfirmed { cause } => {
                    self.complain("unconfirmed", &cause);
                    delivery.counts.add(part.items, State::Unconfirmed);
                }
                Sent::TooLarge { cause } => {
                    let smaller = self.halved(part, &cause);
                    match &smaller[..] {
                        [whole] => self.refused(whole.items, &cause, &mut delivery.counts),
                        _ => smaller.into_iter().rev().for_each(|part| parts.push_front(part)),
                    }
                }
                Sent::Refused { cause } => self.refused(part.items, &cause, &mut delivery.counts),
                Sent::Retry { after, cause, probe } => {
                    parts.push_front(part);
                    delivery.retry = Some(Retry { after, cause, probe });
                    break;
                }
            }
        }
        delivery.rest = parts.into();
        delivery
    }

    /// Sends a request once. Where this is to find out whether the receiver is back, what comes meanwhile goes to disk.
    async fn attempt(&self, transport: &mut Transport, bytes: Bytes, stored: bool) -> Sent {
        let send = transport.send(bytes);
        let (true, Some(disk), true) = (stored, &self.disk, self.is_failing()) else { return send.await };
        tokio::pin!(send);
        loop {
            tokio::select! {
                biased;
                sent = &mut send => return sent,
                () = self.filled.notified() => self.store_all(disk).await,
            }
        }
    }

    /// The receiver took a part, or most of it.
    fn accepted(&self, items: u64, rejected: u64, message: &str, counts: &mut Counts) {
        self.recovered();
        self.size.accepted();
        let rejected = rejected.min(items);
        if rejected > 0 {
            self.complain("rejected", &format!("the receiver rejected {rejected} of {items}: {message}"));
        } else if !message.is_empty() {
            self.complain("accepted", &format!("the receiver accepted {items} items and says: {message}"));
        }
        counts.add(items - rejected, State::Exported);
        counts.add(rejected, State::Dropped(Reason::Rejected));
    }

    /// The receiver will never take a part.
    fn refused(&self, items: u64, cause: &str, counts: &mut Counts) {
        self.complain(&format!("refused: {}", head(cause)), &format!("{items} items are lost: {cause}"));
        counts.add(items, State::Dropped(Reason::Refused));
    }

    /// The receiver found a part too large: makes smaller ones of it, unless it is small already.
    fn halved(&self, part: Batch, cause: &str) -> Vec<Batch> {
        let bytes = part.bytes.len();
        if bytes <= LEAST_BYTES {
            return vec![part];
        }
        let longest = self.size.halve(bytes);
        let text = format!("a request of {bytes} bytes is too large, sending at most {longest}: {cause}");
        self.complain("too large", &text);
        split(part, self.form, longest)
    }

    /// Notes what became of a request. What is left of it waits again; when and why, if there is any.
    pub(super) async fn settle(&self, work: Work, delivery: Delivery) -> Option<Retry> {
        let Delivery { counts, rest, retry } = delivery;
        match (work, &self.disk) {
            // What was sent of a file is sent again with the rest of it, and counted then.
            (Work::Stored(claimed), Some(disk)) if retry.is_some() => disk.back(claimed),
            (Work::Stored(claimed), Some(disk)) => {
                let _not_left_behind = self.storing.lock().await;
                disk.done(claimed, &counts, &self.account).await;
            }
            _ => {
                self.account.settle(State::Pending, &counts);
                self.outbox.borrow_mut().sent_but(rest);
            }
        }
        retry
    }
}

fn outcome(sent: &Sent) -> Outcome {
    match sent {
        Sent::Accepted { rejected: 0, .. } => Outcome::Ok,
        Sent::Accepted { .. } => Outcome::Partial,
        Sent::Refused { .. } | Sent::TooLarge { .. } => Outcome::Refused,
        Sent::Unconfirmed { .. } => Outcome::Unconfirmed,
        Sent::Retry { .. } => Outcome::Retry,
    }
}
