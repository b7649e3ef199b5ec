//! The page. maud escapes whatever is put into it.

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::response::{Html, IntoResponse, Response};
use idempotent_runtime::Token;
use maud::{DOCTYPE, Markup, html};

use crate::card::{Button, Card};
use crate::outcome::Outcome;

/// Style and script come from this program, and forms go to it: nothing else is loaded or run, and no other site shows
/// the page in a frame.
const SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; \
                               form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For the visitor alone, and asked for anew by everybody but Back: that is to show the old form, with its token. So no
/// `no-store`.
const CACHE: &str = "private, max-age=0";

const HEADERS: [(HeaderName, &str); 4] = [
    (CACHE_CONTROL, CACHE),
    (CONTENT_SECURITY_POLICY, SECURITY_POLICY),
    (REFERRER_POLICY, "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// What is on top, and the orders below.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) panel: Panel,
    pub(crate) cards: Vec<Card>,
    pub(crate) is_slow: bool,
}

/// Either there is a form, or an order was just dealt with. Never both: the second click of a double click may come when
/// the answer to the first one is there already, and must not meet a fresh form.
#[derive(Debug)]
pub(crate) enum Panel {
    /// A form to order, with its token.
    Form(Token),
    /// The order that this page was asked for, and what became of the request before it.
    Order { order: i64, outcome: Option<Outcome> },
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let Self { panel, cards, is_slow } = self;
        let (title, top) = match &panel {
            Panel::Form(token) => ("Checkout".to_owned(), form(token, is_slow)),
            Panel::Order { order, outcome } => {
                let word = outcome.map_or("", Outcome::word);
                (format!("Order {order} {word} · Checkout"), confirmation(*order, *outcome, &cards, is_slow))
            }
        };
        let orders = html! {
            section.orders aria-labelledby="orders" {
                h2 id="orders" { "Your orders" }
                @if cards.is_empty() { p.hint { "None yet." } }
                @for shown in &cards { (card(shown, is_slow)) }
            }
        };
        (HEADERS, Html(document(&title, &html! { (top) (orders) }).into_string())).into_response()
    }
}

/// The page of a request that was not carried out.
pub(crate) fn refusal(status: StatusCode, code: &str, message: &str) -> Response {
    let advice = match (status, code) {
        (_, "idempotency_token_invalid") => {
            "The form is too old, or was made for somebody else. Nothing was done; take a fresh one."
        }
        (_, "idempotency_key_reused") => {
            "This form was sent before, with something else in it. That stands, and nothing more was done; \
             take a fresh form for another order."
        }
        (_, "idempotency_key_in_use") => "The first click is still under way; go back, and press the button again.",
        (StatusCode::UNAUTHORIZED, _) => "This page needs its cookie; allow cookies, and take a fresh form.",
        (StatusCode::CONFLICT, _) => "The order has moved on in the meantime; look at it as it is now.",
        _ => "Go back and try again, or take a fresh form.",
    };
    let content = html! {
        section.panel aria-labelledby="refused" {
            h2 id="refused" { "That did not work" }
            p.outcome.refused id="outcome" role="status" tabindex="-1" { (message) }
            p { (advice) }
            p { a href="/" { "A fresh form" } }
        }
    };
    (status, HEADERS, Html(document("That did not work · Checkout", &content).into_string())).into_response()
}

fn document(title: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/checkout.css";
                script src="/checkout.js" defer {}
            }
            body {
                header {
                    h1 { "Checkout" }
                    p { "Click twice, go back and submit again, duplicate the tab: one form is one order." }
                }
                main { (content) }
            }
        }
    }
}

fn form(token: &Token, is_slow: bool) -> Markup {
    html! {
        section.panel aria-labelledby="new-order" {
            h2 id="new-order" { "New order" }
            form id="order" method="post" action={ "/checkout" (network(is_slow)) } {
                input type="hidden" name="token" value=(token.as_str());
                label for="item" { "Item" }
                input id="item" name="item" value="book" required maxlength="100" autocomplete="off";
                label for="amount" { "Price in cents" }
                input id="amount" name="amount" type="number" value="2000" min="1" step="1" required
                    aria-describedby="amount-hint";
                p.hint id="amount-hint" { "2000 is 20.00." }
                label for="currency" { "Currency" }
                select id="currency" name="currency" {
                    option value="usd" { "US dollar" }
                    option value="eur" { "Euro" }
                    option value="gbp" { "Pound sterling" }
                }
                button.primary type="submit" { "Place order" }
            }
            p.outcome id="outcome" role="status" tabindex="-1" {}
            form.switch method="get" action="/" {
                button type="submit" role="switch" aria-checked=(is_slow) name="network"
                    value=(if is_slow { "fast" } else { "slow" }) { "Slow network" }
                span.hint { "Answers take two seconds more." }
            }
        }
    }
}

fn confirmation(order: i64, outcome: Option<Outcome>, cards: &[Card], is_slow: bool) -> Markup {
    let status = cards.iter().find(|card| card.order.id == order).map(|card| card.order.status.to_string());
    let said = match outcome {
        Some(Outcome::New) => "New: this request was carried out.",
        Some(Outcome::Replayed) => "Replayed: this form was sent before. Nothing was done again.",
        None => "",
    };
    html! {
        section.panel aria-labelledby="done" {
            h2 id="done" { "Order " (order) @if let Some(status) = status { " is " (status) } }
            p.outcome id="outcome" role="status" tabindex="-1" data-outcome=[outcome.map(Outcome::word)] { (said) }
            p { a href={ "/" (network(is_slow)) } { "Order something else" } }
            p.hint { "Or go back, and submit the same form again." }
        }
    }
}

fn card(Card { order, history, buttons }: &Card, is_slow: bool) -> Markup {
    let status = order.status.to_string();
    html! {
        article.card id={ "order-" (order.id) } aria-labelledby={ "title-" (order.id) } {
            h3 id={ "title-" (order.id) } { "Order " (order.id) ": " (order.item) }
            p.facts { span.price { (order.price()) } " " span.status data-status=(status) { (status) } }
            @if !buttons.is_empty() {
                div.buttons { @for shown in buttons { (button(order.id, shown, is_slow)) } }
            }
            details {
                summary { "History" span.hidden { " of order " (order.id) } }
                ol { @for row in history { li { (row.event) " → " (row.target) " " small { (row.time()) " UTC" } } } }
            }
        }
    }
}

fn button(order: i64, Button { event, token }: &Button, is_slow: bool) -> Markup {
    html! {
        form method="post" action={ "/orders/" (order) "/" (event) (network(is_slow)) } {
            @if let Some(token) = token { input type="hidden" name="token" value=(token.as_str()); }
            button type="submit" { (capital(event)) span.hidden { " order " (order) } }
        }
    }
}

/// The network goes along from page to page.
fn network(is_slow: bool) -> &'static str {
    if is_slow { "?network=slow" } else { "" }
}

/// `Pay` for `pay`.
fn capital(event: &str) -> String {
    let mut letters = event.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
