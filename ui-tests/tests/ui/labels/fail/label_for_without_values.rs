tracecast::tc_label_for! {
    pub struct Order for std::cmp::Ordering {}
}

fn main() {}
