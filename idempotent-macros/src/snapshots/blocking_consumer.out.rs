fn on_payment(
    conn: &mut PgConnection,
    event: &PaymentEvent,
) -> Result<Receipt, ConsumeError> {
    #[allow(clippy::unnecessary_wraps)]
    fn on_payment(
        conn: &mut PgConnection,
        #[allow(unused_variables)]
        event: &PaymentEvent,
    ) -> Result<Receipt, ConsumeError> {
        Receipt::insert(conn, event)
    }
    static __POLICY: ::idempotent_runtime::__private::Policy = ::idempotent_runtime::__private::Policy {
        operation: ::core::concat!(::core::module_path!(), "::on_payment"),
        place: ::idempotent_runtime::__private::Place {
            function: ::core::concat!(::core::module_path!(), "::on_payment"),
            at: (::core::file!(), ::core::line!(), ::core::column!()),
        },
        key: ::idempotent_runtime::__private::KeySource::Expression,
        fingerprint: ::idempotent_runtime::__private::Print::Nothing,
        in_flight: ::idempotent_runtime::__private::InFlight::Reject,
        keep: ::idempotent_runtime::__private::Keep::Default,
    };
    let _ = ::idempotent_runtime::__private::blocking_connection::<PgConnection>();
    let __codec = ::idempotent_runtime::__private::plain::codec::<
        Result<Receipt, ConsumeError>,
    >();
    match ::idempotent_runtime::__private::blocking::wait_here(
        ::idempotent_runtime::__private::plain::open(
            __codec,
            &__POLICY,
            {
                #[allow(unused_variables)]
                {
                    let event = &event;
                    ::idempotent_runtime::__private::Terms::for_millis(604800000i64)
                        .key(&(event.id))
                }
            },
            &mut *conn,
        ),
    ) {
        ::idempotent_runtime::__private::plain::Opened::Done(__result) => __result,
        ::idempotent_runtime::__private::plain::Opened::Run(__span) => {
            let __result = ::idempotent_runtime::__private::blocking::catch(|| on_payment(
                &mut *conn,
                event,
            ));
            ::idempotent_runtime::__private::blocking::wait_here(
                ::idempotent_runtime::__private::plain::close(
                    __codec,
                    __span,
                    &mut *conn,
                    __result,
                ),
            )
        }
    }
}
