use tracecast::{tc_keys, tc_metrics};

tc_keys! {
    label a: bool = "tc.a";
    label b: bool = "tc.b";
    label c: bool = "tc.c";
    label d: bool = "tc.d";
    label e: bool = "tc.e";
    label f: bool = "tc.f";
    label g: bool = "tc.g";
    label h: bool = "tc.h";
    label i: bool = "tc.i";
}

tc_metrics! {
    static LOADS: Counter<(a, b, c, d, e, f, g, h, i)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (true, true, true, true, true, true, true, true));
}
