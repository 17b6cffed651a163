#[tokio::test]
async fn works() -> Result<(), StoreError> {
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::callsite("Store/Test\nstore\n1.2.3", 10u16);
    }
    use ::tracecast::__private::Otherwise as _;
    ::tracecast::__private::wrap(
            &__TC_CALLSITE,
            async move {
                if false {
                    return ::tracecast::__private::Tag::<
                        Result<(), StoreError>,
                    >::unreachable();
                }
                run().await
            },
            (
                ::tracecast::__private::Tag::<Result<(), StoreError>>::ERRORS,
                ::tracecast::__private::Tag::<Result<(), StoreError>>::TYPES,
                ::tracecast::__private::Tag::<Result<(), StoreError>>::MESSAGES,
            ),
        )
        .await
}
