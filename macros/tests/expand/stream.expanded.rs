fn tokens(n: u8) -> impl Stream<Item = u8> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Tokens", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    let __tc_span = if __TC_CALLSITE.is_on() {
        ::tracecast::__private::begin(&__TC_CALLSITE, ::tracecast::__private::no_fields)
    } else {
        ::core::option::Option::None
    };
    ::tracecast::__private::InstrumentedStream::new(
        __tc_span,
        async_stream::stream! {
            for i in 0..n { yield i; }
        },
        ::tracecast::__private::unobserved,
    )
}
