//! The buttons of an order are the events that its machine allows.

use crate::browser::{Script, Visitor, visit};

async fn buttons(visitor: &Visitor, order: i64) -> Vec<String> {
    let mut names = Vec::new();
    for button in visitor.all(&format!("#order-{order} button")).await {
        names.push(visitor.text(&button).await);
    }
    names
}

async fn press(visitor: &Visitor, order: i64, event: &str) {
    visitor.click(&format!(r#"form[action="/orders/{order}/{event}"] button"#)).await;
    visitor.find("#done").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn buttons_follow_the_machine_and_history_tells_what_happened() {
    visit(Script::Off, async |visitor| {
        visitor.click("#order button").await;
        visitor.find("#done").await;
        visitor.open("").await;
        assert_eq!(buttons(&visitor, 1).await, ["Pay order 1", "Cancel order 1"]);
        press(&visitor, 1, "pay").await;
        visitor.find(r#"#order-1 [data-status="paid"]"#).await;
        assert_eq!(visitor.outcome().await, "new");
        assert_eq!(buttons(&visitor, 1).await, ["Ship order 1", "Cancel order 1"]);
        visitor.client.back().await.expect("back");
        press(&visitor, 1, "pay").await;
        assert_eq!(visitor.outcome().await, "replayed");
        press(&visitor, 1, "ship").await;
        visitor.find(r#"#order-1 [data-status="shipped"]"#).await;
        assert!(buttons(&visitor, 1).await.is_empty());
        visitor.click("#order-1 summary").await;
        let history = visitor.find("#order-1 ol").await.text().await.expect("a text");
        let told = history.lines().map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" "));
        assert_eq!(told.collect::<Vec<_>>(), ["create → created", "pay → paid", "ship → shipped"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_can_be_photographed() {
    visit(Script::On, async |visitor| {
        visitor.click("#order button").await;
        visitor.find("#order-1").await;
        press(&visitor, 1, "pay").await;
        visitor.open("").await;
        for (field, text) in [("#item", "desk lamp"), ("#amount", "4550")] {
            let field = visitor.find(field).await;
            field.clear().await.expect("an empty field");
            field.send_keys(text).await.expect("a filled field");
        }
        visitor.click("#order button").await;
        assert_eq!(visitor.outcome().await, "new");
        visitor.client.back().await.expect("back");
        visitor.click("#order button").await;
        assert_eq!(visitor.outcome().await, "replayed");
        visitor.click("#order-1 summary").await;
        let picture = visitor.client.screenshot().await.expect("a picture");
        assert!(picture.starts_with(b"\x89PNG"));
        if let Some(path) = std::env::var_os("CHECKOUT_SCREENSHOT") {
            std::fs::write(path, picture).expect("CHECKOUT_SCREENSHOT can be written");
        }
    })
    .await;
}
