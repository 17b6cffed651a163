fn main() {
    tracecast::current().set("tc.size.bytes", 4_u64);
}
