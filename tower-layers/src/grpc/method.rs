//! What is called, and how its spans are named.
//!
//! The names of spans are kept for as long as the process runs, and a caller may invent any. So a few are taken as they
//! come, and more only of methods that have answered `OK` once; the others are called `_OTHER`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use foldhash::fast::RandomState;
use tracecast::{Kind, SpanName};

use crate::grpc::label::MethodLabel;

/// Names that are taken as they come.
const NEW: usize = 256;
/// Names of methods that have answered `OK`. Together they fit into the table of span names, which the layers for HTTP and the
/// application use too: past its end a span is called `other`.
const LEARNT: usize = 512;
/// The longest path that is looked at.
const PATH: usize = 1024;

const OTHER: &str = "_OTHER";

/// A method, by its path.
#[derive(Debug)]
pub(crate) struct Method {
    path: Box<str>,
    /// `Service/Method`, without the package.
    name: Box<str>,
    /// Where the service's full name ends in the path, and where the method's begins.
    service_end: usize,
    learnt: AtomicBool,
    label: AtomicU32,
    /// Whether the table has it.
    kept: bool,
    /// Its name, as the recorder knows it.
    span: OnceLock<SpanName>,
}

impl Method {
    fn new(path: &str, kept: bool) -> Self {
        let path = &path[..path.floor_char_boundary(PATH)];
        let service_end = path.rfind('/').filter(|at| *at > 0).unwrap_or(path.len());
        let mut method = Method {
            path: path.into(),
            name: OTHER.into(),
            service_end,
            learnt: AtomicBool::new(false),
            label: AtomicU32::new(MethodLabel::OTHER.bits()),
            kept,
            span: OnceLock::new(),
        };
        if kept && !method.service().is_empty() && !method.method().is_empty() {
            let service = method.service().rsplit(['.', '/']).next().unwrap_or_default();
            method.name = format!("{service}/{}", method.method()).into();
        }
        method
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its name for spans. A method is of one side, whose spans are of one kind.
    pub(crate) fn span(&self, kind: Kind) -> SpanName {
        *self.span.get_or_init(|| SpanName::new(&self.name, kind))
    }

    /// With its service, as `store.v1.Store/Get`.
    pub(crate) fn full(&self) -> &str {
        self.path.strip_prefix('/').unwrap_or(&self.path)
    }

    /// Whether it has a name of its own.
    pub(crate) fn is_named(&self) -> bool {
        *self.name != *OTHER
    }

    /// Its label on metrics.
    pub(crate) fn label(&self) -> MethodLabel {
        MethodLabel::from_bits(self.label.load(Relaxed))
    }

    fn learn_label(&self) -> MethodLabel {
        let is_whole = self.path.starts_with('/') && !self.service().is_empty() && !self.method().is_empty();
        let label = if is_whole { MethodLabel::of(self.full()) } else { MethodLabel::OTHER };
        self.label.store(label.bits(), Relaxed);
        label
    }

    pub(crate) fn service(&self) -> &str {
        let service = self.path.get(..self.service_end).unwrap_or_default();
        service.strip_prefix('/').unwrap_or(service)
    }

    pub(crate) fn method(&self) -> &str {
        self.path.get(self.service_end + 1..).unwrap_or_default()
    }
}

/// The methods of one side.
#[derive(Default)]
pub(crate) struct Methods(RwLock<Known>);

#[derive(Default)]
struct Known {
    methods: HashMap<Box<str>, Arc<Method>, RandomState>,
    learnt: usize,
}

/// Those that are served.
pub(crate) static SERVED: LazyLock<Methods> = LazyLock::new(Methods::default);
/// Those that are called.
pub(crate) static CALLED: LazyLock<Methods> = LazyLock::new(Methods::default);

impl Methods {
    pub(crate) fn find(&self, path: &str) -> Arc<Method> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(method) = known.methods.get(path) {
            return method.clone();
        }
        let room = path.len() <= PATH && known.has_room();
        drop(known);
        if room { self.keep(path) } else { Arc::new(Method::new(path, false)) }
    }

    /// The method has answered `OK`: it is one, and not somebody's invention.
    pub(crate) fn learn(&self, method: &Arc<Method>) {
        if method.learnt.swap(true, Relaxed) {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.learnt >= LEARNT || method.path.len() >= PATH {
            return;
        }
        let label = AtomicU32::new(method.learn_label().bits());
        if !method.kept {
            if known.methods.contains_key(&method.path) {
                return;
            }
            let named = Method { learnt: AtomicBool::new(true), label, ..Method::new(&method.path, true) };
            known.methods.insert(method.path.clone(), Arc::new(named));
        }
        known.learnt += 1;
    }

    /// These are methods, whatever they will answer.
    pub(crate) fn learn_all<'a>(&self, paths: impl IntoIterator<Item = &'a str>) {
        paths.into_iter().for_each(|path| self.learn(&self.find(path)));
    }

    /// The one that the table has from now on.
    fn keep(&self, path: &str) -> Arc<Method> {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster, with this one or with the last that there was room for.
        if let Some(method) = known.methods.get(path) {
            return method.clone();
        }
        let method = Arc::new(Method::new(path, known.has_room()));
        if method.kept {
            known.methods.insert(method.path.clone(), method.clone());
        }
        method
    }
}

impl Known {
    fn has_room(&self) -> bool {
        self.methods.len().saturating_sub(self.learnt) < NEW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[track_caller]
    fn check(path: &str, name: &str, service: &str, method: &str) {
        let found = Methods::default().find(path);
        assert_eq!((found.name(), found.service(), found.method()), (name, service, method), "{path}");
    }

    #[test]
    fn a_path_is_a_service_and_a_method() {
        check("/store.v1.Store/Get", "Store/Get", "store.v1.Store", "Get");
        check("/Store/Get", "Store/Get", "Store", "Get");
        check("/a/b.C/Get", "C/Get", "a/b.C", "Get");
    }

    #[test]
    fn a_path_of_another_shape_has_no_name() {
        check("", OTHER, "", "");
        check("/", OTHER, "", "");
        check("/Store", OTHER, "Store", "");
        check("/Store/", OTHER, "Store", "");
        check("//Get", OTHER, "", "Get");
        check("*", OTHER, "*", "");
    }

    #[test]
    fn invented_names_do_not_crowd_out_those_that_answer() {
        let methods = Methods::default();
        for n in 0..100_000 {
            let name = methods.find(&format!("/evil.Svc{n}/M")).name().to_owned();
            assert_eq!(name == OTHER, n >= NEW, "{n}");
        }
        let real = methods.find("/real.Svc/Get");
        assert_eq!(real.name(), OTHER);
        methods.learn(&real);
        methods.learn(&real);
        assert_eq!(methods.find("/real.Svc/Get").name(), "Svc/Get");
        assert_eq!(methods.0.read().unwrap().methods.len(), NEW + 1);
    }

    #[test]
    fn threads_that_come_at_once_find_one_and_learn_it_once() {
        let methods = Methods::default();
        for round in 0..200 {
            let path = format!("/Svc{round}/M");
            let start = std::sync::Barrier::new(4);
            let first = || {
                start.wait();
                let method = methods.find(&path);
                methods.learn(&method);
                Arc::as_ptr(&method) as usize
            };
            let found = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(first)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<std::collections::HashSet<_>>()
            });
            assert_eq!(found.len(), 1, "{path}");
        }
        let known = methods.0.read().unwrap();
        assert_eq!((known.methods.len(), known.learnt), (200, 200));
    }

    #[test]
    fn learning_has_an_end() {
        let methods = Methods::default();
        for n in 0..2 * (NEW + LEARNT) {
            methods.learn(&methods.find(&format!("/Svc{n}/M")));
        }
        assert_eq!(methods.find("/Svc10000/M").label(), MethodLabel::OTHER);
        let known = methods.0.read().unwrap();
        assert_eq!((known.learnt, known.methods.len()), (LEARNT, LEARNT + NEW));
    }

    #[test]
    fn paths_are_hashed_with_a_seed() {
        let [one, other] = [Methods::default(), Methods::default()];
        let hash = |methods: &Methods| methods.0.read().unwrap().methods.hasher().hash_one("/Svc/M");
        assert_ne!(hash(&one), hash(&other));
    }

    #[test]
    fn endless_paths_are_cut() {
        let found = Methods::default().find(&format!("/{}/M", "é".repeat(10_000)));
        assert_eq!(found.name(), OTHER);
        assert_eq!(found.path.len(), PATH - 1);
    }
}
