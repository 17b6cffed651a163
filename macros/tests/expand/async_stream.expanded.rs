fn watch(
    &self,
) -> impl ::core::future::Future<
    Output = impl Stream<Item = Result<Event, StoreError>>,
> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Watch\nstore\n1.2.3", 11u16);
    }
    ::tracecast::__private::InstrumentedStreamFuture::probed(
        ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        ),
        async move { self.subscribe().await },
        |__tc_result: &Result<Event, StoreError>, __tc_seen| {
            use ::tracecast::__private::Otherwise as _;
            __tc_seen
                .by(
                    (
                        ::tracecast::__private::Tag::of(__tc_result).errors(),
                        ::tracecast::__private::Tag::of(__tc_result).types(),
                        ::tracecast::__private::Tag::of(__tc_result).messages(),
                    ),
                    __tc_result,
                );
        },
    )
}
