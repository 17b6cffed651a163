fn serve() -> impl ::core::future::Future<
    Output = <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
> {
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
        "Store/Serve",
        ::tracecast::__private::Kind::Internal,
    );
    ::tracecast::__private::Instrumented::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
        async move {
            #[allow(unreachable_code, clippy::diverging_sub_expression)]
            if false {
                return ::tracecast::__private::unreachable_value::<
                    <fn() -> ! as ::tracecast::__private::FnOutput>::Output,
                >();
            }
            loop {
                accept().await;
            }
        },
        ::tracecast::__private::unobserved,
    )
}
