//! Requests byte for byte, for what no HTTP client would send.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::program::Program;

/// Sends bytes over a connection of its own and reads to its end. The request asks to close it.
pub(crate) async fn exchange(to: &Program, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(to.address()).await.expect("a connection");
    stream.write_all(request).await.expect("to send");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status, the head and the body of an answer. No answer here is chunked.
pub(crate) fn parts(answer: &str) -> (&str, &str, &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no end of the head: {answer:?}"));
    let (status, head) = head.split_once("\r\n").unwrap_or((head, ""));
    (status, head, body)
}
