fn call(&self) -> impl Future<Output = Result<u8, StoreError>> + use<> {
    telemetry::__private::in_section! {
        spans static __TC_CALLSITE : telemetry::__private::Callsite =
        telemetry::__private::callsite("Store/Call\nstore\n1.2.3", 10u16);
    }
    let __tc_span = telemetry::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        )
        .making();
    let __tc_made = telemetry::__private::apply(&(), |_| -> _ { self.inner.call() });
    telemetry::__private::Instrumented::probed(
        __tc_span.made(),
        __tc_made,
        |__tc_result: &Result<u8, StoreError>, __tc_seen| {
            use telemetry::__private::Otherwise as _;
            __tc_seen
                .by(
                    (
                        telemetry::__private::Tag::of(__tc_result).errors(),
                        telemetry::__private::Tag::of(__tc_result).types(),
                        telemetry::__private::Tag::of(__tc_result).messages(),
                    ),
                    __tc_result,
                );
        },
    )
}
