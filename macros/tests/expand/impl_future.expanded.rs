fn call(&self) -> impl Future<Output = Result<u8, StoreError>> + use<> {
    telemetry::__private::in_section! {
        spans static __TC_CALLSITE : telemetry::__private::Callsite =
        telemetry::__private::Callsite::new("Store/Call", &
        telemetry::__private::source("store", "1.2.3"));
    }
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
