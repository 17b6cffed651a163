use tracecast::tc_metrics;

tc_metrics! {
    static LOADS: Counter =
        "tc_loads_of_replicas_of_artifacts_of_tenants_of_regions_of_clouds_that_were_asked_for_by_somebody_who_does_not_like_short_names_total";
}

fn main() {
    LOADS.add(1, ());
}
