#[tokio::test]
async fn works() -> Result<(), StoreError> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Test", &
        ::tracecast::__private::source("store", "1.2.3"));
    }
    ::tracecast::__private::Instrumented::new(
            if __TC_CALLSITE.is_on() {
                ::tracecast::__private::begin(
                    &__TC_CALLSITE,
                    ::tracecast::__private::no_fields,
                )
            } else {
                ::core::option::Option::None
            },
            async move {
                if false {
                    return ::tracecast::__private::unreachable_value::<
                        Result<(), StoreError>,
                    >();
                }
                run().await
            },
            |__tc_result, __tc_end| {
                use ::tracecast::__private::probe::*;
                (&&&Probe(__tc_result)).report(__tc_end);
            },
        )
        .await
}
