pub struct Tenant(String);

tracecast::tc_keys! {
    pub label tenant: Tenant = "tc.tenant.class";
}

fn main() {}
