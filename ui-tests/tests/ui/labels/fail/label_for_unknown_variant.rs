tracecast::tc_label_for! {
    pub struct Order for std::cmp::Ordering { Les => "less", _ => "other" }
}

fn main() {}
