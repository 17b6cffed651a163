//! One signal on its way from memory to requests: what spans, metric points and log records have in common.
//!
//! A [`Source`] takes items of its signal and adds them to the request in the making. The [`Batcher`] hands that request to
//! the routes when it is full, by items or bytes, or old enough.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::outbox::Pool;
use super::route::{Receiver, Routes};
use super::size::longest_request;
use crate::config::Signal;
use crate::encode::resource::EncodedResource;
use crate::export::account::{Counts, State};

/// What there was to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Nothing,
    Some,
    /// Some, and more for which there is no room yet.
    More,
}

/// Where the items of a signal come from.
pub(super) trait Source {
    const SIGNAL: Signal;
    /// What it takes items from.
    type Feed;
    type Content: Content;

    /// Takes items from here from now on.
    fn start(&mut self, feed: Self::Feed);

    /// Whether items have to be taken while the program runs.
    fn is_polled(&self) -> bool;

    /// Takes what came since the last time. While a receiver works and has no room for more, the rest stays where it is.
    fn take(&mut self, routes: &Routes, batcher: &mut Batcher<Self::Content>) -> Found;

    /// Nothing new comes in any more; what is there can still be taken.
    fn close(&self) {}

    /// Items that have not been taken, and those that were lost before.
    fn untaken(&self) -> Counts {
        Counts::default()
    }
}

/// The content of a request in the making, in each form that a route wants.
pub(super) trait Content {
    /// From now on these forms are wanted.
    fn want(&mut self, protobuf: bool, plain: bool);

    /// About as many bytes as its largest form takes.
    fn bytes(&self) -> usize;

    /// Hands it to all routes, and begins the next one.
    fn hand_over(&mut self, items: u64, resource: &EncodedResource, routes: &Routes);
}

/// What is to be done with a signal.
pub(crate) struct Setup<Feed> {
    /// What items are taken from, if the signal has just been switched on.
    pub(crate) feed: Option<Feed>,
    /// Where they go, if that has changed.
    pub(crate) receivers: Option<Vec<Receiver>>,
    /// The most items of a request.
    pub(crate) size: u32,
    /// The longest time until a request with fewer items is sent; of metrics, the time between two readings.
    pub(crate) delay: Duration,
}

/// The request in the making.
pub(super) struct Batcher<C> {
    content: C,
    items: usize,
    /// When its first item was seen to wait.
    since: Option<Instant>,
    size: usize,
    /// The most bytes of a request, now and if no receiver wants less.
    longest: usize,
    most: usize,
    delay: Duration,
    resource: EncodedResource,
}

impl<C: Content> Batcher<C> {
    /// Adds an item, and hands the request to the routes if it is full then.
    pub(super) fn add(&mut self, routes: &Routes, add: impl FnOnce(&mut C)) {
        add(&mut self.content);
        self.items += 1;
        if self.items >= self.size || self.content.bytes() >= self.longest {
            self.hand_over(routes);
        }
    }

    /// Hands a whole request to the routes.
    pub(super) fn send(&mut self, routes: &Routes, items: u64, content: C) {
        self.content = content;
        self.content.hand_over(items, &self.resource, routes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The most bytes of a request.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether what is there has waited long enough.
    fn is_due(&mut self, urgent: bool) -> bool {
        if self.items == 0 {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        urgent || since.elapsed() >= self.delay
    }

    fn hand_over(&mut self, routes: &Routes) {
        self.content.hand_over(self.items as u64, &self.resource, routes);
        (self.items, self.since) = (0, None);
    }
}

/// A signal from its source to its routes.
pub(super) struct Pipeline<S: Source> {
    pub(super) source: S,
    pub(super) routes: Routes,
    pub(super) batcher: Batcher<S::Content>,
}

impl<S: Source> Pipeline<S> {
    pub(super) fn new(source: S, content: S::Content, resource: EncodedResource, pool: Rc<Pool>) -> Self {
        let most = longest_request(pool.most());
        let (size, delay) = (1, Duration::MAX);
        let batcher = Batcher { content, items: 0, since: None, size, longest: most, most, delay, resource };
        Pipeline { source, routes: Routes::new(pool), batcher }
    }

    pub(super) fn change(&mut self, setup: Setup<S::Feed>) {
        self.take(true);
        setup.feed.into_iter().for_each(|feed| self.source.start(feed));
        if let Some(receivers) = setup.receivers {
            self.routes.replace(receivers, &self.batcher.resource);
            self.batcher.content.want(self.routes.want_protobuf(), self.routes.want_plain());
        }
        (self.batcher.size, self.batcher.delay) = (setup.size.max(1) as usize, setup.delay);
    }
}

/// A pipeline, whatever its source.
pub(super) trait AnyPipeline {
    fn signal(&self) -> Signal;

    fn routes(&self) -> &Routes;

    /// Whether items have to be taken while the program runs.
    fn is_polled(&self) -> bool;

    /// The longest time until a request is sent.
    fn delay(&self) -> Duration;

    /// Takes items. Those that are too few for a request wait for others, unless it is urgent.
    fn take(&mut self, urgent: bool) -> Found;

    /// Nothing new comes in any more; what is there can still be taken.
    fn close(&self);

    /// What became of all items.
    fn counts(&self) -> Counts;

    /// Bytes that wait to be sent.
    fn bytes(&self) -> u64;
}

impl<S: Source> AnyPipeline for Pipeline<S> {
    fn signal(&self) -> Signal {
        S::SIGNAL
    }

    fn routes(&self) -> &Routes {
        &self.routes
    }

    fn is_polled(&self) -> bool {
        self.source.is_polled()
    }

    fn delay(&self) -> Duration {
        self.batcher.delay
    }

    fn take(&mut self, urgent: bool) -> Found {
        self.batcher.longest = self.batcher.most.min(self.routes.longest_request());
        let found = self.source.take(&self.routes, &mut self.batcher);
        if self.batcher.is_due(urgent) {
            self.batcher.hand_over(&self.routes);
        }
        found
    }

    fn close(&self) {
        self.source.close();
    }

    fn counts(&self) -> Counts {
        let mut counts: Counts = [self.routes.counts(), self.source.untaken()].into_iter().sum();
        counts.add(self.batcher.items as u64, State::Pending);
        counts
    }

    fn bytes(&self) -> u64 {
        // A request without items has a beginning already, which nobody waits for.
        let bytes = if self.batcher.is_empty() { 0 } else { self.batcher.content.bytes() as u64 };
        self.routes.bytes() + bytes
    }
}
