fn load(id: &str, source: SourceType) -> Result<Vec<u8>, StoreError> {
    type __TcAttr0 = keys::artifact;
    type __TcAttr1 = keys::source;
    type __TcResult0 = keys::bytes;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Load", &
        ::tracecast::__private::source("store", "1.2.3"))
        .of_kind(::tracecast::__private::Kind::Client).keys(& [< __TcAttr0 as
        ::tracecast::__private::Key > ::META, < __TcAttr1 as ::tracecast::__private::Key
        > ::META, < __TcResult0 as ::tracecast::__private::Key > ::META])
        .announce(30u32);
    }
    let __tc_body = ::tracecast::__private::body(|
        __tc_start,
    | -> Result<Vec<u8>, StoreError> {
        ::tracecast::__private::start(
            __tc_start,
            |__tc_start| {
                __tc_start.attr::<__TcAttr0>(id);
                __tc_start.attr::<__TcAttr1>(source);
            },
        );
        {
            let replica = fetch(id)?;
            Ok(replica)
        }
    });
    if __TC_CALLSITE.is_on() {
        ::tracecast::__private::traced(
            &__TC_CALLSITE,
            __tc_body,
            |__tc_result, __tc_end| {
                {
                    use ::tracecast::__private::probe::*;
                    (&&&Probe(__tc_result)).report(__tc_end);
                }
                #[allow(
                    clippy::redundant_closure,
                    clippy::redundant_closure_for_method_calls
                )]
                if let ::core::option::Option::Some(__tc_value) = {
                    use ::tracecast::__private::probe::*;
                    (&Probe(__tc_result)).success()
                } {
                    let __tc_field0 = ::tracecast::__private::apply(
                        __tc_value,
                        |replica| replica.len(),
                    );
                    __tc_end.attr::<__TcResult0>(__tc_field0);
                }
            },
        )
    } else {
        __tc_body(::core::option::Option::None)
    }
}
