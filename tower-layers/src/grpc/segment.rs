//! The consecutive spans of a long stream: each ends after a time and the next one follows, so that the stream is
//! visible before it ends.

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

/// The shortest duration of a span, which limits the number of spans of a stream.
const SHORTEST: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Segments {
    every: Duration,
    due: Option<Instant>,
    /// The number of the current span, from 1.
    number: u64,
    /// The parent of the spans. If the first span is a root, it becomes the parent of the others, so that all are in
    /// one trace.
    parent: Context,
    server: Option<(Box<str>, Option<u16>)>,
    peer: Option<SocketAddr>,
    /// The counts in both directions when the current span began.
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

    /// Wakes the waiting task when the next span is due.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        let Some(due) = self.due else { return };
        self.alarm.get_or_insert_with(|| Alarm::at(due)).wake(waker);
    }

    /// Returns the messages and bytes that have passed in both directions since the current span began.
    pub(crate) fn since(&mut self, request: Passed, response: Passed) -> (Passed, Passed) {
        let before = std::mem::replace(&mut self.before, (request, response));
        (request.since(before.0), response.since(before.1))
    }

    /// Ends the current span and begins the next.
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
        // A recorded stream is recorded to its end.
        let origin = Origin { parent: Some(&self.parent), link: Some(&last), sampler: Some(&Sampler::AlwaysOn) };
        let server = self.server.as_ref().map(|(address, port)| (&**address, *port));
        let ends = Ends { server, peer: self.peer };
        start::start(side, method, conventions, origin, |span| ends.tell(span))
    }

    /// Sets the number on the last span, if there was more than one.
    pub(crate) fn tell(&self, span: &mut Span) {
        if self.number > 1 {
            span.set(keys::segment, self.number);
        }
    }
}
