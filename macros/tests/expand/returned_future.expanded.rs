fn call(&mut self, request: Request) -> Self::Future {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Call", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::rewrap(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
        ::tracecast::__private::call(|| -> Self::Future { self.inner.call(request) }),
        |__tc_result, __tc_end| {
            use ::tracecast::__private::probe::*;
            (&&&Probe(__tc_result)).report(__tc_end);
        },
    )
}
