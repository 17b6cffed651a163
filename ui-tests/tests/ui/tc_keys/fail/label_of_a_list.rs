tracecast::tc_keys! {
    pub label sources: [SourceType] = "tc.source.types";
}

fn main() {}
