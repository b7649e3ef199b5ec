fn on_payment(#[tx] conn: &mut PgConnection, event: &PaymentEvent) -> Result<Receipt, ConsumeError> {
    Receipt::insert(conn, event)
}
