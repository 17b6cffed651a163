use tracecast::{tc_keys, tc_metric};

tc_keys! {
    pub label a: bool = "tc.a";
    pub label b: bool = "tc.b";
    pub label c: bool = "tc.c";
    pub label d: bool = "tc.d";
    pub label e: bool = "tc.e";
    pub label f: bool = "tc.f";
    pub label g: bool = "tc.g";
    pub label h: bool = "tc.h";
    pub label i: bool = "tc.i";
}

#[tc_metric(
    calls = "tc_loads_total",
    labels(a = true, b = true, c = true, d = true, e = true, f = true, g = true, h = true, i = true)
)]
fn load() -> usize {
    4
}

fn main() {
    load();
}
