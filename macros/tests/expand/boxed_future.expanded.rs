fn load<'a>(
    &'a self,
    id: &'a str,
) -> Pin<Box<dyn Future<Output = Result<Replica, StoreError>> + Send + 'a>> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Load", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
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
