#[tc_span("Store/Check", no_err, parent = context)]
#[track_caller]
fn check(context: &Context) -> Result<(), StoreError> {
    #![allow(unused_variables)]
    todo!()
}
