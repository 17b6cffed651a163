//! A backend that is alternately up and down: while it is down, nothing listens, and open connections are closed.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::end_to_end::receiver::{Counted, serve};

/// The length of each up and down phase.
pub const PHASE: Duration = Duration::from_secs(5);
/// The polling interval for connections.
const STEP: Duration = Duration::from_millis(5);

pub struct Flapping {
    address: SocketAddr,
    counted: Arc<Counted>,
    stays_up: Arc<AtomicBool>,
    _thread: JoinHandle<()>,
}

impl Flapping {
    pub fn start() -> Self {
        // Below the system's ephemeral ports, so that no other program gets this port while the backend is down.
        let is_free = |address: &SocketAddr| TcpListener::bind(address).is_ok();
        let address = (20_000..32_000).map(|port| ([127, 0, 0, 1], port).into()).find(is_free).expect("a free port");
        let listener = listen(address);
        let (counted, stays_up) = (Arc::<Counted>::default(), Arc::<AtomicBool>::default());
        let (shared, stop) = (counted.clone(), stays_up.clone());
        let thread = std::thread::spawn(move || flap(listener, address, &shared, &stop));
        Flapping { address, counted, stays_up, _thread: thread }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn is_up(&self) -> bool {
        !self.counted.is_down.load(Relaxed)
    }

    /// Stays up from the next phase on, until the program ends.
    pub fn stay_up(&self) {
        self.stays_up.store(true, Relaxed);
        while !self.is_up() {
            std::thread::sleep(STEP);
        }
    }

    /// Spans in answered requests.
    pub fn spans(&self) -> u64 {
        self.counted.spans.load(Relaxed)
    }

    /// Log records in answered requests.
    pub fn logs(&self) -> u64 {
        self.counted.logs.load(Relaxed)
    }
}

fn flap(mut listener: TcpListener, address: SocketAddr, counted: &Arc<Counted>, stays_up: &AtomicBool) {
    loop {
        let connections = be_up(&listener, counted, stays_up);
        counted.is_down.store(true, Relaxed);
        drop(listener);
        // Only reading is closed: a written response still arrives, so that both sides count the same.
        connections.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Read)));
        drop(connections);
        std::thread::sleep(PHASE);
        listener = listen(address);
        counted.is_down.store(false, Relaxed);
    }
}

/// Serves connections until it is time to go down, and returns them.
fn be_up(listener: &TcpListener, counted: &Arc<Counted>, stays_up: &AtomicBool) -> Vec<TcpStream> {
    let (began, mut connections) = (Instant::now(), Vec::new());
    while began.elapsed() < PHASE || stays_up.load(Relaxed) {
        let Ok((stream, _)) = listener.accept() else {
            std::thread::sleep(STEP);
            continue;
        };
        stream.set_nonblocking(false).expect("a socket that blocks");
        connections.extend(stream.try_clone());
        let counted = counted.clone();
        std::thread::spawn(move || serve(stream, &counted));
    }
    connections
}

fn listen(address: SocketAddr) -> TcpListener {
    let listener = TcpListener::bind(address).expect("the port is free");
    listener.set_nonblocking(true).expect("a socket that does not block");
    listener
}
