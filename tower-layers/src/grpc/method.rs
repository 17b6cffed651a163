//! The methods that are called, and the names of their spans.
//!
//! A method is learnt when it has answered `OK`. A method for which the table has no room is named `_OTHER`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tracecast::__layers::{SpanName, Start};
use tracecast::Static;
use tracecast::keys::rpc;

use crate::grpc::label::MethodLabel;
use crate::learnt::{Entry, Learnt, OTHER, Tables};
use crate::side::Side;

/// A method, by its path.
#[derive(Debug)]
pub(crate) struct Method {
    entry: Entry,
    /// `Service/Method`, without the package.
    name: Box<str>,
    /// The service and the name as `'static` texts, if the table has the method.
    kept: Option<(&'static str, &'static str)>,
    /// The position in the path at which the service's name ends and the method's begins.
    service_end: usize,
    label: AtomicU32,
    /// The span's name, interned in the recorder.
    span: OnceLock<SpanName>,
}

impl Learnt for Method {
    const NEW: usize = 256;
    /// The known and the new methods fit into the table of span names, which the HTTP layers and the application share.
    /// If that table is full, a span is named `other`.
    const KNOWN: usize = 512;
    const LONGEST: usize = 1023;

    fn new(entry: Entry) -> Self {
        let path = entry.text();
        let service_end = path.rfind('/').filter(|at| *at > 0).unwrap_or(path.len());
        let label = AtomicU32::new(MethodLabel::OTHER.bits());
        let mut method = Method { entry, name: OTHER.into(), service_end, label, span: OnceLock::new(), kept: None };
        if method.entry.is_kept() {
            method.kept = Some((leaked(method.service()), leaked(method.method())));
        }
        if method.entry.is_kept() && !method.service().is_empty() && !method.method().is_empty() {
            let service = method.service().rsplit(['.', '/']).next().unwrap_or_default();
            method.name = format!("{service}/{}", method.method()).into();
        }
        method
    }

    #[inline]
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_learnable(&self) -> bool {
        self.path().starts_with('/') && !self.service().is_empty() && !self.method().is_empty()
    }

    fn learnt(&self) {
        self.label.store(MethodLabel::of(self.full()).bits(), Relaxed);
    }
}

impl Method {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the method's spans. A method belongs to one side.
    pub(crate) fn span(&self, side: Side) -> SpanName {
        *self.span.get_or_init(|| SpanName::new(&self.name, side.kind()))
    }

    /// Returns the method with its service, as in `store.v1.Store/Get`.
    pub(crate) fn full(&self) -> &str {
        self.path().strip_prefix('/').unwrap_or(self.path())
    }

    /// Returns whether the path has a service and a method, and the table had room for the method. Otherwise its name
    /// is `_OTHER`.
    pub(crate) fn is_named(&self) -> bool {
        *self.name != *OTHER
    }

    /// Returns the method's label on metrics.
    pub(crate) fn label(&self) -> MethodLabel {
        MethodLabel::from_bits(self.label.load(Relaxed))
    }

    /// Adds the service to a span.
    #[inline]
    pub(crate) fn tell_service(&self, span: &mut Start) {
        match self.kept {
            Some((service, _)) => span.add(rpc::service, Static(service)),
            None => span.add(rpc::service, self.service()),
        }
    }

    /// Adds the method's name to a span.
    #[inline]
    pub(crate) fn tell_method(&self, span: &mut Start) {
        match self.kept {
            Some((_, method)) => span.add(rpc::method, Static(method)),
            None => span.add(rpc::method, self.method()),
        }
    }

    fn path(&self) -> &str {
        self.entry.text()
    }

    pub(crate) fn service(&self) -> &str {
        let service = self.path().get(..self.service_end).unwrap_or_default();
        service.strip_prefix('/').unwrap_or(service)
    }

    pub(crate) fn method(&self) -> &str {
        self.path().get(self.service_end + 1..).unwrap_or_default()
    }
}

/// Leaks a text of a kept method. The table never drops a method, so each text is leaked once.
fn leaked(text: &str) -> &'static str {
    String::from(text).leak()
}

/// The methods of servers and of clients.
pub(crate) static METHODS: Tables<Method> = Tables::new();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learnt::Table;
    use std::sync::Arc;

    #[track_caller]
    fn check(path: &str, name: &str, service: &str, method: &str) {
        let found = Table::<Method>::new().find(0, path);
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
        let methods = Table::<Method>::new();
        for n in 0..100_000 {
            let name = methods.find(0, &format!("/evil.Svc{n}/M")).name().to_owned();
            assert_eq!(name == OTHER, n >= Method::NEW, "{n}");
        }
        let real = methods.find(0, "/real.Svc/Get");
        assert_eq!(real.name(), OTHER);
        methods.learn(&real);
        methods.learn(&real);
        assert_eq!(methods.find(0, "/real.Svc/Get").name(), "Svc/Get");
        assert_eq!(methods.sizes(), (Method::NEW + 1, 1));
    }

    #[test]
    fn threads_that_come_at_once_find_one_and_learn_it_once() {
        let methods = Table::<Method>::new();
        for round in 0..200 {
            let path = format!("/Svc{round}/M");
            let start = std::sync::Barrier::new(4);
            let first = || {
                start.wait();
                let method = methods.find(0, &path);
                methods.learn(&method);
                Arc::as_ptr(&method) as usize
            };
            let found = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(first)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect::<std::collections::HashSet<_>>()
            });
            assert_eq!(found.len(), 1, "{path}");
        }
        assert_eq!(methods.sizes(), (200, 200));
    }

    #[test]
    fn learning_has_an_end() {
        let methods = Table::<Method>::new();
        for n in 0..2 * (Method::NEW + Method::KNOWN) {
            methods.learn(&methods.find(0, &format!("/Svc{n}/M")));
        }
        assert_eq!(methods.find(0, "/Svc10000/M").label(), MethodLabel::OTHER);
        assert_eq!(methods.sizes(), (Method::KNOWN + Method::NEW, Method::KNOWN));
    }

    #[test]
    fn endless_paths_are_cut() {
        let found = Table::<Method>::new().find(0, &format!("/{}/M", "é".repeat(10_000)));
        assert_eq!(found.name(), OTHER);
        assert_eq!(found.path().len(), Method::LONGEST);
    }
}
