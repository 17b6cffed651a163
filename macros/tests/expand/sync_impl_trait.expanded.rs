fn names(&self) -> impl Iterator<Item = &str> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Names", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    let __tc_guard = ::tracecast::__private::Scope::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::enter(
                &__TC_CALLSITE,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
    );
    self.names.iter().map(String::as_str)
}
