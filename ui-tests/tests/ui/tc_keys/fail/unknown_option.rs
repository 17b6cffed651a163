tracecast::tc_keys! {
    pub id session: str = "tc.session.id" { bagage };
}

fn main() {}
