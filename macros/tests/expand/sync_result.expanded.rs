fn load(id: &str, source: SourceType) -> Result<Vec<u8>, StoreError> {
    use ::tracecast::__private::Otherwise as _;
    type __TcAttr0 = keys::artifact;
    type __TcAttr1 = keys::source;
    type __TcResult0 = keys::bytes;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Load\nstore\n1.2.3", 10u16)
        .of_kind(::tracecast::__private::Kind::Client).keys(& (& [< __TcAttr0 as
        ::tracecast::__private::Key > ::META, < __TcAttr1 as ::tracecast::__private::Key
        > ::META, < __TcResult0 as ::tracecast::__private::Key > ::META] as & [_]))
        .heartbeat(30u32);
    }
    ::tracecast::__private::run_begun(
        &__TC_CALLSITE,
        |__tc_begin| -> Result<Vec<u8>, StoreError> {
            __tc_begin
                .span(|__tc_start| {
                    __tc_start.attr::<__TcAttr0>(id);
                    __tc_start.attr::<__TcAttr1>(source);
                });
            {
                let replica = fetch(id)?;
                Ok(replica)
            }
        },
        (
            (
                ::tracecast::__private::Tag::<Result<Vec<u8>, StoreError>>::ERRORS,
                ::tracecast::__private::Tag::<Result<Vec<u8>, StoreError>>::TYPES,
                ::tracecast::__private::Tag::<Result<Vec<u8>, StoreError>>::MESSAGES,
            ),
            ::tracecast::__private::Tag::<Result<Vec<u8>, StoreError>>::NEW
                .given()
                .attributes(|__tc_value, __tc_target| {
                    #[allow(
                        clippy::redundant_closure,
                        clippy::redundant_closure_for_method_calls
                    )]
                    let __tc_field0 = ::tracecast::__private::apply(
                        __tc_value,
                        |replica| replica.len(),
                    );
                    __tc_target.attr::<__TcResult0>(__tc_field0);
                }),
        ),
    )
}
