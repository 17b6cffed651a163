tracecast::tc_label_for! {
    pub struct Order for std::cmp::Ordering { Less => "less", Less => "smaller", _ => "other" }
}

fn main() {}
