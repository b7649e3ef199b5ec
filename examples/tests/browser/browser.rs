//! A headless Chromium, and what a visitor does in it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fantoccini::actions::{InputSource as _, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::checkout::Checkout;

/// How long the page may take to show something.
const PATIENCE: Duration = Duration::from_secs(30);

/// One browser at a time: each is many processes.
static TURN: Mutex<()> = Mutex::const_new(());

/// Whether the browser runs the page's script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    On,
    Off,
}

/// A visitor of a fresh `checkout`.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) client: Client,
    page: String,
}

/// Lets a visitor use a fresh `checkout` in a fresh browser, and closes the browser however that ends.
pub(crate) async fn visit<F>(script: Script, test: impl FnOnce(Visitor) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(path) = std::env::var_os("TEST_CHROMEDRIVER") else {
        let missing = "skipped: the browser, because TEST_CHROMEDRIVER is not set";
        assert!(std::env::var_os("TEST_REQUIRE_ALL").is_none(), "{missing}");
        return eprintln!("\n{missing}; `scripts/test` installs one\n");
    };
    let _turn = TURN.lock().await;
    let checkout = Checkout::start();
    let driver = Driver::start(Command::new(path));
    let client = driver.open(script).await;
    let visitor = Visitor { client: client.clone(), page: checkout.page() };
    visitor.open("").await;
    let tested = tokio::spawn(test(visitor)).await;
    client.close().await.expect("the browser closes");
    if let Err(failure) = tested {
        std::panic::resume_unwind(failure.into_panic());
    }
}

/// A running chromedriver; killed when it is dropped.
struct Driver {
    child: Child,
    url: String,
}

impl Driver {
    fn start(mut command: Command) -> Self {
        let mut child = command.arg("--port=0").stdout(Stdio::piped()).spawn().expect("TEST_CHROMEDRIVER starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let said = lines.find_map(|line| Some(line.split_once("successfully on port ")?.1.to_owned()));
        let port = said.expect("its port").trim_end_matches('.').to_owned();
        // Whatever else it says is read, so that it never waits to be heard.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://127.0.0.1:{port}") }
    }

    async fn open(&self, script: Script) -> Client {
        // As root, and in containers: no sandbox, and no shared memory that may be too small.
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1100,900", "--lang=en"];
        let javascript = if script == Script::On { 1 } else { 2 };
        let options = json!({
            "args": arguments,
            "prefs": { "profile.default_content_setting_values.javascript": javascript },
        });
        let mut wanted = Capabilities::new();
        wanted.insert("goog:chromeOptions".into(), options);
        let mut builder = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new());
        builder.capabilities(wanted).connect(&self.url).await.expect("a browser")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Visitor {
    /// Opens the page, with this query.
    pub(crate) async fn open(&self, query: &str) {
        self.client.goto(&format!("{}{query}", self.page)).await.expect("the page");
    }

    /// Waits for an element.
    pub(crate) async fn find(&self, css: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    /// All elements that are there now.
    pub(crate) async fn all(&self, css: &str) -> Vec<Element> {
        self.client.find_all(Locator::Css(css)).await.expect("elements")
    }

    pub(crate) async fn click(&self, css: &str) {
        self.find(css).await.click().await.expect("a click");
    }

    /// Clicks twice, as fast as a hand cannot.
    pub(crate) async fn double_click(&self, css: &str) {
        let element = self.find(css).await;
        let there = PointerAction::MoveToElement { element, duration: None, x: 0.0, y: 0.0 };
        let mut mouse = MouseActions::new("mouse".into()).then(there);
        for _ in 0..2 {
            mouse = mouse.then(PointerAction::Down { button: MOUSE_BUTTON_LEFT });
            mouse = mouse.then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        }
        self.client.perform_actions(mouse).await.expect("two clicks");
    }

    /// What an element says, on one line.
    pub(crate) async fn text(&self, element: &Element) -> String {
        let text = element.text().await.expect("a text");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What the page says has become of the form that was sent: `new` or `replayed`.
    pub(crate) async fn outcome(&self) -> String {
        let outcome = self.find("#outcome[data-outcome]").await;
        outcome.attr("data-outcome").await.expect("an attribute").expect("an outcome")
    }

    /// How many orders the visitor has.
    pub(crate) async fn orders(&self) -> usize {
        self.open("").await;
        self.find("#order").await;
        self.all(".card").await.len()
    }

    /// Whether the page's script has run: it moves the focus to an outcome.
    pub(crate) async fn has_focus_on_outcome(&self) -> bool {
        let focused = self.client.active_element().await.expect("a focus");
        focused.attr("id").await.expect("an attribute").as_deref() == Some("outcome")
    }

    /// What a script of ours, not of the page's, returns.
    pub(crate) async fn ask(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }
}
