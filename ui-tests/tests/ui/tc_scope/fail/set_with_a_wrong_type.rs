use tracecast::keys;

fn main() {
    tracecast::current().set(keys::size_bytes, "many");
}
