//! The minimum for an async function below a span: the span's ids are current while the function runs, on any thread. A
//! cell of the thread's free list holds a copy of the ids, so that the future grows only by a pointer; the cell is
//! pushed and popped at each poll and given back at the end. Nothing can be switched, filtered or recorded, threads do
//! not share cells, and panics are not handled.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use crate::work;

/// A cell of the free list. Never freed, and in one list of its thread at a time.
struct Place {
    ids: Cell<[u64; 3]>,
    below: Cell<Option<&'static Place>>,
}

thread_local! {
    static CURRENT: Cell<Option<&'static Place>> = const { Cell::new(None) };
    static FREE: Cell<Option<&'static Place>> = const { Cell::new(None) };
}

/// Runs `f` below an unsampled root, with enough free cells for a chain.
pub fn rooted<R>(inside: impl FnOnce() -> R) -> R {
    let place = || &*Box::leak(Box::new(Place { ids: Cell::new([1, 2, 3]), below: Cell::new(None) }));
    if CURRENT.get().is_none() {
        let [root, first, second] = [place(), place(), place()];
        first.below.set(Some(second));
        CURRENT.set(Some(root));
        FREE.set(Some(first));
    }
    inside()
}

/// A copy of the current ids.
#[inline(never)]
fn copied() -> Option<&'static Place> {
    let (current, place) = (CURRENT.get()?, FREE.get()?);
    FREE.set(place.below.get());
    place.ids.set(current.ids.get());
    Some(place)
}

/// Leaves a cell and gives it back.
#[inline(never)]
fn ended(place: &'static Place) {
    CURRENT.set(place.below.get());
    place.below.set(FREE.replace(Some(place)));
}

struct Carried<F> {
    place: Option<&'static Place>,
    future: F,
}

impl<F: Future> Carried<F> {
    #[inline(never)]
    fn poll_at(&mut self, place: &'static Place, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        place.below.set(CURRENT.replace(Some(place)));
        // SAFETY: it lies in `self`, which `poll` found pinned.
        let polled = unsafe { Pin::new_unchecked(&mut self.future) }.poll(task);
        if polled.is_ready() {
            self.place = None;
            ended(place);
        } else {
            CURRENT.set(place.below.get());
        }
        polled
    }
}

impl<F: Future> Future for Carried<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned `future`; the rest is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        match this.place {
            Some(place) => this.poll_at(place, task),
            // SAFETY: it lies in `self`, which is pinned.
            None => unsafe { Pin::new_unchecked(&mut this.future) }.poll(task),
        }
    }
}

/// A chain like `work::chain`; each of its spans is two clock readings and a store of 64 bytes.
pub fn chain(x: u64) -> impl Future<Output = u64> {
    let future = async move {
        let mut sum = work::limit(x, &mut [0; 8]);
        for n in 0..10 {
            sum += link(x + n).await;
        }
        sum
    };
    Carried { place: copied(), future }
}

#[inline(never)]
fn link(x: u64) -> impl Future<Output = u64> {
    Carried { place: copied(), future: work::plain_link(work::limit(x, &mut [0; 8])) }
}

#[inline(never)]
pub fn unsampled_async(x: u64) -> impl Future<Output = u64> {
    Carried { place: copied(), future: work::plain_async(x) }
}
