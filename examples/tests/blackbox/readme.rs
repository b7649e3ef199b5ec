//! The requests of the README, one after the other: each is answered as it says there.

use crate::database::Database;
use crate::program::Setup;
use crate::raw::{exchange, parts};

const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"));
/// Where the program of the README listens.
const PROGRAM: &str = "http://127.0.0.1:3000";
/// What the README leaves out of its answers, and what comes of asking over one connection each.
const LEFT_OUT: [&str; 3] = ["content-length", "date", "connection"];

/// What of an answer is printed.
#[derive(Debug, PartialEq, Eq)]
struct Printed {
    status: String,
    headers: Vec<String>,
    body: String,
}

impl Printed {
    fn of(answer: &str) -> Self {
        let (status, head, body) = parts(answer);
        let printed = head.lines().filter(|line| {
            let name = line.split_once(':').map_or(*line, |(name, _)| name);
            !LEFT_OUT.iter().any(|left_out| name.eq_ignore_ascii_case(left_out))
        });
        Self { status: status.to_owned(), headers: printed.map(str::to_owned).collect(), body: of_any_charge(body) }
    }

    /// The answers of a block, each of which begins with its status.
    fn read(block: &str) -> Vec<Self> {
        let answers = block.strip_prefix("HTTP/").unwrap_or_else(|| panic!("no status comes first: {block}"));
        let answers = answers.split("\nHTTP/").map(|answer| {
            let (head, body) = answer.split_once("\n\n").unwrap_or((answer, ""));
            let mut lines = head.lines();
            let status = format!("HTTP/{}", lines.next().unwrap_or_default());
            Self { status, headers: lines.map(str::to_owned).collect(), body: body.to_owned() }
        });
        answers.collect()
    }
}

/// The ids of charges are others in each run: they are printed as `ch_…`.
fn of_any_charge(body: &str) -> String {
    let mut pieces = body.split(r#""ch_"#);
    let mut printed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        assert_ne!(piece, rest, "a charge without an id: {body}");
        printed.push_str(r#""ch_…"#);
        printed.push_str(rest);
    }
    printed
}

/// The fenced blocks of a Markdown text: language and content.
fn blocks(markdown: &str) -> impl Iterator<Item = (&str, &str)> {
    let inside = markdown.split("\n```").skip(1).step_by(2);
    inside.map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// The words of a line of shell that needs no more of it than words, bare or between single quotes.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (number, piece) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(piece);
        } else {
            assert!(!piece.contains(['"', '\\', '$', '`', '|', '&', ';', '<', '>']), "not only words: {line}");
            words.extend(piece.split_whitespace());
        }
    }
    words
}

/// What `curl` sends.
fn request(line: &str, host: &str) -> Vec<u8> {
    let words = words(line);
    let mut words = words.into_iter();
    assert_eq!(words.next(), Some("curl"), "{line}");

    let (mut method, mut path, mut headers, mut body) = (None, None, Vec::new(), None);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("nothing follows {word}: {line}"));
        match word {
            "-i" => {}
            "-X" => method = Some(value()),
            "-H" => headers.push(value().to_owned()),
            "-d" => body = Some(value()),
            url => path = Some(url.strip_prefix(PROGRAM).unwrap_or_else(|| panic!("what is {url}: {line}"))),
        }
    }
    let method = method.unwrap_or(if body.is_some() { "POST" } else { "GET" });
    let path = path.unwrap_or_else(|| panic!("no URL: {line}"));
    headers.extend([format!("Host: {host}"), "Connection: close".to_owned()]);
    headers.extend(body.map(|body| format!("Content-Length: {}", body.len())));
    format!("{method} {path} HTTP/1.1\r\n{}\r\n\r\n{}", headers.join("\r\n"), body.unwrap_or_default()).into_bytes()
}

#[tokio::test]
async fn every_request_of_the_readme_is_answered_as_printed() {
    let database = Database::new();
    let orders = Setup::orders(&database).start();
    let mut asked = 0;

    let mut blocks = blocks(README);
    while let Some((language, block)) = blocks.next() {
        assert_ne!(language, "http", "nothing above asks for {block}");
        if language != "sh" || !block.contains("curl") {
            continue;
        }
        let (language, answers) = blocks.next().expect("an answer to the last request");
        assert_eq!(language, "http", "no answer follows {block}");
        let (lines, answers) = (block.replace("\\\n", " "), Printed::read(answers));
        assert_eq!(lines.lines().count(), answers.len(), "an answer for each line of {block}");
        for (line, printed) in lines.lines().zip(answers) {
            let answer = exchange(&orders, &request(line, orders.address())).await;
            assert_eq!(Printed::of(&answer), printed, "{line}");
            asked += 1;
        }
    }
    assert_ne!(asked, 0, "the README asks for nothing");
}
