tracecast::tc_label_for! {
    pub struct Order for std::cmp::Ordering { _ => "other", Less => "less" }
}

fn main() {}
