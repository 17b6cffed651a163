//! The baggage that clients send, and the servers that get it: one rule for gRPC and HTTP.

use http::HeaderMap;
use tracecast::{Context, propagation};

use crate::headers::HttpHeadersMut;
use crate::hosts::Hosts;

/// Restricts the baggage that is sent. By default all baggage goes to all servers, if `OTEL_PROPAGATORS` has `baggage`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Baggage {
    /// The keys that are sent; `None` for all.
    keys: Option<Box<[Box<str>]>>,
    /// The servers that get baggage; `None` for all.
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

    /// Returns whether a server may get baggage. If servers are listed, a server without a known name may not.
    pub(crate) fn allows<'a>(&self, host: impl FnOnce() -> Option<&'a str>) -> bool {
        self.to.as_ref().is_none_or(|hosts| host().is_some_and(|host| hosts.has(host)))
    }

    /// Writes a context to a request's headers; without baggage if the server may not get it (`is_allowed`).
    pub(crate) fn inject(&self, context: &Context, headers: &mut HeaderMap, is_allowed: bool) {
        let keys = if is_allowed { self.keys.as_deref() } else { Some(&[][..]) };
        let Some(keys) = keys else { return propagation::inject(context, &mut HttpHeadersMut::from(headers)) };
        // A forwarded request may still have its caller's header.
        headers.remove("baggage");
        let kept = context.baggage_entries().filter(|(key, _)| keys.iter().any(|kept| **kept == **key));
        // Entries of a valid baggage fit into one with fewer entries.
        let add = |reduced: Context, (key, value): (_, std::borrow::Cow<'_, str>)| {
            reduced.with_baggage(key, &value).unwrap_or(reduced)
        };
        let reduced = kept.fold(context.without_baggage(), add);
        propagation::inject(&reduced, &mut HttpHeadersMut::from(headers));
    }
}
