//! One form is one order, whatever is clicked.

use serde_json::json;

use crate::browser::{Script, visit};

const ORDER: &str = "#order button";

#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_is_one_order() {
    visit(Script::On, async |visitor| {
        visitor.double_click(ORDER).await;
        assert_eq!(visitor.outcome().await, "new");
        assert_eq!(visitor.orders().await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_a_slow_network_is_one_order() {
    visit(Script::On, async |visitor| {
        visitor.click(".switch button").await;
        visitor.find(r#".switch [aria-checked="true"]"#).await;
        visitor.double_click(ORDER).await;
        assert_eq!(visitor.outcome().await, "new", "the script has spared the second its way");
        assert_eq!(visitor.orders().await, 1);
    })
    .await;
}

/// The browser takes the second click for a new wish to send the form. It may then have called off the first before it was
/// sent, or only its answer: either is one order. Or it comes when the next page is there: it meets no button.
#[tokio::test(flavor = "multi_thread")]
async fn without_script_a_double_click_is_one_order() {
    for (width, network) in [(1100, ""), (1100, "?network=slow"), (500, ""), (500, "?network=slow")] {
        visit(Script::Off, async move |visitor| {
            visitor.client.set_window_size(width, 900).await.expect("a window of this size");
            visitor.open(network).await;
            visitor.double_click(ORDER).await;
            visitor.outcome().await;
            assert!(!visitor.has_focus_on_outcome().await, "there is no script");
            assert_eq!(visitor.orders().await, 1);
            visitor.find(r#"#order-1 [data-status="created"]"#).await;
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn back_and_submitted_again_it_is_the_same_order() {
    for script in [Script::On, Script::Off] {
        visit(script, async |visitor| {
            visitor.click(ORDER).await;
            assert_eq!(visitor.outcome().await, "new");
            for _ in 0..2 {
                visitor.client.back().await.expect("back");
                visitor.click(ORDER).await;
                assert_eq!(visitor.outcome().await, "replayed");
                assert_eq!(visitor.find("#done").await.text().await.expect("a text"), "Order 1 is created");
            }
            assert_eq!(visitor.orders().await, 1);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_in_two_tabs_is_one_order() {
    visit(Script::On, async |visitor| {
        let page = visitor.client.source().await.expect("the page");
        let first = visitor.client.window().await.expect("a tab");
        let second = visitor.client.new_window(true).await.expect("a tab").handle;
        visitor.client.switch_to_window(second).await.expect("the second tab");
        visitor.open("").await;
        // What duplicating the tab does: the same page, and not a fresh one.
        visitor.ask("document.open(); document.write(arguments[0]); document.close();", vec![json!(page)]).await;
        visitor.click(ORDER).await;
        assert_eq!(visitor.outcome().await, "new");
        visitor.client.switch_to_window(first).await.expect("the first tab");
        visitor.click(ORDER).await;
        assert_eq!(visitor.outcome().await, "replayed");
        assert_eq!(visitor.orders().await, 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_form_is_another_order() {
    visit(Script::On, async |visitor| {
        for number in 1..3 {
            visitor.click(ORDER).await;
            assert_eq!(visitor.outcome().await, "new");
            assert_eq!(visitor.orders().await, number);
        }
    })
    .await;
}
