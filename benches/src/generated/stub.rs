//! The minimum of a span, written by hand: a switch, the clock, the outcome, and a record in a buffer of the thread. It
//! is a module of generated crates.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Instant;

pub struct Callsite {
    on: AtomicBool,
    name: &'static str,
}

pub const fn callsite(name: &'static str) -> Callsite {
    Callsite { on: AtomicBool::new(false), name }
}

pub struct Span {
    at: &'static Callsite,
    id: u64,
    parent: u64,
    start: Instant,
    attributes: Vec<(u32, Box<str>)>,
    error: Option<Box<str>>,
}

thread_local! {
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    static ENDED: RefCell<Vec<(Instant, Span)>> = const { RefCell::new(Vec::new()) };
}

impl Span {
    #[inline(never)]
    fn start(at: &'static Callsite) -> Self {
        let (id, parent) = (CURRENT.get() + 1, CURRENT.get());
        Span { at, id, parent, start: Instant::now(), attributes: Vec::new(), error: None }
    }

    #[inline(never)]
    pub fn text(&mut self, key: u32, value: &str) {
        self.attributes.push((key, value.into()));
    }

    #[inline(never)]
    pub fn number(&mut self, key: u32, value: u64) {
        self.attributes.push((key, value.to_string().into()));
    }

    #[inline(never)]
    fn failed(&mut self, error: &dyn Display) {
        self.error = Some(error.to_string().into());
    }

    #[inline(never)]
    fn enter(&self) -> u64 {
        CURRENT.replace(self.id)
    }

    #[inline(never)]
    fn end(self) {
        let end = Instant::now();
        CURRENT.set(self.parent);
        ENDED.with_borrow_mut(|ended| {
            if ended.len() < 1_000 && !self.at.name.is_empty() {
                ended.push((end, self));
            }
        });
    }
}

#[inline(always)]
pub fn run<R>(at: &'static Callsite, body: impl FnOnce() -> R) -> R {
    if at.on.load(Relaxed) { recorded(at, body) } else { body() }
}

#[inline(never)]
fn recorded<R>(at: &'static Callsite, body: impl FnOnce() -> R) -> R {
    let span = Span::start(at);
    span.enter();
    let result = body();
    span.end();
    result
}

#[inline(always)]
pub fn run_result<R, E: Display>(at: &'static Callsite, body: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    if at.on.load(Relaxed) { recorded_result(at, body) } else { body() }
}

#[inline(never)]
fn recorded_result<R, E: Display>(at: &'static Callsite, body: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    let mut span = Span::start(at);
    span.enter();
    let result = body();
    if let Err(error) = &result {
        span.failed(error);
    }
    span.end();
    result
}

pub struct Wrapped<F> {
    span: Option<Span>,
    inner: F,
}

#[inline(always)]
pub fn wrap<F>(at: &'static Callsite, attributes: impl FnOnce(&mut Span), inner: F) -> Wrapped<F> {
    let span = at.on.load(Relaxed).then(|| {
        let mut span = Span::start(at);
        attributes(&mut span);
        span
    });
    Wrapped { span, inner }
}

impl<R, E: Display, F: Future<Output = Result<R, E>>> Wrapped<F> {
    #[inline(never)]
    fn poll_recorded(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `inner` is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        let before = this.span.as_ref().map_or(0, Span::enter);
        // SAFETY: it lies in `self`, which is pinned.
        let polled = unsafe { Pin::new_unchecked(&mut this.inner) }.poll(task);
        CURRENT.set(before);
        if let (Poll::Ready(result), Some(mut span)) = (&polled, this.span.take_if(|_| polled.is_ready())) {
            if let Err(error) = result {
                span.failed(error);
            }
            span.end();
        }
        polled
    }
}

impl<R, E: Display, F: Future<Output = Result<R, E>>> Future for Wrapped<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        if self.span.is_some() {
            return self.poll_recorded(task);
        }
        // SAFETY: `inner` is not moved, and lies in `self`, which is pinned.
        unsafe { self.map_unchecked_mut(|this| &mut this.inner) }.poll(task)
    }
}
