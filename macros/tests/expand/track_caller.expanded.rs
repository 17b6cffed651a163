#[track_caller]
#[allow(unused_variables)]
fn check(context: &Context) -> Result<(), StoreError> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Check", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    let __tc_guard = ::tracecast::__private::Scope::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::enter_under(
                &__TC_CALLSITE,
                || context,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
    );
    todo!()
}
