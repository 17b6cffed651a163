tracecast::tc_keys! {
    pub label source: SourceTyp = "tc.source.type";
}

fn main() {}
