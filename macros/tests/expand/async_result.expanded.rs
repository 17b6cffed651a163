/// Loads.
#[inline]
pub fn load<T>(
    &self,
    request: Request<T>,
    session: &str,
    cause: Context,
) -> impl ::core::future::Future<Output = Result<Replica, StoreError>>
where
    T: Send,
{
    type __TcAttr0 = keys::artifact;
    type __TcShare0 = keys::session;
    ::tracecast::__private::in_section! {
        spans static __TC_CALLSITE : ::tracecast::__private::Callsite =
        ::tracecast::__private::Callsite::new("Store/Load", &
        ::tracecast::__private::source("store", "1.2.3")).keys(& [< __TcAttr0 as
        ::tracecast::__private::Key > ::META, < __TcShare0 as ::tracecast::__private::Key
        > ::META]);
    }
    ::tracecast::__private::Instrumented::new(
        if __TC_CALLSITE.is_on() {
            ::tracecast::__private::begin(
                &__TC_CALLSITE,
                |__tc_start| {
                    __tc_start.attr::<__TcAttr0>(&request.artifact);
                    __tc_start.share::<__TcShare0>(session);
                    __tc_start.link(cause);
                },
            )
        } else {
            ::core::option::Option::None
        },
        async move {
            let request = request;
            let _ = &request;
            let session = session;
            let _ = &session;
            let cause = cause;
            let _ = &cause;
            if false {
                return ::tracecast::__private::unreachable_value::<
                    Result<Replica, StoreError>,
                >();
            }
            self.fetch(request).await
        },
        |__tc_result, __tc_end| {
            use ::tracecast::__private::probe::*;
            (&&&Probe(__tc_result)).report(__tc_end);
        },
    )
}
