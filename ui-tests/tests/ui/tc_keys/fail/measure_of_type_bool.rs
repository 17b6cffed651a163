tracecast::tc_keys! {
    pub measure hit: bool = "tc.cache.hit";
}

fn main() {}
