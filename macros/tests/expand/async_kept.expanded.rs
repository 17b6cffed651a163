#[tokio::test]
async fn works() -> Result<(), StoreError> {
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
        "Store/Test",
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
                if false {
                    return ::tracecast::__private::unreachable_value::<
                        Result<(), StoreError>,
                    >();
                }
                run().await
            },
            |__tc_result, __tc_end| {
                use ::tracecast::__private::probe::*;
                (&&&Probe(__tc_result)).report(__tc_end);
            },
        )
        .await
}
