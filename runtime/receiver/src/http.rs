//! A receiver of OTLP over HTTP: keeps what it is sent, and answers as it is told.

use std::fmt::Debug;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// What came in one request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its path, as `/v1/traces`.
    pub path: String,
    /// Its first line and its headers, in small letters.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(header, _)| *header == name).map_or("", |(_, value)| value.trim())
    }
}

/// The receiver. It listens until the test ends.
pub struct Receiver {
    /// Where it listens.
    pub address: SocketAddr,
    desk: Arc<Desk>,
}

struct Desk {
    requests: Mutex<Vec<Request>>,
    is_sick: AtomicBool,
    /// What it says to each request.
    usual: String,
    /// What it says instead, once each.
    answers: Mutex<Vec<String>>,
}

impl Receiver {
    /// Starts it on a free port.
    pub fn start() -> Self {
        Self::answering("200 OK\r\ncontent-type: application/x-protobuf")
    }

    /// One that gives every request this answer: a status, and headers if there are any.
    pub fn answering(status: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let usual = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let desk =
            Desk { requests: Mutex::default(), is_sick: AtomicBool::new(false), usual, answers: Mutex::default() };
        let desk = Arc::new(desk);
        let shared = desk.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let desk = shared.clone();
                std::thread::spawn(move || desk.serve(stream));
            }
        });
        Receiver { address, desk }
    }

    /// From now on it answers 503 and keeps nothing, or is well again.
    pub fn set_sick(&self, sick: bool) {
        self.desk.is_sick.store(sick, Relaxed);
    }

    /// The next request is kept, and answered with this head and body.
    pub fn answer(&self, head: &str, body: &[u8]) {
        let body = String::from_utf8(body.to_vec()).unwrap();
        let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        self.desk.answers.lock().unwrap().push(answer);
    }

    /// Its address as a URL, or as what a configuration makes of one.
    pub fn endpoint<E: FromStr<Err: Debug>>(&self) -> E {
        format!("http://{}", self.address).parse().unwrap()
    }

    /// What came until now, without what was answered while it was sick.
    pub fn all(&self) -> Vec<Request> {
        self.desk.requests.lock().unwrap().clone()
    }

    /// The same at one path.
    pub fn at(&self, path: &str) -> Vec<Request> {
        self.all().into_iter().filter(|request| request.path == path).collect()
    }
}

impl Desk {
    /// Answers request after request on one connection.
    fn serve(&self, stream: TcpStream) {
        let mut writer = stream.try_clone().unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader) {
            if writer.write_all(self.answer(request).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: Request) -> String {
        if self.is_sick.load(Relaxed) {
            return "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".to_owned();
        }
        self.requests.lock().unwrap().push(request);
        self.answers.lock().unwrap().pop().unwrap_or_else(|| self.usual.clone())
    }
}

/// Reads one request, if a whole one comes.
pub fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        reader.read_line(&mut text).ok().filter(|read| *read > 0)?;
    }
    let path = text.split(' ').nth(1)?.to_owned();
    let mut request = Request { path, head: text.to_ascii_lowercase(), body: Vec::new() };
    request.body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
