//! One call, from its headers to its status.

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use bytes::Buf;
use http::{HeaderMap, Request, StatusCode};
use tonic::Code;
use tonic::body::Body;
use tracecast::__layers::conventions::Conventions;
use tracecast::__layers::{Moment, Start, is_capturing};
use tracecast::keys::error::error_type;
use tracecast::keys::rpc;
use tracecast::{Outcome, Span};

use crate::first_byte::FirstByte;
use crate::grpc::deadline::Deadline;
use crate::grpc::keys;
use crate::grpc::label::StatusName;
use crate::grpc::messages::{BodyEnd, Counts, Messages, Passed};
use crate::grpc::method::{METHODS, Method};
use crate::grpc::metrics::Measured;
use crate::grpc::request::RequestBody;
use crate::grpc::segment::Segments;
use crate::grpc::servers::{self, Server};
use crate::grpc::settings::GrpcCalls;
use crate::grpc::status;
use crate::place::Place;
use crate::sealed::Sealed;
use crate::sets::Target;
use crate::side::Side;
use crate::work::{Ongoing, Protocol, Work};

/// The data of a call that is recorded or measured, kept until its status is known.
pub(crate) struct Record {
    side: Side,
    conventions: Conventions,
    method: Arc<Method>,
    began: Moment,
    deadline: Deadline,
    measured: Option<Measured>,
    /// Counts of the request's body, which the service may have moved to another task.
    request: Counts,
    /// Counts of the response's body.
    response: Counts,
}

impl AsRef<Counts> for Record {
    fn as_ref(&self) -> &Counts {
        &self.request
    }
}

/// A call in progress. If it is dropped before its status is known, the call was given up.
pub struct Call {
    work: Work<Arc<Record>>,
    /// Boxed because few calls have extras, and calls are moved often.
    extras: Option<Box<Extras>>,
    /// Whether the headers of the response have arrived.
    answered: bool,
    /// The HTTP status of an answer that is not gRPC.
    refused: Option<StatusCode>,
    /// Whether a panic is answered with a status.
    answers_panics: bool,
}

/// Data for features that only some layers enable.
pub(crate) struct Extras {
    first_byte: FirstByte,
    /// Set if a long call has several spans.
    segments: Option<Segments>,
    /// The server that is called, if a metric has it as a label.
    server: Option<Arc<Server>>,
}

impl Extras {
    /// Creates the data; `None` if none of these features is enabled.
    #[inline]
    pub(crate) fn of(
        first_byte: FirstByte,
        segments: Option<Segments>,
        server: Option<Arc<Server>>,
    ) -> Option<Box<Self>> {
        let has_any = segments.is_some() || first_byte.is_wanted() || server.is_some();
        has_any.then(|| Box::new(Extras { first_byte, segments, server }))
    }

    /// Returns the server as a label. If the server has answered, its name is kept.
    fn server(&self, has_answered: bool) -> Target {
        let Some(server) = &self.server else { return Target::None };
        if has_answered {
            servers::learn(server);
        }
        servers::target(server)
    }
}

impl Call {
    /// Begins a call; `None` if there is nothing to record, measure or make current.
    #[inline]
    pub(crate) fn begin(
        side: Side,
        place: Place,
        conventions: Conventions,
        method: Arc<Method>,
        request: &mut Request<Body>,
        deadline: Deadline,
        extras: impl FnOnce(&Request<Body>) -> Option<Box<Extras>>,
    ) -> Option<Self> {
        let measured = Measured::begin(side);
        if !place.is_recording() && measured.is_none() {
            return Call::at(place, side);
        }
        let place = match &measured {
            Some(measured) => measured.count_active(place),
            None => place,
        };
        let began = place.began().unwrap_or_else(Moment::now);
        let (sent, response) = (Counts::default(), Counts::default());
        let record = Arc::new(Record { side, conventions, method, began, deadline, measured, request: sent, response });
        let extras = extras(request);
        RequestBody::wrap(request.body_mut(), record.clone());
        Some(Call::new(Work::new(place, Some(record)), extras))
    }

    /// Begins a call that is not recorded but has a context to make current; `None` if it has none.
    pub(crate) fn at(place: Place, side: Side) -> Option<Self> {
        Work::at(place, side).map(|work| Call::new(work, None))
    }

    /// Makes the call answer a panic with a status; creates a call if there is none.
    pub(crate) fn answer_panics(call: &mut Option<Self>) {
        call.get_or_insert_with(|| Call::new(Work::new(Place::UNCHANGED, None), None)).answers_panics = true;
    }

    pub(crate) fn answers_panics(&self) -> bool {
        self.answers_panics
    }

    #[inline]
    fn new(work: Work<Arc<Record>>, extras: Option<Box<Extras>>) -> Self {
        Call { work, extras, answered: false, refused: None, answers_panics: false }
    }

    /// Notes that the headers of the response have arrived, with this HTTP status.
    pub(crate) fn answered(&mut self, http: StatusCode) {
        self.answered = true;
        self.refused = (http != StatusCode::OK).then_some(http);
    }

    /// Keeps the name of the server for metrics: it has answered, by headers alone.
    pub(crate) fn learn_server(&self) {
        if let Some(server) = self.extras.as_ref().and_then(|extras| extras.server.as_ref()) {
            servers::learn(server);
        }
    }

    /// Ends the call with this status; later calls of this method do nothing. On a server whose caller went away, the
    /// call counts as given up instead. `message` is evaluated only for errors.
    pub(crate) fn end(&mut self, code: Code, message: impl FnOnce() -> String) {
        let Some(record) = self.work.record.take() else { return };
        if record.lost_its_caller(code) {
            return self.give_up_on(&record);
        }
        // tonic reports CANCELLED for a deadline, on either side.
        let code = if code == Code::Cancelled && self.is_due(&record) { Code::DeadlineExceeded } else { code };
        let failed = record.side.is_error(code);
        self.finish(&record, code, if failed { Outcome::Error } else { Outcome::Ok }, message);
    }

    fn is_due(&self, record: &Record) -> bool {
        let deadline = if self.answered { record.deadline.answered() } else { record.deadline };
        deadline.is_due(record.began.seconds_to(Moment::now()))
    }

    fn give_up(&mut self) {
        if let Some(record) = self.work.record.take() {
            self.give_up_on(&record);
        }
    }

    fn give_up_on(&mut self, record: &Record) {
        if self.work.has_panicked(record.side) {
            let code = if self.answers_panics { Code::Internal } else { Code::Unknown };
            return self.finish(record, code, Outcome::Panicked, || "the handler panicked".to_owned());
        }
        if self.is_due(record) {
            return self.finish(record, Code::DeadlineExceeded, Outcome::Error, || "the deadline passed".to_owned());
        }
        // tonic does not read an answer that is not gRPC to its end.
        if let Some(http) = self.refused.filter(|_| record.side == Side::Client) {
            return self.finish(record, status::of_http(http), Outcome::Error, || {
                format!("the server answered {http} instead of gRPC")
            });
        }
        self.finish(record, Code::Cancelled, Outcome::Cancelled, String::new);
    }

    /// Replaces the span with the next one if it has lasted long enough.
    #[cold]
    fn roll(&mut self) {
        let (Some(record), Some(extras)) = (&self.work.record, &mut self.extras) else { return };
        let Some(segments) = &mut extras.segments else { return };
        let Place::Span(span) = &mut self.work.place else { return };
        if !segments.is_due(Instant::now()) {
            return;
        }
        let (request, response) = segments.since(record.request.load(), record.response.load());
        span.add_all(|span| tell_messages(span, request, response));
        let next =
            segments.next(std::mem::replace(span, Span::none()), record.side, &record.method, record.conventions);
        // Even without another span the caller's context stays current.
        self.work.place =
            if next.is_none() { Place::Context(segments.parent().clone().into()) } else { Place::Span(next) };
        if let Some(measured) = &record.measured {
            self.work.place.run(|| measured.count(record.method.label(), request, response));
        }
    }

    fn finish(&mut self, record: &Record, code: Code, outcome: Outcome, message: impl FnOnce() -> String) {
        if code == Code::Ok {
            METHODS.of(record.side).learn(&record.method);
        }
        let (mut request, mut response) = (record.request.load(), record.response.load());
        let mut extras = self.extras.take();
        let segments = extras.as_mut().and_then(|extras| extras.segments.as_mut());
        if let Some(segments) = segments {
            (request, response) = segments.since(request, response);
        }
        let ended = Moment::now();
        if let Some(measured) = &record.measured {
            let (method, seconds) = (record.method.label(), record.began.seconds_to(ended));
            // Closures with copies keep in registers what borrows would put on the stack.
            let (extras, has_answered) = (extras.as_deref(), self.answered);
            if is_capturing() {
                self.work.place.run(move || measured.count(method, request, response));
            } else {
                measured.count(method, request, response);
            }
            // Recorded while the span is current, so that the span may become an exemplar.
            self.work.place.run(move || {
                if let Some(after) = extras.and_then(|extras| extras.first_byte.after()) {
                    measured.first_byte(method, after);
                }
                let server = || extras.map_or(Target::None, |extras| extras.server(has_answered));
                measured.end(record.conventions, method, code, seconds, server);
            });
        }
        let mut span = self.work.place.take_span();
        if !span.is_recording() {
            return;
        }
        span.add_all(|span| {
            tell_messages(span, request, response);
            tell_status(span, code, record.conventions);
        });
        if let Some(segments) = extras.as_ref().and_then(|extras| extras.segments.as_ref()) {
            segments.tell(&mut span);
        }
        // For a client, a call without an answer has failed, whatever the reason.
        let given_up = outcome == Outcome::Cancelled && record.side.is_error(code);
        if given_up {
            span.set(keys::outcome, outcome.as_str());
        }
        let outcome = if given_up { Outcome::Error } else { outcome };
        if outcome.is_error() {
            let message = message();
            if !message.is_empty() {
                span.error(&message);
            }
            span.set(error_type, status::name(code));
        }
        span.end_with_at(outcome, ended);
    }
}

impl Sealed for GrpcCalls {}

impl Protocol for GrpcCalls {
    type Call = Call;
}

impl Ongoing for Call {
    type Reading = Messages;

    #[inline(always)]
    fn run<T>(&mut self, f: impl FnOnce() -> T) -> T {
        if self.extras.is_some() {
            self.roll();
        }
        self.work.run(f)
    }

    /// Sets an alarm for the time at which the next span is due.
    fn wait(&mut self, waker: &Waker) {
        if let Some(segments) = self.extras.as_mut().and_then(|extras| extras.segments.as_mut()) {
            segments.wait(waker);
        }
    }

    #[inline]
    fn is_told(&self) -> bool {
        self.work.record.is_some()
    }

    #[inline]
    fn read(&mut self, reading: &mut Messages, data: &impl Buf) {
        let Some(record) = &self.work.record else { return };
        // A proxy's answer in place of the server's has no messages.
        if self.refused.is_some() {
            return;
        }
        // tonic's bodies have `Bytes` as data, which is one chunk.
        reading.read(data.chunk());
        record.response.store(reading);
        if let Some(extras) = &mut self.extras {
            extras.first_byte.read(data, record.began, &mut self.work.place);
        }
    }

    fn complete(&mut self, trailers: Option<&HeaderMap>) {
        let code = trailers.and_then(status::of_headers);
        let code = code.unwrap_or_else(|| status::of_http(self.refused.unwrap_or(StatusCode::OK)));
        self.end(code, || trailers.map(status::message_of).unwrap_or_default());
    }

    fn fail(&mut self, error: &dyn Any) {
        if self.is_told() {
            let (code, message) = status::of_error(error);
            self.end(code, || message);
        }
    }
}

#[inline]
fn tell_messages(span: &mut Start, request: Passed, response: Passed) {
    span.add(keys::request_messages, request.messages);
    span.add(keys::request_bytes, request.bytes);
    span.add(keys::response_messages, response.messages);
    span.add(keys::response_bytes, response.bytes);
}

#[inline]
fn tell_status(span: &mut Start, code: Code, conventions: Conventions) {
    if conventions.old() {
        span.add(rpc::grpc_status_code, code as i64);
    }
    if conventions.stable() {
        span.add(keys::status_name, StatusName(code));
    }
}

impl Record {
    /// Returns whether the caller went away while it sent its request, so that nothing reads the handler's answer.
    /// tonic answers `INTERNAL` to a request without a complete message.
    fn lost_its_caller(&self, code: Code) -> bool {
        let request = &self.request;
        let is_lost = request.ended(BodyEnd::Lost) || (code == Code::Internal && request.ended(BodyEnd::Cut));
        self.side == Side::Server && is_lost
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.give_up();
    }
}
