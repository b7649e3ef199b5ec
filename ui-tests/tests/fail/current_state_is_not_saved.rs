use diesel::AsChangeset;
use idempotent_runtime::Current;
use ui_tests::schema::orders;
use ui_tests::*;

#[derive(AsChangeset)]
#[diesel(table_name = orders)]
struct Saved {
    status: Current<OrderStatus>,
}

fn main() {}
