fn call(&self) -> impl Future<Output = Result<u8, StoreError>> + use<> {
    telemetry::__private::in_section! {
        spans static __TC_CALLSITE : telemetry::__private::Callsite =
        telemetry::__private::callsite("Store/Call\nstore\n1.2.3", 10u16);
    }
    telemetry::__private::Instrumented::probed(
        telemetry::__private::begin(
            &__TC_CALLSITE,
            |__tc_begin| __tc_begin.span(|_| {}),
        ),
        telemetry::__private::apply(&(), |_| -> _ { self.inner.call() }),
        |__tc_result: &Result<u8, StoreError>, __tc_seen| {
            __tc_seen
                .by(telemetry::__private::Tag::of(__tc_result).observer(), __tc_result);
        },
    )
}
