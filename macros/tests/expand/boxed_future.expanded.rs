fn load<'a>(
    &'a self,
    id: &'a str,
) -> Pin<Box<dyn Future<Output = Result<Replica, StoreError>> + Send + 'a>> {
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
        "Store/Load",
        ::tracecast::__private::Kind::Internal,
    );
    let __tc_span = if __TC_CALLSITE.is_on() {
        ::tracecast::__private::begin(&__TC_CALLSITE, ::tracecast::__private::no_fields)
    } else {
        ::core::option::Option::None
    };
    {
        self.count();
        Box::pin(
            ::tracecast::__private::Instrumented::new(
                __tc_span,
                async move { self.fetch(id).await },
                |__tc_result: &Result<Replica, StoreError>, __tc_end| {
                    use ::tracecast::__private::probe::*;
                    (&&&Probe(__tc_result)).report(__tc_end);
                },
            ),
        )
    }
}
