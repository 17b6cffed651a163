tracecast::tc_label_for! {
    pub enum Order for std::cmp::Ordering { Less => "less", _ => "other" }
}

fn main() {}
