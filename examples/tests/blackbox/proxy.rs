//! A bad line: a proxy in front of a program, each of whose connections breaks somewhere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::chance::Chance;

/// Where a connection breaks.
#[derive(Debug, Clone, Copy)]
enum Break {
    /// After so many bytes of what the program is sent.
    InRequest(usize),
    /// When the program has been sent so many requests, before it answers the last.
    AfterRequest(usize),
    /// After so many bytes of its answers.
    InAnswer(usize),
}

impl Break {
    /// A request or an answer of these tests has some 300 bytes: a connection carries a few of them.
    fn by(mut chance: Chance) -> Self {
        let mut below = |limit| usize::try_from(chance.below(limit)).expect("a small number");
        match below(5) {
            0 | 1 => Self::InRequest(below(1_500)),
            2 => Self::AfterRequest(1 + below(4)),
            _ => Self::InAnswer(below(1_500)),
        }
    }

    /// How many bytes and how many reads of each direction are passed on: of the requests, and of the answers.
    fn budgets(self) -> [(usize, usize); 2] {
        const ALL: usize = usize::MAX;
        match self {
            Self::InRequest(bytes) => [(bytes, ALL), (ALL, ALL)],
            Self::AfterRequest(requests) => [(ALL, requests), (ALL, ALL)],
            Self::InAnswer(bytes) => [(ALL, ALL), (bytes, ALL)],
        }
    }
}

/// How many connections broke, by where.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    pub(crate) in_request: AtomicUsize,
    pub(crate) after_request: AtomicUsize,
    pub(crate) in_answer: AtomicUsize,
}

/// The proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) broken: Arc<Broken>,
}

impl Proxy {
    /// A bad line to `program`, on a free port. Where its connections break follows from the seed.
    pub(crate) async fn to(program: &str, seed: u64) -> Self {
        Self::breaking(program, move |connection| Break::by(Chance::new(seed, connection))).await
    }

    /// A line that breaks at the first byte of every answer.
    pub(crate) async fn without_answers(program: &str) -> Self {
        Self::breaking(program, |_| Break::InAnswer(1)).await
    }

    async fn breaking(program: &str, at: impl Fn(u64) -> Break + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let proxy = Self { address: listener.local_addr().expect("an address"), broken: Arc::default() };
        let (program, broken) = (program.to_owned(), Arc::clone(&proxy.broken));
        tokio::spawn(async move {
            for connection in 0.. {
                let (client, _) = listener.accept().await.expect("a connection");
                let program = TcpStream::connect(&program).await.expect("the program");
                tokio::spawn(carry(client, program, at(connection), Arc::clone(&broken)));
            }
        });
        proxy
    }
}

async fn carry(client: TcpStream, program: TcpStream, at: Break, broken: Arc<Broken>) {
    let ((from_client, to_client), (from_program, to_program)) = (client.into_split(), program.into_split());
    let [requests, answers] = at.budgets();
    // Whichever direction ends takes the other with it.
    let breaks = tokio::select! {
        breaks = pass_on(from_client, to_program, requests) => breaks,
        breaks = pass_on(from_program, to_client, answers) => breaks,
    };
    if breaks {
        let count = match at {
            Break::InRequest(_) => &broken.in_request,
            Break::AfterRequest(_) => &broken.after_request,
            Break::InAnswer(_) => &broken.in_answer,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Passes on until the budget is used up; false if one side has hung up by itself.
async fn pass_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, (mut bytes, mut reads): (usize, usize)) -> bool {
    let mut buffer = [0; 4_096];
    while bytes > 0 && reads > 0 {
        let Ok(read @ 1..) = from.read(&mut buffer).await else { return false };
        let allowed = read.min(bytes);
        if to.write_all(&buffer[..allowed]).await.is_err() {
            return false;
        }
        bytes -= allowed;
        reads -= 1;
    }
    true
}
