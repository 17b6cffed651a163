//! Delivers a request: sends it, split if it is too large, and counts its items by the receiver's response.

use std::collections::VecDeque;

use bytes::Bytes;
use tokio::time::Instant;

use super::Queue;
use super::worker::{Ended, Event, Retry, Stop, Stopped, Work, Worker};
use crate::export::account::{Counts, State};
use crate::export::pipeline::losses::ITEMS;
use crate::export::pipeline::outbox::Batch;
use crate::export::pipeline::reported::head;
use crate::export::pipeline::size::{LEAST_BYTES, Size};
use crate::export::pipeline::split::split;
use crate::export::self_metrics::{self, Outcome, Reason};
use crate::export::transport::{Sent, Transport};

impl Worker {
    /// Sends a request, split if the receiver finds it too large, up to the first part that has to be retried. Counts
    /// the items of answered parts; the rest is pending again.
    pub(super) async fn deliver(&mut self, transport: &mut Transport, work: Work) -> Ended {
        let (stored, longest) = (matches!(work, Work::Stored(_)), self.queue.borrow().size.now());
        let mut parts = VecDeque::from(split(work.batch(), self.layout, longest));
        let (mut counts, mut ended) = (Counts::default(), Ended::Answered);
        let mut finish = None;
        while let Some(part) = parts.pop_front() {
            let began = Instant::now();
            let sent = match self.attempt(transport, part.bytes.clone(), stored, &mut finish).await {
                Ok(sent) => sent,
                Err(stopped) => {
                    parts.push_front(part);
                    ended = Ended::Stopped(stopped);
                    break;
                }
            };
            self_metrics::sent(self.signal, outcome(&sent), began.elapsed());
            if let Some(problem) = transport.files_problem() {
                self.failures.complain("files", &problem);
            }
            match sent {
                Sent::Accepted { rejected, message } => {
                    self.accepted(part.items, rejected, &message.unwrap_or_default(), &mut counts);
                }
                Sent::Unconfirmed { cause } => {
                    self.failures.complain("unconfirmed", &cause);
                    counts.add(part.items, State::Unconfirmed);
                }
                Sent::TooLarge { cause } => {
                    let smaller = self.halved(part, &cause);
                    match &smaller[..] {
                        [whole] => self.refused(whole.items, &cause, &mut counts),
                        _ => smaller.into_iter().rev().for_each(|part| parts.push_front(part)),
                    }
                }
                Sent::Refused { cause } => self.refused(part.items, &cause, &mut counts),
                Sent::Retry { after, cause, probe } => {
                    parts.push_front(part);
                    ended = Ended::Retry(Retry { after, cause, probe });
                    break;
                }
            }
        }
        self.settle(work, &counts, parts.into()).await;
        finish.map_or(ended, Ended::Stopped)
    }

    /// Sends a request once. If it comes from disk and the receiver is failing, new requests are stored on disk
    /// meanwhile. Fails if a command stops the worker at once; sets `finish` if a command stops it after this request.
    async fn attempt(
        &mut self,
        transport: &mut Transport,
        bytes: Bytes,
        stored: bool,
        finish: &mut Option<Stopped>,
    ) -> Result<Sent, Stopped> {
        let send = transport.send(bytes);
        tokio::pin!(send);
        loop {
            tokio::select! {
                biased;
                sent = &mut send => return Ok(sent),
                event = self.inbox.next(), if finish.is_none() => match event {
                    Event::Look if stored && self.queue.borrow().is_failing => self.store_all().await,
                    Event::Look | Event::Hurry => {}
                    Event::Stop((Stop::Finish, answer)) => *finish = Some((Stop::Finish, answer)),
                    Event::Stop(stopped) => return Err(stopped),
                }
            }
        }
    }

    /// Counts the items of an accepted part: as dropped if the receiver rejected them, otherwise as exported. Notes
    /// that the receiver works.
    fn accepted(&mut self, items: u64, rejected: u64, message: &str, counts: &mut Counts) {
        self.failures.recovered();
        self_metrics::succeeded(self.signal, self.backend);
        self.queue.borrow_mut().accepted();
        let rejected = rejected.min(items);
        if rejected > 0 {
            self.report_dropped("rejected", rejected, message);
        } else if !message.is_empty() {
            self.failures.complain("accepted", &format!("the receiver accepted the request with a message: {message}"));
        }
        counts.add(items - rejected, State::Exported);
        counts.add(rejected, State::Dropped(Reason::Rejected));
    }

    /// Reports a part that the receiver rejected for good, and counts its items as dropped.
    fn refused(&mut self, items: u64, cause: &str, counts: &mut Counts) {
        self.report_dropped(&format!("refused: {}", head(cause)), items, cause);
        counts.add(items, State::Dropped(Reason::Refused));
    }

    /// Reports a loss, with the receiver's reason if it named one.
    fn report_dropped(&mut self, cause: &str, items: u64, reason: &str) {
        let (name, separator) = (ITEMS[self.signal as usize], if reason.is_empty() { "" } else { ": " });
        self.failures
            .complain(cause, &format!("dropped {items} {name}: the receiver rejected them{separator}{reason}"));
    }

    /// Halves the maximum size of requests, and splits a part that the receiver found too large. Returns the whole part
    /// if it cannot be split further.
    fn halved(&mut self, part: Batch, cause: &str) -> Vec<Batch> {
        let bytes = part.bytes.len();
        if bytes <= LEAST_BYTES {
            return vec![part];
        }
        let longest = self.queue.borrow_mut().size.halve(bytes);
        let text = format!("a request of {bytes} bytes is too large; sending at most {longest} bytes: {cause}");
        self.failures.complain("too large", &text);
        split(part, self.layout, longest)
    }

    /// Settles a request: counts its answered items, and makes the rest pending again.
    async fn settle(&mut self, work: Work, counts: &Counts, rest: Vec<Batch>) {
        match (work, &self.disk) {
            // A file stays whole: parts that were answered are sent again with the rest, and counted then.
            (Work::Stored(claimed), Some(disk)) if !rest.is_empty() => disk.back(claimed),
            (Work::Stored(claimed), Some(disk)) => disk.done(claimed, counts, &self.account).await,
            _ => {
                self.account.settle(State::Pending, counts);
                self.queue.borrow_mut().outbox.sent_but(rest);
            }
        }
    }
}

impl Queue {
    /// Notes that the receiver works.
    fn accepted(&mut self) {
        self.is_failing = false;
        self.size.accepted();
    }

    /// Forgets the state of the previous receiver: a new one may work, and accept larger requests.
    pub(super) fn forget_receiver(&mut self) {
        self.is_failing = false;
        self.size = Size::new(self.outbox.longest_request());
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
