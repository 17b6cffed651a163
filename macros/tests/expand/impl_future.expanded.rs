fn call(&self) -> impl Future<Output = Result<u8, StoreError>> + use<> {
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
    static __TC_CALLSITE: telemetry::__private::Callsite = telemetry::__private::Callsite::new(
        "Store/Call",
        telemetry::__private::Kind::Internal,
    );
    telemetry::__private::Instrumented::new(
        if __TC_CALLSITE.is_on() {
            telemetry::__private::begin(&__TC_CALLSITE, telemetry::__private::no_fields)
        } else {
            ::core::option::Option::None
        },
        telemetry::__private::call(|| -> _ { self.inner.call() }),
        |__tc_result: &Result<u8, StoreError>, __tc_end| {
            use telemetry::__private::probe::*;
            (&&&Probe(__tc_result)).report(__tc_end);
        },
    )
}
