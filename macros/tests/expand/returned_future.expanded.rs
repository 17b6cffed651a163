fn call(&mut self, request: Request) -> Self::Future {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Call\nstore\n1.2.3", 10u16);
    }
    let __tc_span = ::tracecast::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        )
        .making();
    let __tc_made = ::tracecast::__private::apply(
        &(),
        |_| -> Self::Future { self.inner.call(request) },
    );
    ::tracecast::__private::rewrap(
        __tc_span.made(),
        __tc_made,
        |__tc_result, __tc_seen| {
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
