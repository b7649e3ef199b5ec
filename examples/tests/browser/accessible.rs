//! What assistive technology needs of the page.

use serde_json::{Value, json};

use crate::browser::{Script, Visitor, visit};

/// Of each element that is shown, and shows text: that text, and how far it stands out from its ground (WCAG 2.2, 1.4.3).
const CONTRASTS: &str = r#"
    const luminance = (color) => {
        const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        const color = getComputedStyle(element).backgroundColor;
        return color === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : color;
    };
    return [...document.body.querySelectorAll("*")]
        .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .map((element) => {
            const [light, dark] = [getComputedStyle(element).color, ground(element)].map(luminance).sort((a, b) => b - a);
            return [element.textContent, (light + 0.05) / (dark + 0.05)];
        });
"#;

/// When the rules for the dark count.
const DARK: &str = r#"
    for (const { media } of document.styleSheets[0].cssRules)
        if (media && !media.mediaText.includes("width")) media.mediaText = arguments[0];
"#;

const GROUND: &str = "return getComputedStyle(document.body).backgroundColor";

async fn check(visitor: &Visitor) {
    assert_eq!(visitor.find("html").await.attr("lang").await.expect("an attribute").as_deref(), Some("en"));
    assert_eq!(visitor.all("h1").await.len(), 1);
    assert_eq!(visitor.all("main").await.len(), 1);
    assert_eq!(visitor.all(r#"#outcome[role="status"]"#).await.len(), 1, "a place where outcomes are told");
    for field in visitor.all("input:not([type=hidden]), select").await {
        let id = field.attr("id").await.expect("an attribute").expect("an id");
        let label = visitor.find(&format!("label[for={id}]")).await.text().await.expect("a text");
        assert!(!label.is_empty(), "{id}");
    }
    let mut names = Vec::new();
    for button in visitor.all("button").await {
        names.push(visitor.text(&button).await);
    }
    assert!(!names.iter().any(String::is_empty), "{names:?}");
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "each says what it is for: {names:?}");
    let light = visitor.ask(GROUND, vec![]).await;
    check_contrasts(visitor).await;
    visitor.ask(DARK, vec![json!("all")]).await;
    assert_ne!(visitor.ask(GROUND, vec![]).await, light);
    check_contrasts(visitor).await;
    visitor.ask(DARK, vec![json!("(prefers-color-scheme: dark)")]).await;
}

async fn check_contrasts(visitor: &Visitor) {
    let contrasts = visitor.ask(CONTRASTS, vec![]).await;
    let contrasts = contrasts.as_array().expect("a list");
    assert!(contrasts.len() > 5, "{contrasts:?}");
    for contrast in contrasts {
        assert!(contrast[1].as_f64() >= Some(4.5), "{contrast}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_have_labels_buttons_have_names_and_text_stands_out() {
    visit(Script::On, async |visitor| {
        for _ in 0..2 {
            check(&visitor).await;
            visitor.click("#order button").await;
            visitor.outcome().await;
            check(&visitor).await;
            visitor.client.back().await.expect("back");
            visitor.find("#order").await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_outcome_has_the_focus_when_it_is_told() {
    visit(Script::On, async |visitor| {
        visitor.click("#order button").await;
        visitor.outcome().await;
        assert!(visitor.has_focus_on_outcome().await);
        assert_eq!(visitor.client.title().await.expect("a title"), "Order 1 new · Checkout");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_can_be_sent_by_keys_alone() {
    visit(Script::On, async |visitor| {
        let pressed: Value =
            visitor.ask("document.getElementById('item').focus(); return document.activeElement.id", vec![]).await;
        assert_eq!(pressed, json!("item"));
        visitor.find("#item").await.send_keys("\u{e007}").await.expect("enter");
        assert_eq!(visitor.outcome().await, "new");
        assert_eq!(visitor.orders().await, 1);
    })
    .await;
}
