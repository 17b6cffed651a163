#[tc_span("Store/Load", parent = context)]
#[tc_metric(calls = "tc_loads_total")]
#[track_caller]
fn load(context: Context) {
    fetch();
}
