use tracecast::{tc_keys, tc_metrics};

tc_keys! {
    label a: Index<60000> = "tc.a";
    label b: Index<60000> = "tc.b";
    label c: Index<60000> = "tc.c";
    label d: Index<60000> = "tc.d";
    label e: Index<60000> = "tc.e";
}

tc_metrics! {
    static LOADS: Counter<(a, b, c, d, e)> = "tc_loads_total";
}

fn main() {
    LOADS.add(1, (1_u32, 1_u32, 1_u32, 1_u32, 1_u32));
}
