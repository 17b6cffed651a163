tracecast::label_for! {
    pub struct Order for std::cmp::Ordering {}
}

fn main() {}
