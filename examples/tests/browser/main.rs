//! Drives `checkout` as a visitor does, in Chromium through `WebDriver`.
//!
//! `TEST_CHROMEDRIVER` is the path of a chromedriver, beside whose browser these tests run. Without it they say `skipped:`
//! and pass; with `TEST_REQUIRE_ALL=1` they fail instead. With `CHECKOUT_SCREENSHOT` the page is photographed to that path.

mod accessible;
mod browser;
mod checkout;
mod clicks;
mod machine;
