//! Endpoints: routes of a server, and servers that a client calls.
//!
//! An endpoint is learnt when it has answered. If the table is full, its spans are named by the method alone.

use std::sync::OnceLock;

use tracecast::__layers::SpanName;
use tracecast::Span;

use super::method::Verb;
use crate::learnt::{Entry, Learnt, OTHER, Tables};
use crate::origin::Origin;
use crate::side::Side;

/// A method with the route's template, or with the name and port of the server.
#[derive(Debug)]
pub(crate) struct Endpoint {
    entry: Entry,
    /// The span's name, interned in the recorder.
    span: OnceLock<SpanName>,
}

impl Learnt for Endpoint {
    const NEW: usize = 128;
    /// The table of span names, which is shared, has room for twice as many.
    const KNOWN: usize = 384;
    const LONGEST: usize = 255;

    fn new(entry: Entry) -> Self {
        Endpoint { entry, span: OnceLock::new() }
    }

    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_learnable(&self) -> bool {
        !matches!(self.entry.text(), "" | OTHER)
    }
}

impl Endpoint {
    /// Returns the name of the endpoint's spans. An endpoint belongs to one side.
    pub(crate) fn span(&self, side: Side) -> SpanName {
        *self.span.get_or_init(|| SpanName::new(&self.name(side), side.kind()))
    }

    fn name(&self, side: Side) -> String {
        let verb = Verb::from_index(self.entry.group()).name();
        match side {
            Side::Server if self.entry.is_kept() => format!("{verb} {}", self.entry.text()),
            _ => verb.to_owned(),
        }
    }

    /// Returns the endpoint's number, if it is known.
    pub(crate) fn number(&self) -> Option<u32> {
        self.entry.number()
    }
}

/// Routes that are served, and servers that are called, in groups by method.
pub(crate) static ENDPOINTS: Tables<Endpoint, { Verb::COUNT }> = Tables::new();

/// Starts a span, named by the endpoint if it is known.
pub(crate) fn start(side: Side, verb: Verb, endpoint: Option<&Endpoint>, origin: Origin<'_>) -> Span {
    // With spans off, no name is looked up.
    if !Span::is_on() {
        return Span::none();
    }
    origin.start(endpoint.map_or_else(|| SpanName::new(verb.name(), side.kind()), |endpoint| endpoint.span(side)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learnt::Table;
    use std::sync::Arc;

    use http::Method;

    type Endpoints = Table<Endpoint, { Verb::COUNT }>;

    fn get() -> Verb {
        Verb::of(&Method::GET)
    }

    fn find(endpoints: &Endpoints, target: &str) -> Arc<Endpoint> {
        endpoints.find(get().index(), target)
    }

    fn name(endpoint: &Endpoint) -> String {
        endpoint.name(Side::Server)
    }

    #[test]
    fn spans_are_named_by_the_route_on_the_server_alone() {
        assert_eq!(name(&find(&Endpoints::new(), "/a/{id}")), "GET /a/{id}");
        assert_eq!(name(&Endpoints::new().find(Verb::OTHER.index(), "/a")), "HTTP /a");
        assert_eq!(find(&Endpoints::new(), "host:80").name(Side::Client), "GET");
    }

    #[test]
    fn inventions_do_not_crowd_out_those_that_answer() {
        let endpoints = Endpoints::new();
        for n in 0..100_000 {
            let found = endpoints.find(n % Verb::COUNT, &format!("/invented/{n}"));
            assert_eq!(found.entry.is_kept(), n < Endpoint::NEW, "{n}");
        }
        let real = find(&endpoints, "/real");
        assert_eq!((&*name(&real), real.number()), ("GET", None));
        endpoints.learn(&real);
        endpoints.learn(&real);
        assert_eq!(real.number(), Some(0));
        let again = find(&endpoints, "/real");
        assert_eq!((&*name(&again), again.number()), ("GET /real", Some(0)));
        assert_eq!((endpoints.text(0).as_deref(), endpoints.text(1)), (Some("/real"), None));
        assert_eq!(endpoints.sizes(), (Endpoint::NEW + 1, 1));
    }

    #[test]
    fn learning_has_an_end() {
        let endpoints = Endpoints::new();
        for n in 0..2 * (Endpoint::NEW + Endpoint::KNOWN) {
            endpoints.learn(&find(&endpoints, &format!("/{n}")));
        }
        assert_eq!(find(&endpoints, "/1000000").number(), None);
        assert_eq!(endpoints.sizes(), (Endpoint::KNOWN + Endpoint::NEW, Endpoint::KNOWN));
    }

    #[test]
    fn endless_targets_are_never_known() {
        let endpoints = Endpoints::new();
        let endless = find(&endpoints, &"é".repeat(10_000));
        endpoints.learn(&endless);
        assert_eq!((&*name(&endless), endless.number(), endpoints.sizes()), ("GET", None, (0, 0)));
        assert!(endless.entry.text().len() <= Endpoint::LONGEST + 1);
    }

    #[test]
    fn what_looks_like_no_target_is_never_known() {
        let endpoints = Endpoints::new();
        for odd in ["", OTHER] {
            endpoints.learn(&find(&endpoints, odd));
        }
        assert_eq!(endpoints.sizes().1, 0);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let endpoints = Endpoints::new();
        let numbers: Vec<Vec<_>> = std::thread::scope(|scope| {
            let learnt = || (0..50).map(|n| learnt(&endpoints, &format!("/{n}"))).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(learnt)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(numbers.iter().flatten().all(Option::is_some), "{numbers:?}");
        assert_eq!(endpoints.sizes(), (50, 50));
    }

    fn learnt(endpoints: &Endpoints, target: &str) -> Option<Box<str>> {
        let endpoint = find(endpoints, target);
        endpoints.learn(&endpoint);
        endpoint.number().and_then(|number| endpoints.text(number)).filter(|found| **found == *target)
    }
}
