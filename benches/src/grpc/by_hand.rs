//! The minimum of a server's layer, written by hand for comparison: it reads the caller's `traceparent`, keeps a span
//! current wherever the handler runs, counts, times and records each call, and spans and metrics can be switched on at
//! any time. It has no options, filters, limits, conventions or clients; methods are a fixed list, metrics have one
//! stripe, and records are overwritten. gRPC's bodies are boxed as in tonic.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use http::{HeaderMap, HeaderValue, Request, header};
use tonic::transport::server::TcpConnectInfo;

/// The switches.
static MODE: AtomicU8 = AtomicU8::new(0);
const SPANS: u8 = 1;
const METRICS: u8 = 2;

pub fn both() -> Box<dyn Any> {
    MODE.store(SPANS | METRICS, Relaxed);
    Box::new(())
}

pub fn spans() -> Box<dyn Any> {
    MODE.store(SPANS, Relaxed);
    Box::new(())
}

#[derive(Clone, Copy)]
struct Ids {
    #[cfg_attr(not(test), expect(dead_code, reason = "an export would read it"))]
    trace: [u64; 2],
    span: u64,
    is_sampled: bool,
}

thread_local! {
    static CURRENT: Cell<Option<Ids>> = const { Cell::new(None) };
    static RANDOM: Cell<u64> = const { Cell::new(0x9e37_79b9_7f4a_7c15) };
    static ENDED: RefCell<Vec<Record>> = const { RefCell::new(Vec::new()) };
}

fn random() -> u64 {
    let mut x = RANDOM.get();
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    RANDOM.set(x);
    x
}

/// The served methods and routes.
const METHODS: [&str; 2] = ["/bench.v1.Echo/Unary", "/items/{id}"];

/// Bounds in seconds, as nanoseconds.
const BOUNDS: [u64; 14] = [
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    75_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    7_500_000_000,
    10_000_000_000,
];

struct Metrics {
    active: AtomicU64,
    /// Messages and bytes of requests and responses.
    passed: [AtomicU64; 4],
    duration: [AtomicU64; BOUNDS.len() + 1],
    duration_sum: AtomicU64,
    first_byte: [AtomicU64; BOUNDS.len() + 1],
    first_byte_sum: AtomicU64,
}

/// Metrics by method, and by whether the call failed.
static MEASURED: [[Metrics; 2]; METHODS.len()] = [const { [const { Metrics::NONE }; 2] }; METHODS.len()];

impl Metrics {
    #[expect(clippy::declare_interior_mutable_const, reason = "each static has its own")]
    const NONE: Self = {
        const ZERO: AtomicU64 = AtomicU64::new(0);
        Metrics {
            active: ZERO,
            passed: [ZERO; 4],
            duration: [ZERO; BOUNDS.len() + 1],
            duration_sum: ZERO,
            first_byte: [ZERO; BOUNDS.len() + 1],
            first_byte_sum: ZERO,
        }
    };
}

/// The counts of a body so far.
#[derive(Default)]
pub struct Passed {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Passed {
    /// Counts a frame, which holds whole messages of gRPC.
    pub fn count(&self, mut frame: &[u8]) {
        let (mut messages, bytes) = (0, frame.len());
        while let Some((head, rest)) = frame.split_first_chunk::<5>() {
            messages += 1;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            frame = rest.get(length..).unwrap_or_default();
        }
        self.messages.store(self.messages.load(Relaxed) + messages, Relaxed);
        self.bytes.store(self.bytes.load(Relaxed) + bytes as u64, Relaxed);
    }

    fn numbers(&self) -> [u64; 2] {
        [self.messages.load(Relaxed), self.bytes.load(Relaxed)]
    }
}

/// A served call: its parent, and its observations.
#[derive(Clone)]
pub struct Call {
    ids: Ids,
    pub observed: Option<Arc<Observed>>,
}

/// The data of a call for spans and metrics.
pub struct Observed {
    ids: Ids,
    parent: u64,
    is_recorded: bool,
    is_measured: bool,
    method: usize,
    began: Instant,
    /// Nanoseconds until the first byte of the response.
    first_byte: AtomicU64,
    has_failed: AtomicU8,
    pub request: Passed,
    pub response: Passed,
    texts: Vec<Box<[u8]>>,
    client: Option<SocketAddr>,
}

/// The record of an ended call.
#[expect(dead_code, reason = "an export would read it")]
struct Record {
    ids: Ids,
    parent: u64,
    method: usize,
    began: Instant,
    nanoseconds: u64,
    has_failed: bool,
    passed: [u64; 4],
    texts: Vec<Box<[u8]>>,
    client: Option<SocketAddr>,
}

impl Call {
    /// Begins a call of a method; `None` if all is off and there is no caller context.
    #[inline]
    pub fn begin<B>(request: &Request<B>, method: &str, texts: &[header::HeaderName]) -> Option<Self> {
        let mode = MODE.load(Relaxed);
        let caller = named(request.headers(), "traceparent");
        if mode == 0 && caller.is_none() {
            return None;
        }
        Self::begin_with(request, mode, caller, method, texts)
    }

    #[inline(never)]
    fn begin_with<B>(
        request: &Request<B>,
        mode: u8,
        caller: Option<&HeaderValue>,
        method: &str,
        texts: &[header::HeaderName],
    ) -> Option<Self> {
        let caller = caller.and_then(|caller| parse(caller.as_bytes()));
        let (ids, parent) = match caller {
            Some(caller) if mode & SPANS == 0 || !caller.is_sampled => (caller, 0),
            Some(caller) => (Ids { span: random() | 1, ..caller }, caller.span),
            None if mode == 0 => return None,
            None => (Ids { trace: [random(), random() | 1], span: random() | 1, is_sampled: true }, 0),
        };
        let (is_recorded, is_measured) = (mode & SPANS != 0 && ids.is_sampled, mode & METRICS != 0);
        if !is_recorded && !is_measured {
            return Some(Call { ids, observed: None });
        }
        let method = METHODS.iter().position(|known| *known == method).unwrap_or(0);
        if is_measured {
            MEASURED[method][0].active.fetch_add(1, Relaxed);
        }
        let (texts, client) = if is_recorded { described(request, texts) } else { (Vec::new(), None) };
        let observed = Observed {
            ids,
            parent,
            is_recorded,
            is_measured,
            method,
            began: Instant::now(),
            first_byte: AtomicU64::new(0),
            has_failed: AtomicU8::new(0),
            request: Passed::default(),
            response: Passed::default(),
            texts,
            client,
        };
        Some(Call { ids, observed: Some(Arc::new(observed)) })
    }

    /// Runs `f` with this call current.
    #[inline]
    pub fn run<R>(&self, inside: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(Some(self.ids));
        let result = inside();
        CURRENT.set(before);
        result
    }
}

/// Records the path, these headers and the caller.
fn described<B>(request: &Request<B>, texts: &[header::HeaderName]) -> (Vec<Box<[u8]>>, Option<SocketAddr>) {
    let extensions = request.extensions();
    let client = extensions.get::<TcpConnectInfo>().and_then(|info| info.remote_addr);
    let texts = texts.iter().filter_map(|name| named(request.headers(), name.as_str()));
    let path = request.uri().path().as_bytes().into();
    let texts = std::iter::once(path).chain(texts.map(|text| text.as_bytes().into())).collect();
    (texts, client.or_else(|| extensions.get::<SocketAddr>().copied()))
}

impl Observed {
    pub fn sent_first_byte(&self) {
        if self.is_measured && self.first_byte.load(Relaxed) == 0 {
            self.first_byte.store(self.began.elapsed().as_nanos() as u64, Relaxed);
        }
    }

    pub fn has_trailers(&self, trailers: &HeaderMap) {
        let is_ok = named(trailers, "grpc-status").is_some_and(|status| status.as_bytes() == b"0");
        self.has_failed.store((!is_ok).into(), Relaxed);
    }

    #[inline(never)]
    pub fn end(&self) {
        let nanoseconds = self.began.elapsed().as_nanos() as u64;
        let has_failed = self.has_failed.load(Relaxed) != 0;
        let ([a, b], [c, d]) = (self.request.numbers(), self.response.numbers());
        let passed = [a, b, c, d];
        if self.is_measured {
            let [succeeded, failed] = &MEASURED[self.method];
            let metrics = if has_failed { failed } else { succeeded };
            succeeded.active.fetch_sub(1, Relaxed);
            for (counter, number) in succeeded.passed.iter().zip(passed) {
                counter.fetch_add(number, Relaxed);
            }
            let first_byte = self.first_byte.load(Relaxed);
            metrics.duration[BOUNDS.partition_point(|bound| *bound < nanoseconds)].fetch_add(1, Relaxed);
            metrics.duration_sum.fetch_add(nanoseconds, Relaxed);
            metrics.first_byte[BOUNDS.partition_point(|bound| *bound < first_byte)].fetch_add(1, Relaxed);
            metrics.first_byte_sum.fetch_add(first_byte, Relaxed);
        }
        if self.is_recorded {
            self.record(nanoseconds, has_failed, passed);
        }
    }

    fn record(&self, nanoseconds: u64, has_failed: bool, passed: [u64; 4]) {
        let (ids, parent, method, began) = (self.ids, self.parent, self.method, self.began);
        let (texts, client) = (self.texts.clone(), self.client);
        ENDED.with_borrow_mut(|ended| {
            if ended.len() == 64 {
                ended.clear();
            }
            ended.push(Record { ids, parent, method, began, nanoseconds, has_failed, passed, texts, client });
        });
    }
}

/// With few headers, comparing each is faster than hashing.
#[inline(always)]
fn named<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h HeaderValue> {
    headers.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
}

/// Parses `00-<32 digits>-<16 digits>-<2 digits>`, and additions of later versions.
fn parse(text: &[u8]) -> Option<Ids> {
    let is_right = text.len() == 55 || text.get(55) == Some(&b'-') && !text.starts_with(b"00");
    if !is_right || [text[2], text[35], text[52]] != [b'-'; 3] || text.starts_with(b"ff") {
        return None;
    }
    number(&text[..2])?;
    let trace = [number(&text[3..19])?, number(&text[19..35])?];
    let (span, flags) = (number(&text[36..52])?, number(&text[53..55])?);
    (trace != [0; 2] && span != 0).then_some(Ids { trace, span, is_sampled: flags & 1 != 0 })
}

/// Parses at most sixteen digits. All are looked up first, and errors are checked once at the end.
#[inline(always)]
fn number(text: &[u8]) -> Option<u64> {
    const WRONG: u8 = 0x80;
    const DIGITS: [u8; 256] = {
        let mut digits = [WRONG; 256];
        let mut digit = 0;
        while digit < 16 {
            digits[b"0123456789abcdef"[digit] as usize] = digit as u8;
            digit += 1;
        }
        digits
    };
    let (number, all) = text.iter().fold((0, 0), |(number, all), byte| {
        let digit = DIGITS[usize::from(*byte)];
        (number << 4 | u64::from(digit), all | digit)
    });
    (all & WRONG == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_and_a_wrong_one_is_not() {
        let ids = parse(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").expect("it is right");
        assert_eq!(ids.trace, [0x4bf9_2f35_77b3_4da6, 0xa3ce_929d_0e0e_4736]);
        assert_eq!(ids.span, 0x00f0_67aa_0ba9_02b7);
        assert!(ids.is_sampled);
        assert!(parse(b"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01").is_none());
        assert!(parse(b"00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").is_none());
        assert!(parse(b"00").is_none());
    }

    #[test]
    fn messages_are_counted() {
        let passed = Passed::default();
        passed.count(&[0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0]);
        assert_eq!(passed.numbers(), [2, 11]);
    }
}
