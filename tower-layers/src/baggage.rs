//! Which baggage clients send, and to whom: one rule for gRPC and HTTP.

use http::HeaderMap;
use tracecast::{Context, propagation};

use crate::headers::HttpHeadersMut;
use crate::hosts::Hosts;

/// All baggage goes to everybody, as `OTEL_PROPAGATORS` says, unless the application restricts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Baggage {
    /// The keys that are sent; all of them if none are named.
    keys: Option<Box<[Box<str>]>>,
    /// The servers to which they are sent; all of them if none are named.
    to: Option<Hosts>,
}

impl Baggage {
    pub(crate) fn keep_all(&mut self) {
        self.keys = Some(Box::default());
    }

    pub(crate) fn send_only<'a>(&mut self, keys: impl IntoIterator<Item = &'a str>) {
        self.keys = Some(keys.into_iter().map(Box::from).collect());
    }

    pub(crate) fn send_to<'a>(&mut self, hosts: impl IntoIterator<Item = &'a str>) {
        self.to = Some(Hosts::new(hosts));
    }

    /// Whether a server may get baggage. One that is not known may not, if any are named.
    pub(crate) fn allows<'a>(&self, host: impl FnOnce() -> Option<&'a str>) -> bool {
        self.to.as_ref().is_none_or(|hosts| host().is_some_and(|host| hosts.has(host)))
    }

    /// Writes the headers of a context to a request for a server that may get baggage, or may not.
    pub(crate) fn inject(&self, context: &Context, headers: &mut HeaderMap, is_allowed: bool) {
        let keys = if is_allowed { self.keys.as_deref() } else { Some(&[][..]) };
        let Some(keys) = keys else { return propagation::inject(context, &mut HttpHeadersMut::from(headers)) };
        // Whoever passes a request on may have left its caller's.
        headers.remove("baggage");
        let kept = context.baggage_entries().filter(|(key, _)| keys.iter().any(|kept| **kept == **key));
        // What was in the baggage fits into one that has less in it.
        let add = |reduced: Context, (key, value): (_, std::borrow::Cow<'_, str>)| {
            reduced.with_baggage(key, &value).unwrap_or(reduced)
        };
        let reduced = kept.fold(context.without_baggage(), add);
        propagation::inject(&reduced, &mut HttpHeadersMut::from(headers));
    }
}
