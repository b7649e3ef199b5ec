#[state_machine(
    table = orders, column = status, id = id,
    row = Order, entered = entered_at,
    rename_all = "kebab-case",
    expires(after = "1h", to = TimedOut),
    transitions(
        next: {
            Cart => Address,
            Delivery => Payment if Order::needs_payment,
            Delivery => Confirm if is_free::<{ 2 }>,
            Address => Delivery,
        },
        authorize: Payment | Confirm => Success | Failed,
        "OP_VOID/SUCCESS" as void_success: Success => Failed,
        return: Success => Returned,
        settle: any - Cart => Failed | Success,
        Cart => TimedOut,
        any - Cart - Failed => TimedOut,
    ),
    crate = ::reexported::runtime,
)]
pub(crate) enum CheckoutState {
    #[state(initial)]
    Cart,
    Address,
    Delivery,
    Payment,
    Confirm,
    Success,
    Failed,
    #[state(terminal)]
    Returned,
    TimedOut,
    #[state(external, terminal)]
    Disputed,
    #[state(other)]
    Unknown(String),
}
