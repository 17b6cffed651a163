fn call(&mut self, request: Request) -> Self::Future {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Call\nstore\n1.2.3", 10u16);
    }
    ::tracecast::__private::rewrap(
        ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        ),
        ::tracecast::__private::apply(
            &(),
            |_| -> Self::Future { self.inner.call(request) },
        ),
        |__tc_result, __tc_seen| {
            __tc_seen
                .by(
                    ::tracecast::__private::Tag::of(__tc_result).observer(),
                    __tc_result,
                );
        },
    )
}
