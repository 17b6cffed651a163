fn watch(
    &self,
) -> impl ::core::future::Future<
    Output = impl Stream<Item = Result<Event, StoreError>>,
> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Watch", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::InstrumentedStreamFuture::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                ::tracecast::__private::no_fields,
            )
        } else {
            ::core::option::Option::None
        },
        async move { self.subscribe().await },
        |__tc_result: &Result<Event, StoreError>, __tc_end| {
            use ::tracecast::__private::probe::*;
            (&&&Probe(__tc_result)).report(__tc_end);
        },
    )
}
