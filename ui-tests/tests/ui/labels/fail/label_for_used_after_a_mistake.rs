use tracecast::{tc_label_for, tc_keys, tc_span};

tc_label_for! {
    pub struct Order for std::cmp::Ordering { Less => "less", Less => "smaller", _ => "other" }
}

tc_keys! {
    pub label order: Order = "tc.order";
}

#[tc_span("StoreDaemon/Sort", attrs(order = std::cmp::Ordering::Less))]
fn sort() {}

fn main() {
    sort();
}
