//! A receiver on loopback: accepts all requests and counts their spans and log records.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::cpu;

pub struct Receiver {
    address: SocketAddr,
    counted: Arc<Counted>,
}

/// Everything received so far.
#[derive(Default)]
pub struct Counted {
    requests: AtomicU64,
    bytes: AtomicU64,
    pub spans: AtomicU64,
    pub logs: AtomicU64,
    /// Set while requests are neither counted nor answered, and connections are closed.
    pub is_down: AtomicBool,
    /// Nanoseconds of processor time for reading requests and counting their spans.
    serving: AtomicU64,
    looking: AtomicU64,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let counted = Arc::<Counted>::default();
        let shared = counted.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = shared.clone();
                std::thread::spawn(move || serve(stream, &counted));
            }
        });
        Receiver { address, counted }
    }

    /// Returns the receiver's HTTP address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> u64 {
        self.counted.requests.load(Relaxed)
    }

    pub fn bytes(&self) -> u64 {
        self.counted.bytes.load(Relaxed)
    }

    /// Returns the number of spans in protobuf trace requests.
    pub fn spans(&self) -> u64 {
        self.counted.spans.load(Relaxed)
    }

    /// Returns the processor time for receiving, without counting items.
    pub fn serving(&self) -> Duration {
        Duration::from_nanos(self.counted.serving.load(Relaxed))
    }

    /// Returns the processor time of all its threads, including ended ones.
    pub fn processor_time(&self) -> Duration {
        self.serving() + Duration::from_nanos(self.counted.looking.load(Relaxed))
    }
}

/// Serves one connection until it is closed.
pub fn serve(stream: TcpStream, counted: &Counted) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let (clock, mut body) = (cpu::Thread::current(), Vec::new());
    let mut before = clock.now();
    loop {
        let holds = request(&mut reader, &mut body)?;
        if counted.is_down.load(Relaxed) {
            return None;
        }
        let received = clock.now();
        let (count, items) = match holds {
            Holds::Spans => (&counted.spans, items_in(&body)),
            Holds::Logs => (&counted.logs, items_in(&body)),
            Holds::Other => (&counted.spans, 0),
        };
        let looked = clock.now();
        // Counted before the response, so that after all responses everything is counted.
        counted.requests.fetch_add(1, Relaxed);
        counted.bytes.fetch_add(body.len() as u64, Relaxed);
        count.fetch_add(items, Relaxed);
        counted.looking.fetch_add((looked - received).as_nanos() as u64, Relaxed);
        if writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").is_err() {
            // The sender did not get the response, and will send the request again.
            count.fetch_sub(items, Relaxed);
            return None;
        }
        let now = clock.now();
        counted.serving.fetch_add((received - before + now - looked).as_nanos() as u64, Relaxed);
        before = now;
    }
}

/// The items in a request, if it is protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Spans,
    Logs,
    Other,
}

/// Reads a request.
fn request(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Option<Holds> {
    let (mut length, mut holds, mut protobuf, mut line) = (0, Holds::Other, false, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let Some((name, value)) = line.trim().split_once(':') else {
            if line.trim().is_empty() {
                break;
            }
            holds = match line.split(' ').nth(1) {
                Some("/v1/traces") => Holds::Spans,
                Some("/v1/logs") => Holds::Logs,
                _ => Holds::Other,
            };
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        } else if name.eq_ignore_ascii_case("content-type") {
            protobuf = value.trim() == "application/x-protobuf";
        }
    }
    body.resize(length, 0);
    reader.read_exact(body).ok()?;
    Some(if protobuf { holds } else { Holds::Other })
}

/// `resource_spans` is field 1 of a request, `scope_spans` field 2 of those, `spans` field 2 of these. Log records have the
/// same numbers.
fn items_in(request: &[u8]) -> u64 {
    messages(request, 1).flat_map(|resource| messages(resource, 2)).map(|scope| messages(scope, 2).count() as u64).sum()
}

/// Returns the messages in a field of another message; invalid data ends them.
fn messages(mut message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        loop {
            let tag = varint(&mut message)?;
            match tag & 7 {
                0 => _ = varint(&mut message)?,
                1 => _ = message.split_off(..8)?,
                5 => _ = message.split_off(..4)?,
                2 => {
                    let length = usize::try_from(varint(&mut message)?).ok()?;
                    let inside = message.split_off(..length)?;
                    if tag >> 3 == wanted {
                        return Some(inside);
                    }
                }
                _ => return None,
            }
        }
    })
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a field with a message.
    fn field(number: u8, inside: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2, u8::try_from(inside.len()).unwrap()];
        bytes.extend(inside);
        bytes
    }

    #[test]
    fn spans_are_counted_and_nothing_else() {
        let span = field(2, &[0x39, 1, 2, 3, 4, 5, 6, 7, 8]);
        let scope = [field(1, b"a scope"), span.clone(), span.clone()].concat();
        let other = [span, vec![0x30, 0x96, 0x01], field(3, b"a schema")].concat();
        let resource = [field(1, b"a resource"), field(2, &scope), field(2, &other)].concat();
        assert_eq!(items_in(&[field(1, &resource), field(1, &resource)].concat()), 6);
    }

    #[test]
    fn damaged_bytes_end_the_count() {
        let request = field(1, &field(2, &field(2, b"")));
        assert_eq!(items_in(&request), 1);
        assert_eq!(items_in(&request[..request.len() - 1]), 0);
        assert_eq!(items_in(&[0xff; 20]), 0);
    }

    #[test]
    fn only_protobuf_is_looked_into() {
        let of = |path: &str, kind: &str| {
            let text = format!("POST {path} HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: 2\r\n\r\nab");
            let mut body = Vec::new();
            let holds = request(&mut text.as_bytes(), &mut body);
            (holds, body)
        };
        assert_eq!(of("/v1/traces", "application/x-protobuf"), (Some(Holds::Spans), b"ab".to_vec()));
        assert_eq!(of("/v1/logs", "application/x-protobuf").0, Some(Holds::Logs));
        assert_eq!(of("/v1/traces", "application/json").0, Some(Holds::Other));
        assert_eq!(of("/v1/metrics", "application/x-protobuf").0, Some(Holds::Other));
        assert_eq!(request(&mut &b""[..], &mut Vec::new()), None);
    }
}
