//! An exchange: one request and its response, from the request's headers to the end of the response.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use http::{HeaderMap, Response, StatusCode, header};
use http_body::Body;
use tracecast::__layers::Moment;
use tracecast::{Outcome, Span, Static};

use super::conventions::{error_type, protocol_version, response_size, response_status_code};
use super::endpoint::{ENDPOINTS, Endpoint};
use super::failure::{Error, Errors, Failure};
use super::method::Verb;
use super::metrics::Measured;
use super::protocol::Protocol;
use super::set::Set;
use super::settings::HttpRequests;
use crate::first_byte::FirstByte;
use crate::place::Place;
use crate::sealed::Sealed;
use crate::sets::Target;
use crate::side::Side;
use crate::timeout;
use crate::work::{Ongoing, Work};

/// The data of a request that is known at its beginning.
pub(crate) struct Subject {
    pub(crate) side: Side,
    pub(crate) verb: Verb,
    pub(crate) endpoint: Option<Arc<Endpoint>>,
    /// Whether the endpoint exists even if it answers 404.
    pub(crate) is_own: bool,
    pub(crate) protocol: Protocol,
    pub(crate) timeout: Option<Duration>,
    pub(crate) errors: Arc<Errors>,
    pub(crate) first_byte: FirstByte,
}

/// The data of an exchange that is recorded or measured, kept until it ends.
pub(crate) struct Record {
    subject: Subject,
    began: Moment,
    measured: Option<Measured>,
    status: Option<StatusCode>,
    /// Bytes of the response's body, as the response declares.
    declared: Option<u64>,
    /// Bytes of the response's body that passed.
    passed: u64,
}

/// The end of an exchange.
#[derive(Clone, Copy)]
enum Ending {
    Complete,
    Failed(Failure),
    GivenUp,
}

/// An exchange in progress. If it is dropped before the response has ended, it was given up.
pub struct Exchange {
    work: Work<Box<Record>>,
}

impl Exchange {
    /// Begins an exchange; `None` if there is nothing to record, measure or make current.
    pub(crate) fn begin(place: Place, subject: Subject) -> Option<Self> {
        let measured = Measured::begin(subject.side);
        if !place.is_recording() && measured.is_none() {
            return Exchange::at(place, subject.side);
        }
        let place = match &measured {
            Some(measured) => measured.count_active(place),
            None => place,
        };
        let began = place.began().unwrap_or_else(Moment::now);
        let record = Record { subject, began, measured, status: None, declared: None, passed: 0 };
        Some(Exchange { work: Work::new(place, Some(Box::new(record))) })
    }

    /// Begins an exchange that is not recorded but has a context to make current; `None` if it has none.
    pub(crate) fn at(place: Place, side: Side) -> Option<Self> {
        Work::at(place, side).map(|work| Exchange { work })
    }

    /// Notes the headers of the response. If no body follows, the exchange ends here, because an empty body may never
    /// be polled.
    pub(crate) fn answer<B: Body>(&mut self, response: &Response<B>) {
        let Some(record) = &mut self.work.record else { return };
        let status = response.status();
        record.status = Some(status);
        record.declared = response.body().size_hint().exact().or_else(|| content_length(response.headers()));
        if record.subject.side == Side::Client {
            record.subject.protocol = record.subject.protocol.with_version(response.version());
        }
        if record.subject.ends_with_headers(status) || response.body().is_end_stream() {
            self.end(Ending::Complete);
        }
    }

    /// Ends the exchange; later calls of this method do nothing.
    fn end(&mut self, ending: Ending) {
        let Some(record) = self.work.record.take() else { return };
        record.learn();
        let (outcome, error) = record.judge(ending);
        let ended = Moment::now();
        if let Some(measured) = &record.measured {
            let (set, seconds) = (record.set(error), record.began.seconds_to(ended));
            // Recorded while the span is current, so that the span may become an exemplar.
            self.work.place.run(|| measured.end(set, seconds, record.subject.first_byte.after()));
        }
        let span = self.work.place.take_span();
        if span.is_recording() {
            record.tell(span, outcome, error, ended);
        }
    }

    fn give_up(&mut self) {
        let Some(record) = &self.work.record else { return };
        let ending = if self.work.has_panicked(record.subject.side) {
            Ending::Failed(Failure::Panic)
        } else if record.has_passed() {
            Ending::Complete
        } else if record.is_due() {
            Ending::Failed(Failure::Timeout)
        } else {
            Ending::GivenUp
        };
        self.end(ending);
    }
}

impl Sealed for HttpRequests {}

impl crate::work::Protocol for HttpRequests {
    type Call = Exchange;
}

impl Ongoing for Exchange {
    type Reading = ();

    #[inline(always)]
    fn run<T>(&mut self, f: impl FnOnce() -> T) -> T {
        self.work.run(f)
    }

    fn is_told(&self) -> bool {
        self.work.record.is_some()
    }

    fn read(&mut self, _reading: &mut (), data: &impl Buf) {
        if let Some(record) = &mut self.work.record {
            record.passed += data.remaining() as u64;
            record.subject.first_byte.read(data, record.began, &mut self.work.place);
        }
    }

    fn complete(&mut self, _trailers: Option<&HeaderMap>) {
        self.end(Ending::Complete);
    }

    fn fail(&mut self, error: &dyn Any) {
        if let Some(record) = &self.work.record {
            let failure = record.subject.errors.kind(error);
            self.end(Ending::Failed(failure));
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl Subject {
    /// Returns whether the exchange ends with the response's headers: servers send no body here, or another protocol
    /// follows an upgrade.
    fn ends_with_headers(&self, status: StatusCode) -> bool {
        let is_connected = self.verb.text() == "CONNECT" && status.is_success();
        let is_empty = matches!(status.as_u16(), 101 | 204 | 304);
        self.verb.text() == "HEAD" || is_connected || is_empty
    }

    fn is_error(&self, status: StatusCode) -> bool {
        status.is_server_error() || (self.side == Side::Client && status.is_client_error())
    }
}

impl Record {
    fn judge(&self, ending: Ending) -> (Outcome, Option<Error>) {
        let of_status = self.status.filter(|status| self.subject.is_error(*status)).map(Error::Status);
        match (ending, of_status) {
            (Ending::Failed(Failure::Panic), _) => (Outcome::Panicked, Some(Error::Failure(Failure::Panic))),
            (_, Some(error)) => (Outcome::Error, Some(error)),
            (Ending::Failed(failure), None) => (Outcome::Error, Some(Error::Failure(failure))),
            (Ending::Complete, None) => (Outcome::Ok, None),
            (Ending::GivenUp, None) => (Outcome::Cancelled, None),
        }
    }

    /// Returns whether the whole body passed although its end was not polled: a reader that knows the length need not
    /// poll further.
    fn has_passed(&self) -> bool {
        self.status.is_some() && self.declared.is_some_and(|declared| self.passed >= declared)
    }

    /// Returns whether a timeout ended the exchange. Timeouts limit the time until the headers only.
    fn is_due(&self) -> bool {
        let seconds = || self.began.seconds_to(Moment::now());
        self.status.is_none() && self.subject.timeout.is_some_and(|timeout| timeout::is_due(timeout, seconds()))
    }

    /// Learns the endpoint if the status shows that it exists, so that callers cannot invent labels.
    fn learn(&self) {
        let (Some(endpoint), Some(status)) = (&self.subject.endpoint, self.status) else { return };
        let is_one = match self.subject.side {
            Side::Client => true,
            Side::Server if self.subject.is_own => status != StatusCode::METHOD_NOT_ALLOWED,
            Side::Server => !matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED),
        };
        if is_one {
            ENDPOINTS.of(self.subject.side).learn(endpoint);
        }
    }

    /// Returns the exchange's labels on metrics.
    fn set(&self, error: Option<Error>) -> Set {
        let Subject { verb, endpoint, protocol, .. } = &self.subject;
        let number = endpoint.as_ref().map(|endpoint| endpoint.number());
        let target = number.map_or(Target::None, Target::of);
        let status = self.status.map_or(0, |status| status.as_u16());
        Set { verb: *verb, target, status, error, protocol: Some(*protocol) }
    }

    fn tell(&self, mut span: Span, outcome: Outcome, error: Option<Error>, ended: Moment) {
        if let Some(status) = self.status {
            span.set(response_status_code, status.as_u16());
        }
        span.add_all(|span| {
            if self.status.is_some() {
                span.add(response_size, self.passed);
            }
            if let (Side::Client, Some(version)) = (self.subject.side, self.subject.protocol.version()) {
                span.add(protocol_version, Static(version));
            }
        });
        match error {
            Some(Error::Status(status)) => span.set(error_type, status.as_str()),
            Some(Error::Failure(failure)) => span.set(error_type, failure.text()),
            None => {}
        }
        span.end_with_at(outcome, ended);
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
