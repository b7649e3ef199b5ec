//! An order with everything that the page shows of it.

use examples::problem::Problem;
use idempotent_runtime::{StateMachine, Token};

use crate::app::App;
use crate::history::HistoryRow;
use crate::order::Order;
use crate::status::OrderStatus;

/// An order, what has happened to it, and what can happen next.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) order: Order,
    pub(crate) history: Vec<HistoryRow>,
    pub(crate) buttons: Vec<Button>,
}

/// An event that the machine allows now, with a token if its route takes one.
#[derive(Debug)]
pub(crate) struct Button {
    pub(crate) event: &'static str,
    pub(crate) token: Option<Token>,
}

impl Card {
    /// The latest orders of a visitor, newest first.
    pub(crate) async fn list(app: &App, visitor: &str, most: i64) -> Result<Vec<Self>, Problem> {
        let (orders, mut history) = {
            let mut conn = app.pool.get().await?;
            let orders = Order::list(&mut conn, visitor, most).await?;
            let ids = orders.iter().map(|order| order.id).collect::<Vec<_>>();
            (orders, HistoryRow::list(&mut conn, &ids).await?)
        };
        let mut cards = Vec::new();
        for order in orders {
            let (own, others) = history.into_iter().partition(|row| row.order_id == order.id);
            history = others;
            let buttons = Button::list(app, visitor, *order.status).await?;
            cards.push(Self { order, history: own, buttons });
        }
        Ok(cards)
    }
}

impl Button {
    async fn list(app: &App, visitor: &str, status: OrderStatus) -> Result<Vec<Self>, Problem> {
        let mut buttons = Vec::new();
        for event in status.allowed_from() {
            let token = match event {
                "pay" => Some(app.issue(visitor, "pay").await?),
                _ => None,
            };
            buttons.push(Self { event, token });
        }
        Ok(buttons)
    }
}
