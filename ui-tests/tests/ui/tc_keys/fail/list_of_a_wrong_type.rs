tracecast::tc_keys! {
    pub id shape: [usize] = "tc.shape";
    pub id names: Vec<String> = "tc.names";
    pub measure hits: [bool] = "tc.hits";
}

fn main() {}
