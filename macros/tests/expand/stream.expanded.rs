fn tokens(n: u8) -> impl Stream<Item = u8> {
    #[used]
    #[cfg_attr(
        all(
            not(miri),
            any(
                target_os = "linux",
                target_os = "android",
                target_os = "freebsd",
                target_os = "netbsd",
                target_os = "openbsd",
                target_os = "illumos"
            )
        ),
        unsafe(link_section = "tc0_1_spans")
    )]
    #[cfg_attr(
        all(not(miri), target_vendor = "apple"),
        unsafe(link_section = "__DATA,tc0_1_spans")
    )]
    #[cfg_attr(all(not(miri), windows), unsafe(link_section = ".tc01s$b"))]
    static __TC_CALLSITE: ::tracecast::__private::Callsite = ::tracecast::__private::Callsite::new(
        "Store/Tokens",
        ::tracecast::__private::Kind::Internal,
    );
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
