fn load<'a>(
    &'a self,
    id: &'a str,
) -> Pin<Box<dyn Future<Output = Result<Replica, StoreError>> + Send + 'a>> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16);
    }
    let __tc_span = ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        )
        .making();
    {
        self.count();
        Box::pin(
            ::tracecast::__private::Instrumented::probed(
                __tc_span.made(),
                async move { self.fetch(id).await },
                |__tc_result: &Result<Replica, StoreError>, __tc_seen| {
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
            ),
        )
    }
}
