//! One call, from its headers to its status.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Request;
use tonic::Code;
use tonic::body::Body;
use tracecast::keys::error::error_type;
use tracecast::keys::rpc;
use tracecast::{Context, Kind, Outcome, Span};

use crate::deadline::Deadline;
use crate::keys;
use crate::messages::{Counts, Messages};
use crate::method::{CALLED, Method, Methods, SERVED};
use crate::metrics::Measured;
use crate::request::RequestBody;
use crate::status::{self, Side};

/// What is current while a call is worked on.
pub(crate) enum Place {
    /// Its span, which may be there and not be recorded.
    Span(Span),
    /// The caller's context, where there is no span.
    Context(Context),
    /// Whatever is.
    Unchanged,
}

impl Place {
    pub(crate) fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        match self {
            Place::Span(span) => span.in_scope(f),
            Place::Context(context) => context.run(f),
            Place::Unchanged => f(),
        }
    }
}

/// What is told about a call when its status is known.
struct Record {
    side: Side,
    method: Arc<Method>,
    began: Instant,
    deadline: Option<Deadline>,
    measured: Option<Measured>,
    request: Arc<Counts>,
    response: Messages,
}

/// A call that goes on. Dropped before its status is known, it was given up.
pub(crate) struct Call {
    place: Place,
    /// Only if it is recorded or measured, and has not ended.
    record: Option<Box<Record>>,
    /// A poll did not come back.
    unwound: bool,
}

/// Starts the span of a call. `parent` is what the caller said; without it, whatever is current.
pub(crate) fn start(side: Side, path: &str, parent: Option<&Context>) -> (Span, Arc<Method>) {
    let (methods, kind) = match side {
        Side::Server => (&*SERVED, Kind::Server),
        Side::Client => (&*CALLED, Kind::Client),
    };
    let method = methods.find(path);
    let builder = Span::builder(method.name(), kind);
    let mut span = match parent {
        Some(parent) => builder.with_parent(parent).start(),
        None => builder.start(),
    };
    if span.is_recording() {
        span.set(rpc::system, "grpc");
        span.set(rpc::service, method.service());
        span.set(rpc::method, method.method());
    }
    (span, method)
}

impl Call {
    /// A call on which there is something to do, at least to be in its place, and its request.
    pub(crate) fn begin(
        side: Side,
        place: Place,
        method: Arc<Method>,
        request: Request<Body>,
        timeout: Option<Duration>,
    ) -> (Request<Body>, Option<Self>) {
        let recorded = matches!(&place, Place::Span(span) if span.is_recording());
        let measured = Measured::begin(side);
        if !recorded && measured.is_none() {
            // A client's place is of no use once its headers are written.
            let call = (side == Side::Server).then(|| Call::at(place)).flatten();
            return (request, call);
        }
        let began = Instant::now();
        let deadline = Deadline::of(request.headers(), timeout, began);
        let (parts, body) = request.into_parts();
        let (body, counts) = RequestBody::wrap(body);
        let response = Messages::default();
        let record = Record { side, method, began, deadline, measured, request: counts, response };
        let call = Call { place, record: Some(Box::new(record)), unwound: false };
        (Request::from_parts(parts, body), Some(call))
    }

    /// One of which nothing is told, but something is current.
    pub(crate) fn at(place: Place) -> Option<Self> {
        (!matches!(place, Place::Unchanged)).then_some(Call { place, record: None, unwound: false })
    }

    /// Works on the call: what it calls sees its context.
    pub(crate) fn run<R>(&mut self, f: impl FnOnce() -> R) -> R {
        self.unwound = true;
        let result = self.place.run(f);
        self.unwound = false;
        result
    }

    /// Reads a part of the response that passes by.
    pub(crate) fn read(&mut self, data: &[u8]) {
        if let Some(record) = &mut self.record {
            record.response.read(data);
        }
    }

    /// Ends it with this status; what the status says is asked for only if it is an error. It ends once.
    pub(crate) fn end(&mut self, code: Code, message: impl FnOnce() -> String) {
        let Some(record) = self.record.take() else { return };
        // tonic says CANCELLED for a deadline, on either side.
        let code = if code == Code::Cancelled && record.is_due() { Code::DeadlineExceeded } else { code };
        let failed = record.side.is_error(code);
        self.finish(*record, code, if failed { Outcome::Error } else { Outcome::Ok }, message);
    }

    /// Ends it because its handler panicked, with the status that is sent.
    pub(crate) fn end_panicked(&mut self, code: Code) {
        if let Some(record) = self.record.take() {
            self.finish(*record, code, Outcome::Panicked, || "the handler panicked".to_owned());
        }
    }

    fn give_up(&mut self) {
        let Some(record) = self.record.take() else { return };
        // A client that is dropped by somebody else's panic was only given up.
        if self.unwound || (record.side == Side::Server && std::thread::panicking()) {
            return self.finish(*record, Code::Unknown, Outcome::Panicked, || "the handler panicked".to_owned());
        }
        if record.is_due() {
            return self.finish(*record, Code::DeadlineExceeded, Outcome::Error, || "the deadline passed".to_owned());
        }
        self.finish(*record, Code::Cancelled, Outcome::Cancelled, String::new);
    }

    fn finish(&mut self, record: Record, code: Code, outcome: Outcome, message: impl FnOnce() -> String) {
        if code == Code::Ok {
            record.methods().learn(&record.method);
        }
        if let Some(measured) = record.measured {
            // Inside of the span, which may be an example of it.
            self.place.run(|| measured.end(record.method.label(), code, record.began.elapsed()));
        }
        let Place::Span(span) = &mut self.place else { return };
        let mut span = std::mem::replace(span, Span::none());
        let (messages, bytes) = record.request.load();
        span.set(rpc::grpc_status_code, code as i64);
        span.set(keys::request_messages, messages);
        span.set(keys::request_bytes, bytes);
        span.set(keys::response_messages, record.response.count);
        span.set(keys::response_bytes, record.response.bytes);
        if outcome.is_error() {
            let message = message();
            if !message.is_empty() {
                span.error(&message);
            }
            span.set(error_type, status::name(code));
        }
        span.end_with(outcome);
    }
}

impl Record {
    fn is_due(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline.is_due(Instant::now()))
    }

    fn methods(&self) -> &'static Methods {
        match self.side {
            Side::Server => &SERVED,
            Side::Client => &CALLED,
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.give_up();
    }
}
