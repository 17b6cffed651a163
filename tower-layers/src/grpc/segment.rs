//! The spans of a stream that lives for long: each is followed by the next after a while, so that the stream is seen before
//! it ends.

use std::net::SocketAddr;
use std::task::Waker;
use std::time::{Duration, Instant};

use tracecast::__layers::conventions::Conventions;
use tracecast::{Context, Sampler, Span};

use crate::ends::Ends;
use crate::grpc::alarm::Alarm;
use crate::grpc::keys;
use crate::grpc::messages::Passed;
use crate::grpc::method::Method;
use crate::grpc::start;
use crate::origin::Origin;
use crate::side::Side;

/// A stream does not roll over more often than this: each time is a span.
const SHORTEST: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Segments {
    every: Duration,
    due: Option<Instant>,
    /// Which one it is, from 1 on.
    number: u64,
    /// The parent of the first one; without one, the first is that of all others, so that the stream stays in one trace.
    parent: Context,
    server: Option<(Box<str>, Option<u16>)>,
    peer: Option<SocketAddr>,
    /// What had passed in both directions when it began.
    before: (Passed, Passed),
    alarm: Option<Alarm>,
}

impl Segments {
    pub(crate) fn new(every: Duration, parent: Context, ends: &Ends<'_>) -> Self {
        let server = ends.server.map(|(address, port)| (address.into(), port));
        let every = every.max(SHORTEST);
        let due = Instant::now().checked_add(every);
        Segments { every, due, number: 1, parent, server, peer: ends.peer, before: Default::default(), alarm: None }
    }

    pub(crate) fn parent(&self) -> &Context {
        &self.parent
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| now >= due)
    }

    /// Has whoever waits come back when the next one is due.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        let Some(due) = self.due else { return };
        self.alarm.get_or_insert_with(|| Alarm::at(due)).wake(waker);
    }

    /// What has passed in both directions since this one began.
    pub(crate) fn since(&mut self, request: Passed, response: Passed) -> (Passed, Passed) {
        let before = std::mem::replace(&mut self.before, (request, response));
        (request.since(before.0), response.since(before.1))
    }

    /// Ends a span, which is not the last one, and begins the next.
    pub(crate) fn next(&mut self, mut span: Span, side: Side, method: &Method, conventions: Conventions) -> Span {
        span.set(keys::segment, self.number);
        let last = span.context();
        span.end();
        if !self.parent.is_valid() {
            self.parent = last.clone();
        }
        self.number += 1;
        self.alarm = None;
        self.due = Instant::now().checked_add(self.every);
        // What was begun to be recorded is recorded to its end.
        let origin = Origin { parent: Some(&self.parent), link: Some(&last), sampler: Some(&Sampler::AlwaysOn) };
        let server = self.server.as_ref().map(|(address, port)| (&**address, *port));
        let ends = Ends { server, peer: self.peer };
        start::start(side, method, conventions, origin, |span| ends.tell(span))
    }

    /// Says of the last one which it is, if it is not the only one.
    pub(crate) fn tell(&self, span: &mut Span) {
        if self.number > 1 {
            span.set(keys::segment, self.number);
        }
    }
}
