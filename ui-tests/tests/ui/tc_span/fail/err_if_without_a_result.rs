use tracecast::tc_span;

#[derive(Debug)]
struct Size(u64);

#[tc_span("StoreDaemon/Size", err_if = |error| error.is_fatal())]
fn size() -> Size {
    Size(4)
}

#[tc_span("StoreDaemon/Load", no_err, err_if = |_| true)]
fn load() -> Result<u64, std::io::Error> {
    Ok(4)
}

#[tc_span("StoreDaemon/Read", err_if = |error| error.code())]
fn read() -> Result<u64, std::io::Error> {
    Ok(4)
}

fn main() {
    let _ = (size(), load(), read());
}
