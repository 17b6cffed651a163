pub fn flush(&self) {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Flush", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    let __tc_body = ::tracecast::__private::body(move |__tc_start| {
        ::tracecast::__private::start(__tc_start, ::tracecast::__private::no_fields);
        {
            self.cache.clear();
        }
    });
    if __TC_CALLSITE.is_on() {
        ::tracecast::__private::traced(
            &__TC_CALLSITE,
            __tc_body,
            ::tracecast::__private::unobserved,
        )
    } else {
        __tc_body(::core::option::Option::None)
    }
}
