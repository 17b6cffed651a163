pub fn flush(&self) {
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
        "Store/Flush",
        ::tracecast::__private::Kind::Internal,
    );
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
