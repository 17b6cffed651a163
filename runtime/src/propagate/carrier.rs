//! Carries a context outside of request headers: in a database row, a message or the environment of a child process.

use crate::propagate::propagation::{self, Headers, HeadersMut, STANDARD};
use crate::trace::context::Context;

/// A context as three texts, in the formats of W3C Trace Context and Baggage. `OTEL_PROPAGATORS` does not affect it.
///
/// Store or send it together with the work. The code that does the work continues the trace, or begins a new one that
/// links to it. A text that is invalid is ignored.
///
/// With the feature `otlp`, `serde` can serialise it as part of a message:
///
/// ```
/// use tracecast::prelude::*;
/// use tracecast::Carrier;
///
/// struct Job {
///     file: String,
///     carrier: Carrier,
/// }
///
/// #[tc_span("Queue/Submit")]
/// fn submit(queue: &mut Vec<Job>, file: &str) {
///     queue.push(Job { file: file.to_owned(), carrier: Carrier::inject() });
/// }
///
/// // A child of the submitting span: for work whose result is awaited.
/// #[tc_span("Worker/Run", parent = job.carrier.extract())]
/// fn run(job: &Job) -> usize {
///     job.file.len()
/// }
///
/// // A new trace with links: for deferred work, or for several jobs at once.
/// #[tc_span("Worker/Sweep", links(jobs.iter().map(|job| job.carrier.extract()).collect::<Vec<_>>()))]
/// fn sweep(jobs: &[Job]) {}
///
/// tracecast::testing::capture(|| {
///     let mut queue = Vec::new();
///     submit(&mut queue, "a");
///     run(&queue[0]);
///     sweep(&queue);
/// })
/// .assert_tree("
///     Queue/Submit
///       Worker/Run
///     Worker/Sweep
///       ~ Queue/Submit
/// ");
/// ```
///
/// A database row needs three nullable columns, `traceparent` (55 bytes), `tracestate` (up to 512) and `baggage` (up to 8,192), or
/// only the first of them.
///
/// ```
/// # use tracecast::Carrier;
/// # let column = |_name: &str| -> Option<String> { None };
/// let mut carrier = Carrier::new(column("traceparent"));
/// carrier.tracestate = column("tracestate");
/// let caller = carrier.extract();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "otlp", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "otlp", serde(default))]
#[non_exhaustive]
pub struct Carrier {
    /// The ids of the span and its sampling decision. If they are missing or invalid, the extracted context has no
    /// parent.
    pub traceparent: Option<String>,
    /// Trace data of other tracing systems.
    pub tracestate: Option<String>,
    /// The baggage of the request. Set it to `None` if it must not be stored.
    pub baggage: Option<String>,
}

/// The names of the environment variables.
const VARIABLES: [&str; 3] = ["TRACEPARENT", "TRACESTATE", "BAGGAGE"];

impl Carrier {
    /// Creates a carrier from a stored `traceparent`, or an empty one from `None`. Set the other two fields directly.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let carrier = Carrier::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    /// assert!(carrier.extract().is_sampled());
    /// assert_eq!(Carrier::new(None), Carrier::default());
    /// ```
    pub fn new(traceparent: impl Into<Option<String>>) -> Self {
        Carrier { traceparent: traceparent.into(), ..Carrier::default() }
    }

    /// Creates a carrier of the current context.
    ///
    /// ```
    /// use tracecast::Carrier;
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Queue/Submit")]
    /// fn submit() -> Carrier {
    ///     Carrier::inject()
    /// }
    ///
    /// let captured = tracecast::testing::capture(submit);
    /// assert_eq!(captured.value.extract().span_id(), captured.span("Queue/Submit").span_id);
    /// ```
    pub fn inject() -> Self {
        Carrier::of(&Context::current())
    }

    /// Creates a carrier of `context`.
    ///
    /// ```
    /// use tracecast::{Carrier, Context, SpanId, TraceId};
    ///
    /// let carrier = Carrier::of(&Context::remote(TraceId(0xa), SpanId(0xb), false));
    /// assert_eq!(carrier.traceparent.unwrap(), "00-0000000000000000000000000000000a-000000000000000b-00");
    /// ```
    pub fn of(context: &Context) -> Self {
        let mut carrier = Carrier::default();
        propagation::inject_as(context, &mut carrier, STANDARD);
        carrier
    }

    /// Returns the carried context. If `traceparent` is missing or invalid, `is_valid` of the result is false, and a
    /// span with that parent is a root.
    ///
    /// ```
    /// use tracecast::Carrier;
    ///
    /// let carrier = Carrier::new("what is this".to_owned());
    /// assert!(!carrier.extract().is_valid());
    /// ```
    pub fn extract(&self) -> Context {
        propagation::extract_as(self, STANDARD)
    }

    /// Creates a carrier from the environment of this process: `TRACEPARENT`, `TRACESTATE` and `BAGGAGE`. A variable
    /// that is empty or not valid UTF-8 counts as missing.
    ///
    /// ```
    /// use tracecast::Carrier;
    /// use tracecast::prelude::*;
    ///
    /// #[tc_span("Tool/Run", parent = Carrier::from_env().extract())]
    /// fn run() {}
    ///
    /// tracecast::testing::capture(run).assert_tree("Tool/Run");
    /// ```
    pub fn from_env() -> Self {
        // A variable that is not valid UTF-8 counts as missing.
        let [traceparent, tracestate, baggage] =
            VARIABLES.map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        Carrier { traceparent, tracestate, baggage }
    }

    /// Returns variables for a child process: `Command::new("tool").envs(Carrier::inject().to_env())`.
    ///
    /// Always returns all three variables, empty if there is no value: otherwise the child would inherit those of this
    /// process.
    ///
    /// ```
    /// use tracecast::{Carrier, Context, SpanId, TraceId};
    ///
    /// let carrier = Carrier::of(&Context::remote(TraceId(0xa), SpanId(0xb), true));
    /// let traceparent = "00-0000000000000000000000000000000a-000000000000000b-01";
    /// assert_eq!(carrier.to_env(), [("TRACEPARENT", traceparent), ("TRACESTATE", ""), ("BAGGAGE", "")]);
    /// ```
    pub fn to_env(&self) -> [(&'static str, &str); 3] {
        let texts = [&self.traceparent, &self.tracestate, &self.baggage];
        std::array::from_fn(|at| (VARIABLES[at], texts[at].as_deref().unwrap_or_default()))
    }

    fn part(&self, name: &str) -> Option<&Option<String>> {
        match name {
            "traceparent" => Some(&self.traceparent),
            "tracestate" => Some(&self.tracestate),
            "baggage" => Some(&self.baggage),
            _ => None,
        }
    }

    fn part_mut(&mut self, name: &str) -> Option<&mut Option<String>> {
        match name {
            "traceparent" => Some(&mut self.traceparent),
            "tracestate" => Some(&mut self.tracestate),
            "baggage" => Some(&mut self.baggage),
            _ => None,
        }
    }
}

impl Headers for Carrier {
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.part(name).and_then(Option::as_deref).map(str::as_bytes).into_iter()
    }
}

impl HeadersMut for Carrier {
    fn set(&mut self, name: &'static str, value: &str) {
        self.part_mut(name).into_iter().for_each(|part| *part = Some(value.to_owned()));
    }

    fn remove(&mut self, name: &'static str) {
        self.part_mut(name).into_iter().for_each(|part| *part = None);
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod fuzz {
    use super::*;
    use crate::base::fuzz::{Random, mutated, run, within};
    use crate::propagate::propagation::{extract_as, inject_as};

    /// Headers, one per line.
    const SEEDS: [&[u8]; 6] = [
        b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\ntracestate: a=1\nbaggage: k=v%20w",
        b"TraceParent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03\ntracestate: a=1\ntracestate: b=2\n",
        b"b3: 80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1\nbaggage: a=1;p, b=2\nbaggage: c=3",
        b"x-b3-traceid: 64fe8b2a57d3eff7\nX-B3-SpanId: e457b5a2e4d86bd1\nx-b3-sampled: 0\nx-b3-flags: 1",
        b"traceparent: 00-broken\nb3: 0\nbaggage: ,;\ntracestate: a=1,a=2",
        b"baggage: userId=J%C3%BCrgen+M\nother: 1",
    ];
    const WORDS: [&[u8]; 12] = [
        b"\n",
        b"traceparent: ",
        b"tracestate: ",
        b"baggage: ",
        b"b3: ",
        b",",
        b"=",
        b"-",
        b" ",
        b"a=1",
        b"%",
        b"\xff",
    ];
    /// The most memory that reading may allocate. Tracestate and baggage are each allocated twice: as a buffer and as
    /// the text that is kept.
    const BYTES: usize = 64 << 10;

    fn input(random: &mut Random) -> Vec<u8> {
        mutated(random, &SEEDS, &WORDS)
    }

    fn headers(input: &[u8]) -> Vec<(String, String)> {
        let text = String::from_utf8_lossy(input);
        let pairs = text.lines().filter_map(|line| line.split_once(": "));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Returns everything that a context carries to another process.
    fn carried(context: &Context) -> (bool, (u128, u64), [bool; 2], &str, &str) {
        let ids = if context.is_valid() { context.ids() } else { (0, 0) };
        let flags = [context.is_sampled(), context.is_random()];
        (context.is_valid(), ids, flags, context.trace_state(), context.baggage_text())
    }

    #[test]
    fn headers_in_each_format() {
        run("headers in each format", &SEEDS, input, |input| {
            let headers = headers(input);
            let mut is_valid = false;
            for formats in 1..16 {
                let context = within(BYTES, || extract_as(&headers, formats));
                let mut written = Vec::new();
                inject_as(&context, &mut written, formats);
                assert!(written.iter().all(|(_, value)| value.len() <= 8192 && value.is_ascii()), "{written:?}");
                let again = extract_as(&written, formats);
                assert_eq!(carried(&again), carried(&context), "formats {formats}: {written:?}");
                // Injected headers replace those that were copied from the caller's request.
                let mut copied = headers.clone();
                inject_as(&context, &mut copied, formats);
                assert_eq!(carried(&extract_as(&copied, formats)), carried(&context), "formats {formats}: {copied:?}");
                is_valid |= context.is_valid();
            }
            is_valid
        });
    }

    #[test]
    fn carriers() {
        run("carriers", &SEEDS, input, |input| {
            let mut given = Carrier::default();
            for (name, value) in headers(input) {
                given.part_mut(&name).into_iter().for_each(|part| *part = Some(value.clone()));
            }
            let context = within(BYTES, || given.extract());
            let written = Carrier::of(&context);
            let lengths = [&written.traceparent, &written.tracestate, &written.baggage]
                .map(|part| part.as_ref().map_or(0, String::len));
            assert!(matches!(lengths, [0 | 55, 0..=512, 0..=8192]), "{lengths:?}");
            assert_eq!(carried(&written.extract()), carried(&context));
            assert_eq!(Carrier::of(&written.extract()), written);
            #[cfg(has_otlp)]
            for carrier in [&given, &written] {
                let text = serde_json::to_string(carrier).unwrap();
                assert_eq!(&serde_json::from_str::<Carrier>(&text).unwrap(), carrier);
            }
            context.is_valid()
        });
    }
}
