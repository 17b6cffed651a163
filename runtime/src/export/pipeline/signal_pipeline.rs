//! The pipeline of one signal: code that spans, metric points and log records share.
//!
//! A [`Source`] takes items of its signal and adds them to the next request. The [`Batcher`] passes the request to the
//! routes when the request is full (by items or bytes) or its delay is over.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::outbox::Pool;
use super::route::{Receiver, Routes};
use super::size::longest_request;
use crate::config::Signal;
use crate::encode::resource::EncodedResource;
use crate::export::account::{Counts, State};

/// The result of taking items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Nothing,
    Some,
    /// Items may be left, because receivers have no room for them yet or because the maximum for one call was taken.
    More,
}

/// The source of a signal's items.
pub(super) trait Source {
    const SIGNAL: Signal;
    /// The recorder, queue or metric readers from which items are taken.
    type Feed;
    type Content: Content;

    /// Sets the feed.
    fn start(&mut self, feed: Self::Feed);

    /// True if items have to be taken regularly.
    fn is_polled(&self) -> bool;

    /// Takes new items. While a working receiver has no room for more, the rest stays in the feed.
    fn take(&mut self, routes: &Routes, batcher: &mut Batcher<Self::Content>) -> Found;

    /// Stops the intake. Items that were recorded before can still be taken.
    fn close(&self) {}

    /// Counts items that have not been taken, and items lost before that.
    fn untaken(&self) -> Counts {
        Counts::default()
    }
}

/// The content of the next request, in each format that a route needs.
pub(super) trait Content {
    /// Sets the formats that routes need.
    fn want(&mut self, protobuf: bool, plain: bool);

    /// The approximate bytes of the largest format.
    fn bytes(&self) -> usize;

    /// Passes the request to all routes, and begins the next one.
    fn hand_over(&mut self, items: u64, resource: &EncodedResource, routes: &Routes);
}

/// The settings of a signal's pipeline.
pub(crate) struct Setup<Feed> {
    /// The feed, if the signal has just started.
    pub(crate) feed: Option<Feed>,
    /// The receivers, if they have changed.
    pub(crate) receivers: Option<Vec<Receiver>>,
    /// The maximum number of items in a request.
    pub(crate) size: u32,
    /// The maximum delay before a partial request is sent; for metrics, the time between two readings.
    pub(crate) delay: Duration,
}

/// Collects items for the next request.
pub(super) struct Batcher<C> {
    content: C,
    items: usize,
    /// The time when `is_due` first found an item in the request.
    since: Option<Instant>,
    size: usize,
    /// The maximum size of a request in bytes: `longest` applies now, `most` if no receiver needs smaller requests.
    longest: usize,
    most: usize,
    delay: Duration,
    resource: EncodedResource,
}

impl<C: Content> Batcher<C> {
    /// Adds an item, and passes the request to the routes if it is full.
    pub(super) fn add(&mut self, routes: &Routes, add: impl FnOnce(&mut C)) {
        add(&mut self.content);
        self.items += 1;
        if self.items >= self.size || self.content.bytes() >= self.longest {
            self.hand_over(routes);
        }
    }

    /// Passes a complete request to the routes.
    pub(super) fn send(&mut self, routes: &Routes, items: u64, content: C) {
        self.content = content;
        self.content.hand_over(items, &self.resource, routes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The maximum size of a request in bytes now.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// True if the request is not empty, and urgent or older than the delay.
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

/// The pipeline of a signal, from its source to its routes.
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

/// A pipeline of any source.
pub(super) trait AnyPipeline {
    fn signal(&self) -> Signal;

    fn routes(&self) -> &Routes;

    /// True if items have to be taken regularly.
    fn is_polled(&self) -> bool;

    /// The maximum delay before a partial request is sent.
    fn delay(&self) -> Duration;

    /// Takes items. A partial request is passed to the routes only if its delay is over or it is urgent.
    fn take(&mut self, urgent: bool) -> Found;

    /// Stops the intake. Items that were recorded before can still be taken.
    fn close(&self);

    /// The counts of all items.
    fn counts(&self) -> Counts;

    /// The bytes of all pending requests.
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
        // An empty request already has its resource, which does not count as pending.
        let bytes = if self.batcher.is_empty() { 0 } else { self.batcher.content.bytes() as u64 };
        self.routes.bytes() + bytes
    }
}
