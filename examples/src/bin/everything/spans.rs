//! Spans: every kind, every type of attribute, every way to end, every limit.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context as TaskContext, Waker};
use std::time::{Duration, UNIX_EPOCH};

use tracecast::prelude::*;
use tracecast::{Context, Kind, Outcome, Span, SpanId, Static, TraceId, current};

use super::made::{Link, Scope, Status, Watch, attributes, double, flag, int, now, text, watched};

/// The phase of a request.
#[derive(Clone, Copy, Debug, TcLabel)]
pub(crate) enum Phase {
    Prefill,
    #[tc_label(rename = "gen")]
    Decode,
}

pub(crate) mod keys {
    use super::Phase;

    tracecast::tc_keys! {
        /// A closed set.
        pub(crate) label phase: Phase = "tc.phase";
        /// A closed set, or none of it.
        pub(crate) label maybe: Option<Phase> = "tc.maybe";
        /// A bounded set.
        pub(crate) label slot: Index<4> = "tc.slot";
        /// A set that is learnt.
        pub(crate) label tenant: Interned<2> = "tc.tenant.class";
        /// A set of two.
        pub(crate) label warm: bool = "tc.warm";
        /// Text.
        pub(crate) id note: str = "tc.note";
        /// An unsigned number.
        pub(crate) id serial: u64 = "tc.serial";
        /// A signed number.
        pub(crate) id offset: i64 = "tc.offset";
        /// A flag.
        pub(crate) id ready: bool = "tc.ready";
        /// An unsigned quantity.
        pub(crate) measure bytes: u64 = "tc.size.bytes";
        /// A signed quantity.
        pub(crate) measure balance: i64 = "tc.balance";
        /// A fraction.
        pub(crate) measure ratio: f64 = "tc.ratio";
        /// Another one.
        pub(crate) measure limit: f64 = "tc.limit";
    }
}

/// Why nothing was loaded.
#[derive(Debug, TcError)]
enum LoadError {
    NotFound {
        id: u32,
    },
    #[tc_error(rename = "timeout")]
    TimedOut,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NotFound { id } => write!(f, "no replica {id}:\n\"x\""),
            LoadError::TimedOut => f.write_str("too late"),
        }
    }
}

const NOTE: &str = "ünïcode \u{1f980} \"quoted\" \\ line\nline\t\u{0}\u{1}\u{7f}\u{2028}";

pub(crate) fn make() -> Result<(), std::io::Error> {
    let caller = Context::remote(TraceId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef), SpanId(0xfedc_ba98), true);
    let watch = Watch::below(&caller);
    let sender = serve(watch, &caller);
    watch.over();
    watched(|watch| consume(watch, &[sender.clone(), unsampled()]));
    // Its parent is not sampled, so it is not recorded.
    unsampled().run(|| drop(tc_scope!("Everything/Unsampled")));

    watched(all_types);
    watched(other_values);
    let _ = watched(|watch| fails(watch, LoadError::NotFound { id: 7 }));
    let _ = watched(|watch| fails(watch, LoadError::TimedOut));
    let _ = watched(fails_plainly);
    let _ = watched(|watch| catch_unwind(AssertUnwindSafe(|| panics(watch))));
    watched(cancelled);
    watched(query);
    watched(in_scope);
    watched(|watch| {
        std::thread::spawn(move || in_thread(watch)).join().map_err(|_| std::io::Error::other("panicked"))
    })?;
    by_hand(&sender);
    at_given_times();
    Ok(())
}

fn unsampled() -> Context {
    Context::remote(TraceId(u128::MAX), SpanId(u64::MAX), false)
}

/// The first of four levels: a server span with a remote parent, which shares an attribute with all spans below.
#[tc_span("Everything/Serve", kind = server, parent = caller, share(keys::tenant = "gold"))]
fn serve(watch: Watch, caller: &Context) -> Context {
    watch.inside("Everything/Serve", "server", [("tc.tenant.class", text("gold"))]);
    let sender = watched(load);
    watch.ending();
    sender
}

#[tc_span("Everything/Load", attrs(keys::phase = Phase::Prefill))]
fn load(watch: Watch) -> Context {
    let given = [("tc.phase", text("prefill")), ("tc.tenant.class", text("gold"))];
    watch.inside("Everything/Load", "internal", given);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
    let sender = match runtime {
        Ok(runtime) => {
            let inner = Watch::new();
            let sender = runtime.block_on(fetch(inner));
            inner.over();
            sender
        }
        Err(_) => Context::default(),
    };
    watch.ending();
    sender
}

/// Across an `await`, after which the thread may be another.
#[tc_span("Everything/Fetch", kind = client)]
async fn fetch(watch: Watch) -> Context {
    watch.inside("Everything/Fetch", "client", [("tc.tenant.class", text("gold"))]);
    tokio::task::yield_now().await;
    let sender = watched(publish);
    watch.event("fetched", attributes([]), || current().event("fetched"));
    watch.ending();
    sender
}

#[tc_span("Everything/Publish", kind = producer)]
fn publish(watch: Watch) -> Context {
    watch.inside("Everything/Publish", "producer", [("tc.tenant.class", text("gold"))]);
    watch.ending();
    Context::current()
}

#[tc_span("Everything/Consume", kind = consumer, links(senders))]
fn consume(watch: Watch, senders: &[Context]) {
    watch.inside("Everything/Consume", "consumer", []);
    watch.with(|span| span.links = senders.iter().map(Link::to).collect());
    let about = attributes([("tc.size.bytes", int(4096)), ("tc.note", text(NOTE))]);
    watch.event("received", about, || {
        current().event_with("received", |event| {
            event.set(keys::bytes, 4096_u64);
            event.set(keys::note, NOTE);
        });
    });
    watch.ending();
}

#[tc_span("Everything/AllTypes", attrs(
    keys::phase = Phase::Decode, keys::maybe = None, keys::slot = 3_u32, keys::tenant = "silver", keys::warm = true,
    keys::note = NOTE, keys::serial = u64::MAX, keys::offset = i64::MIN, keys::ready = true, keys::balance = -7,
    keys::ratio = 0.1, keys::limit = f64::INFINITY), result(keys::bytes = |bytes| *bytes))]
fn all_types(watch: Watch) -> u64 {
    let given = [
        ("tc.phase", text("gen")),
        ("tc.slot", text("3")),
        ("tc.tenant.class", text("silver")),
        ("tc.warm", text("true")),
        ("tc.note", text(NOTE)),
        // OTLP has no unsigned integers.
        ("tc.serial", text(u64::MAX.to_string())),
        ("tc.offset", int(i64::MIN)),
        ("tc.ready", flag(true)),
        ("tc.balance", int(-7)),
        ("tc.ratio", double(0.1)),
        ("tc.limit", double(f64::INFINITY)),
        ("tc.size.bytes", int(i64::MAX)),
    ];
    watch.inside("Everything/AllTypes", "internal", given);
    watch.ending();
    i64::MAX as u64
}

/// Zeros, empty texts, `other`, values that are set twice, and none at all.
#[tc_span("Everything/OtherValues", attrs(
    keys::maybe = Some(Phase::Prefill), keys::slot = 4_u32, keys::tenant = "tin", keys::warm = false, keys::note = "",
    keys::serial = 0_u64, keys::offset = 0, keys::ready = false, keys::bytes = None::<u64>, keys::ratio = -0.0,
    keys::limit = f64::MIN_POSITIVE))]
fn other_values(watch: Watch) {
    let given = [
        ("tc.maybe", text("prefill")),
        ("tc.slot", text("other")),
        ("tc.tenant.class", text("other")),
        ("tc.warm", text("false")),
        ("tc.note", text("later")),
        ("tc.serial", int(0)),
        ("tc.offset", int(0)),
        ("tc.ready", flag(false)),
        ("tc.ratio", double(-0.0)),
        ("tc.limit", double(f64::MIN_POSITIVE)),
    ];
    watch.inside("Everything/OtherValues", "internal", given);
    current().set(keys::note, "first");
    current().set(keys::note, Static("later"));
    watch.ending();
}

#[tc_span("Everything/Fails")]
fn fails(watch: Watch, error: LoadError) -> Result<(), LoadError> {
    watch.inside("Everything/Fails", "internal", []);
    watch.fails(error.error_type(), &error.to_string());
    watch.ending();
    Err(error)
}

#[tc_span("Everything/FailsPlainly", kind = client)]
fn fails_plainly(watch: Watch) -> Result<(), std::io::Error> {
    watch.inside("Everything/FailsPlainly", "client", []);
    watch.fails("io::Other", "disk on fire");
    watch.ending();
    Err(std::io::Error::other("disk on fire"))
}

#[tc_span("Everything/Panics")]
fn panics(watch: Watch) {
    watch.inside("Everything/Panics", "internal", []);
    watch.with(|span| span.status = Status { code: "error", message: "panicked".to_owned() });
    watch.ending();
    panic!("on purpose");
}

#[tc_span("Everything/Waits")]
async fn waits(watch: Watch) {
    watch.inside("Everything/Waits", "internal", [("tc.outcome", text("cancelled"))]);
    watch.ending();
    std::future::pending::<()>().await;
}

/// A future that is dropped before it completes.
fn cancelled(watch: Watch) {
    let mut waiting = pin!(Some(waits(watch)));
    if let Some(future) = waiting.as_mut().as_pin_mut() {
        let _ = future.poll(&mut TaskContext::from_waker(Waker::noop()));
    }
    waiting.set(None);
}

#[tc_span(db(system = "sqlite", collection = "pages", operation = "select", namespace = "main", query = "select ?"))]
fn query(watch: Watch) {
    let given = [
        ("db.system.name", text("sqlite")),
        ("db.collection.name", text("pages")),
        ("db.operation.name", text("select")),
        ("db.namespace", text("main")),
        ("db.query.text", text("select ?")),
    ];
    watch.inside("pages.select", "client", given);
    watch.ending();
}

fn in_scope(watch: Watch) {
    let _scope = tc_scope!("Everything/Scope", kind = internal, attrs(keys::bytes = 1_u64));
    watch.inside("Everything/Scope", "internal", [("tc.size.bytes", int(1))]);
    current().error("said by hand");
    watch.fails(std::any::type_name::<str>(), "said by hand");
    watch.ending();
}

#[tc_span("Everything/Thread")]
fn in_thread(watch: Watch) {
    watch.inside("Everything/Thread", "internal", []);
    watch.ending();
}

fn by_hand(sender: &Context) {
    for (kind, name) in [
        (Kind::Internal, "internal"),
        (Kind::Server, "server"),
        (Kind::Client, "client"),
        (Kind::Producer, "producer"),
        (Kind::Consumer, "consumer"),
    ] {
        let watch = Watch::below(sender);
        let mut span = Span::builder("by hand, any name", kind).with_parent(sender).with_links(sender).start();
        watch.is(&span.context(), "by hand, any name", name);
        span.set(keys::note, "by hand");
        watch.event("by hand", attributes([]), || span.event("by hand"));
        watch.with(|made| {
            made.scope = Scope::at_run_time();
            // The context brought the attributes that the parent shares.
            made.attributes = attributes([("tc.note", text("by hand")), ("tc.tenant.class", text("gold"))]);
            made.links = vec![Link::to(sender)];
        });
        watch.ending();
        span.end_with(if kind == Kind::Client { Outcome::Cancelled } else { Outcome::Ok });
        watch.over();
        if kind == Kind::Client {
            watch.with(|made| {
                made.attributes.insert("tc.outcome".to_owned(), text("cancelled"));
            });
        }
    }
}

/// Start and end are given, to the nanosecond.
fn at_given_times() {
    let watch = Watch::new();
    let (start, end) = (now() - 3_000_000_001, now() - 1_000_000_007);
    let at = |nanos| UNIX_EPOCH + Duration::from_nanos(nanos);
    let span = Span::builder("Everything/Earlier", Kind::Internal).with_start(at(start)).start();
    watch.is(&span.context(), "Everything/Earlier", "internal");
    span.end_at(at(end));
    watch.with(|made| (made.scope, made.start, made.end) = (Scope::at_run_time(), [start; 2], [end; 2]));
}
