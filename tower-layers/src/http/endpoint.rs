//! What is asked for: a route that is served, a server that is called.
//!
//! Names of spans and labels of metrics are kept for as long as the process runs, and whoever calls may invent any. So a
//! few are taken as they come, and more only of those that have answered once; the others are called by their method alone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::method::Verb;
use crate::grpc::status::Side;

/// Those that are taken as they come.
const NEW: usize = 128;
/// Those that have answered. The table of span names, which others use too, has room for as many twice.
const KNOWN: usize = 384;
/// The longest template or name of a server.
const LONGEST: usize = 255;
/// What stands for all that are not known, and is none itself.
pub(crate) const OTHER: &str = "_OTHER";

/// A method and what it is asked of.
#[derive(Debug)]
pub(crate) struct Endpoint {
    verb: Verb,
    /// A route's template, or a server's name and port.
    target: Box<str>,
    /// The name of its spans.
    name: Box<str>,
    /// Its number among those that are known, plus one.
    known: AtomicU32,
    /// Whether the table has it.
    kept: bool,
}

impl Endpoint {
    fn new(side: Side, verb: Verb, target: &str, kept: bool) -> Self {
        let name = match side {
            Side::Server if kept => format!("{} {target}", verb.name()).into(),
            _ => verb.name().into(),
        };
        let target = &target[..target.floor_char_boundary(LONGEST + 1)];
        Endpoint { verb, target: target.into(), name, known: AtomicU32::new(0), kept }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its number, if it is known.
    pub(crate) fn number(&self) -> Option<u32> {
        self.known.load(Relaxed).checked_sub(1)
    }
}

/// The endpoints of one side.
pub(crate) struct Endpoints {
    side: Side,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    of_verb: [HashMap<Box<str>, Arc<Endpoint>>; Verb::COUNT],
    /// How many were kept and are not known.
    new: usize,
    known: Vec<Arc<Endpoint>>,
}

/// Routes that are served.
pub(crate) static SERVED: LazyLock<Endpoints> = LazyLock::new(|| Endpoints::of(Side::Server));
/// Servers that are called.
pub(crate) static CALLED: LazyLock<Endpoints> = LazyLock::new(|| Endpoints::of(Side::Client));

pub(crate) fn all(side: Side) -> &'static Endpoints {
    match side {
        Side::Server => &SERVED,
        Side::Client => &CALLED,
    }
}

impl Endpoints {
    fn of(side: Side) -> Self {
        Endpoints { side, table: RwLock::default() }
    }

    pub(crate) fn find(&self, verb: Verb, target: &str) -> Arc<Endpoint> {
        let table = self.read();
        if let Some(endpoint) = table.of_verb[verb.index()].get(target) {
            return endpoint.clone();
        }
        let room = target.len() <= LONGEST && table.new < NEW;
        drop(table);
        let endpoint = Arc::new(Endpoint::new(self.side, verb, target, room));
        if room { self.keep(endpoint) } else { endpoint }
    }

    /// The endpoint has answered: it is one, and not somebody's invention.
    pub(crate) fn learn(&self, endpoint: &Arc<Endpoint>) {
        let is_odd = matches!(&*endpoint.target, "" | OTHER) || endpoint.target.len() > LONGEST;
        if endpoint.number().is_some() || is_odd {
            return;
        }
        let mut table = self.write();
        if table.known.len() >= KNOWN {
            return;
        }
        let found = table.of_verb[endpoint.verb.index()].get(&endpoint.target).cloned();
        let was_kept = found.is_some();
        let kept = found.unwrap_or_else(|| Arc::new(Endpoint::new(self.side, endpoint.verb, &endpoint.target, true)));
        // Another thread may have been faster.
        if kept.number().is_none() {
            table.known.push(kept.clone());
            kept.known.store(table.known.len() as u32, Relaxed);
            table.new -= usize::from(was_kept);
        }
        if let (false, Some(number)) = (endpoint.kept, kept.number()) {
            endpoint.known.store(number + 1, Relaxed);
        }
        table.of_verb[endpoint.verb.index()].entry(endpoint.target.clone()).or_insert(kept);
    }

    /// The target of the one with this number.
    pub(crate) fn target(&self, number: u32) -> Option<Box<str>> {
        self.read().known.get(number as usize).map(|endpoint| endpoint.target.clone())
    }

    fn keep(&self, endpoint: Arc<Endpoint>) -> Arc<Endpoint> {
        let mut table = self.write();
        // Another thread may have been faster, with this one or with the last that there was room for.
        if let Some(kept) = table.of_verb[endpoint.verb.index()].get(&endpoint.target) {
            return kept.clone();
        }
        if table.new >= NEW {
            return Arc::new(Endpoint::new(self.side, endpoint.verb, &endpoint.target, false));
        }
        table.new += 1;
        table.of_verb[endpoint.verb.index()].insert(endpoint.target.clone(), endpoint.clone());
        endpoint
    }

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    const SERVER: fn() -> Endpoints = || Endpoints::of(Side::Server);

    fn get() -> Verb {
        Verb::of(&Method::GET)
    }

    fn size(endpoints: &Endpoints) -> usize {
        endpoints.read().of_verb.iter().map(HashMap::len).sum()
    }

    #[test]
    fn spans_are_named_by_the_route_on_the_server_alone() {
        assert_eq!(SERVER().find(get(), "/a/{id}").name(), "GET /a/{id}");
        assert_eq!(SERVER().find(Verb::OTHER, "/a").name(), "HTTP /a");
        assert_eq!(Endpoints::of(Side::Client).find(get(), "host:80").name(), "GET");
    }

    #[test]
    fn inventions_do_not_crowd_out_those_that_answer() {
        let endpoints = SERVER();
        for n in 0..100_000 {
            let found = endpoints.find(Verb::from_index(n % Verb::COUNT), &format!("/invented/{n}"));
            assert_eq!(found.kept, n < NEW, "{n}");
        }
        let real = endpoints.find(get(), "/real");
        assert_eq!((real.name(), real.number()), ("GET", None));
        endpoints.learn(&real);
        endpoints.learn(&real);
        assert_eq!(real.number(), Some(0));
        let again = endpoints.find(get(), "/real");
        assert_eq!((again.name(), again.number()), ("GET /real", Some(0)));
        assert_eq!((endpoints.target(0).as_deref(), endpoints.target(1)), (Some("/real"), None));
        assert_eq!(size(&endpoints), NEW + 1);
    }

    #[test]
    fn learning_has_an_end() {
        let endpoints = SERVER();
        for n in 0..2 * (NEW + KNOWN) {
            endpoints.learn(&endpoints.find(get(), &format!("/{n}")));
        }
        assert_eq!(endpoints.find(get(), "/1000000").number(), None);
        assert_eq!((endpoints.read().known.len(), size(&endpoints)), (KNOWN, KNOWN + NEW));
    }

    #[test]
    fn endless_targets_are_never_known() {
        let endpoints = SERVER();
        let endless = endpoints.find(get(), &"é".repeat(10_000));
        endpoints.learn(&endless);
        assert_eq!((endless.name(), endless.number(), size(&endpoints)), ("GET", None, 0));
        assert!(endless.target.len() <= LONGEST + 1);
    }

    #[test]
    fn what_looks_like_no_target_is_never_known() {
        let endpoints = SERVER();
        for odd in ["", OTHER] {
            endpoints.learn(&endpoints.find(get(), odd));
        }
        assert_eq!(endpoints.read().known.len(), 0);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let endpoints = SERVER();
        let numbers: Vec<Vec<_>> = std::thread::scope(|scope| {
            let learnt = || (0..50).map(|n| learnt(&endpoints, &format!("/{n}"))).collect();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(learnt)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(numbers.iter().flatten().all(Option::is_some), "{numbers:?}");
        assert_eq!((endpoints.read().known.len(), endpoints.read().new), (50, 0));
    }

    fn learnt(endpoints: &Endpoints, target: &str) -> Option<Box<str>> {
        let endpoint = endpoints.find(get(), target);
        endpoints.learn(&endpoint);
        endpoint.number().and_then(|number| endpoints.target(number)).filter(|found| **found == *target)
    }
}
