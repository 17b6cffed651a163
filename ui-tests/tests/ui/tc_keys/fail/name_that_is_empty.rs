tracecast::tc_keys! {
    pub id artifact: str = "";
}

fn main() {}
