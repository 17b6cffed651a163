//! Scope guards: dropped out of order, leaked, moved away, re-entered from destructors. The tree stays right.

use tracecast::prelude::*;
use tracecast::testing::capture;
use tracecast::{Attached, Context, Kind, Scope, Span};

#[tc_span("Scope/Child")]
fn child() {}

#[test]
fn guards_dropped_out_of_order_leave_the_others_in_place() {
    let captured = capture(|| {
        let _outer = tc_scope!("Scope/Outer");
        let first = tc_scope!("Scope/First");
        let second = tc_scope!("Scope/Second");
        drop(first);
        child();
        drop(second);
        child();
    });
    captured.assert_outline(
        "
        Scope/Outer
          Scope/First
            Scope/Second
              Scope/Child
          Scope/Child
        ",
    );
}

#[tc_span("Scope/Leaky")]
fn leaky() {
    std::mem::forget(tc_scope!("Scope/Leaked"));
    child();
}

#[test]
fn a_leaked_guard_ends_with_the_function_around_it() {
    let captured = capture(|| {
        leaky();
        child();
    });
    // The leaked span never ends, so it is not there; its child keeps the id it was given.
    let leaky = captured.span("Scope/Leaky");
    let children = captured.spans_named("Scope/Child");
    assert_eq!((captured.spans.len(), children.len()), (3, 2));
    assert_ne!(children[0].parent_span_id, Some(leaky.span_id));
    assert_eq!(children[0].trace_id, leaky.trace_id);
    assert_eq!(children[1].parent_span_id, None, "what follows is not below the leaked span");
}

#[tc_span("Scope/Maker")]
fn maker() -> Scope {
    tc_scope!("Scope/Moved")
}

#[test]
fn a_guard_that_outlives_the_function_around_it_is_no_parent_any_more() {
    let captured = capture(|| {
        let moved = maker();
        child();
        drop(moved);
        child();
    });
    captured.assert_outline(
        "
        Scope/Maker
          Scope/Moved
        Scope/Child
        Scope/Child
        ",
    );
}

#[tc_span("Scope/Attacher")]
fn attacher() -> Attached {
    Context::current().attach()
}

#[test]
fn a_context_that_was_cut_off_leaves_the_span_current_in_which_it_is_dropped() {
    let captured = capture(|| {
        let attached = attacher();
        let _other = tc_scope!("Scope/Other");
        drop(attached);
        child();
    });
    captured.assert_outline(
        "
        Scope/Attacher
        Scope/Other
          Scope/Child
        ",
    );
}

#[tc_span("Scope/Ender")]
fn ender(outer: Scope) {
    drop(outer);
    child();
}

#[test]
fn a_guard_dropped_inside_a_callee_leaves_the_callee_current() {
    let captured = capture(|| {
        let outer = tc_scope!("Scope/Outer");
        ender(outer);
        child();
    });
    captured.assert_outline(
        "
        Scope/Outer
          Scope/Ender
            Scope/Child
        Scope/Child
        ",
    );
}

/// Makes spans when it is dropped, and reads the current one.
struct Reentrant;

impl Drop for Reentrant {
    fn drop(&mut self) {
        let _scope = tc_scope!("Scope/InDrop");
        tracecast::current().set(tracecast::keys::size_bytes, 1_u64);
    }
}

impl std::fmt::Display for Reentrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _scope = tc_scope!("Scope/InDisplay");
        tracecast::current().event("shown");
        f.write_str("text")
    }
}

#[tc_span("Scope/Reenters", attrs(tracecast::keys::tensor::artifact = tracecast::display(Reentrant)))]
fn reenters() -> Result<(), Reentrant> {
    let _value = Reentrant;
    Err(Reentrant)
}

#[test]
fn values_that_make_spans_when_shown_or_dropped_do_no_harm() {
    let captured = capture(|| drop(reenters()));
    captured.assert_tree(
        "
        Scope/InDisplay
          - shown
        Scope/InDrop tc.size.bytes=1
        Scope/Reenters error tc.artifact.id=text error.type=captures::scopes::Reentrant error.message=text
          Scope/InDrop tc.size.bytes=1
          Scope/InDisplay
            - shown
        Scope/InDrop tc.size.bytes=1
        ",
    );
}

#[test]
fn a_panic_ends_the_spans_it_passes_and_no_others() {
    let captured = capture(|| {
        let _outer = tc_scope!("Scope/Outer");
        let _ = std::panic::catch_unwind(|| {
            let _unwound = tc_scope!("Scope/Unwound");
            // Made and ended while the thread unwinds, but not by the panic.
            let _in_drop = Reentrant;
            panic!("on purpose");
        });
        child();
    });
    captured.assert_outline(
        "
        Scope/Outer
          Scope/Unwound panicked
            Scope/InDrop
          Scope/Child
        ",
    );
}

#[test]
fn every_scope_is_done_with_after_a_thousand_random_orders() {
    let mut seed = 7_u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % n
    };
    for _ in 0..if cfg!(miri) { 5 } else { 1_000 } {
        let captured = capture(|| {
            let mut held: Vec<Scope> = Vec::new();
            for _ in 0..20 {
                if held.is_empty() || random(2) == 0 {
                    held.push(tc_scope!("Scope/Random"));
                } else {
                    drop(held.swap_remove(random(held.len())));
                }
            }
            while !held.is_empty() {
                drop(held.swap_remove(random(held.len())));
            }
            child();
        });
        assert_eq!(captured.span("Scope/Child").parent_span_id, None, "nothing is left on the stack\n{captured}");
    }
}

/// Runs `f`, inside of which a scope leaks, on a thread of its own; whether anything is current there afterwards.
fn current_after(f: impl FnOnce() + Send + 'static) -> bool {
    std::thread::spawn(move || {
        f();
        tracecast::Context::current().is_valid()
    })
    .join()
    .unwrap()
}

fn leak() {
    std::mem::forget(tc_scope!("Scope/Leaked"));
}

#[test]
fn a_leaked_guard_ends_with_whatever_made_a_context_current() {
    assert!(!current_after(|| drop(capture(leak))));
    assert!(!current_after(|| capture(|| Context::current().run(leak)).value));
    let inside = capture(|| {
        let around = Context::current();
        let context = Span::builder("Scope/Other", Kind::Internal).start().context();
        context.run(leak);
        let after_run = Context::current().is_valid();
        {
            let _attached = context.attach();
            leak();
        }
        let after_attach = Context::current().is_valid();
        let work = async { leak() }.in_context(&context);
        futures::executor::block_on(work);
        drop(around);
        (after_run, after_attach, Context::current().is_valid())
    });
    assert_eq!(inside.value, (false, false, false), "after run, attach and in_context");
}
