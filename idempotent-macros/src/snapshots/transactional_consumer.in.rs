async fn on_payment(#[tx] conn: &mut Db, event: &PaymentEvent) -> Result<Receipt, ConsumeError> {
    receipts::insert(conn, event).await
}
