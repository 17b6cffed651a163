//! The types that are accepted as a span's parent and as its links.

use crate::trace::context::Context;

/// Types accepted as a parent: a context, a reference to one, or an option of either. Sealed.
///
/// ```
/// use tracecast::{IntoParent, Kind, Span};
///
/// fn child(parent: impl IntoParent) {
///     Span::builder("Store/Read", Kind::Internal).with_parent(parent).start().end();
/// }
///
/// let captured = tracecast::testing::capture(|| {
///     let span = Span::builder("Store/Load", Kind::Internal).start();
///     child(span.context());
///     child(Some(&span.context()));
/// });
/// captured.assert_tree("
///     Store/Load
///       Store/Read
///       Store/Read
/// ");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parent of a span",
    label = "not a context",
    note = "pass a `tracecast::Context`, a reference to one, or an `Option` of either; without a valid context the span is a root"
)]
pub trait IntoParent: sealed::Parent {
    /// Returns the context; an invalid one means no parent.
    #[doc(hidden)]
    fn into_parent(self) -> Context;
}

impl IntoParent for Context {
    fn into_parent(self) -> Context {
        self
    }
}

impl IntoParent for &Context {
    fn into_parent(self) -> Context {
        self.clone()
    }
}

impl<P: IntoParent> IntoParent for Option<P> {
    fn into_parent(self) -> Context {
        self.map_or_else(Context::default, P::into_parent)
    }
}

/// Types accepted as links: contexts, references to them, options and collections of them. Invalid contexts are skipped. Sealed.
///
/// ```
/// use tracecast::{Context, IntoLinks, Kind, Span, SpanId, TraceId};
///
/// fn sweep(jobs: impl IntoLinks) {
///     Span::builder("Worker/Sweep", Kind::Internal).with_links(jobs).start().end();
/// }
///
/// let jobs = [0xb, 0xc].map(|id| Context::remote(TraceId(0xa), SpanId(id), true)).to_vec();
/// let captured = tracecast::testing::capture(|| sweep(&jobs));
/// assert_eq!(captured.span("Worker/Sweep").links.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be linked to",
    label = "not a context",
    note = "pass a `tracecast::Context`, a reference to one, an `Option`, a slice or a `Vec` of them"
)]
pub trait IntoLinks: sealed::Links {
    /// Calls `link` with each context.
    #[doc(hidden)]
    fn for_each_link(self, link: &mut dyn FnMut(&Context));
}

impl IntoLinks for Context {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        link(&self);
    }
}

impl IntoLinks for &Context {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        link(self);
    }
}

impl<L: IntoLinks> IntoLinks for Option<L> {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.into_iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<L: IntoLinks> IntoLinks for Vec<L> {
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.into_iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<'a, T> IntoLinks for &'a [T]
where
    &'a T: IntoLinks,
{
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.iter().for_each(|inner| inner.for_each_link(link));
    }
}

impl<'a, T> IntoLinks for &'a Vec<T>
where
    &'a T: IntoLinks,
{
    fn for_each_link(self, link: &mut dyn FnMut(&Context)) {
        self.as_slice().for_each_link(link);
    }
}

mod sealed {
    use super::Context;

    pub trait Parent {}

    impl Parent for Context {}
    impl Parent for &Context {}
    impl<P: Parent> Parent for Option<P> {}

    pub trait Links {}

    impl Links for Context {}
    impl Links for &Context {}
    impl<L: Links> Links for Option<L> {}
    impl<L: Links> Links for Vec<L> {}
    impl<T> Links for &[T] {}
    impl<T> Links for &Vec<T> {}
}
