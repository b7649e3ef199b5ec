//! A proxy between a program and its database server, that cuts connections where a test wants it, and shows what it
//! passes on.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Is shown what a proxy passes on over one connection, before that arrives.
pub trait Observer: Send + 'static {
    /// The server will be sent this.
    fn requests(&mut self, bytes: &[u8]);
    /// The server has sent this.
    fn answers(&mut self, bytes: &[u8]);
}

/// Looks away.
impl Observer for () {
    fn requests(&mut self, _: &[u8]) {}
    fn answers(&mut self, _: &[u8]) {}
}

/// Forwards to one server until it is told to cut.
#[derive(Debug, Clone)]
pub struct Proxy {
    address: SocketAddr,
    /// How many more bytes of the server's are passed on before the connection that carries them is cut; negative: all.
    answers: Arc<AtomicI64>,
    /// The same for what the server is sent.
    requests: Arc<AtomicI64>,
}

impl Proxy {
    /// A proxy to `server` on a free port.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn to(server: String) -> Self {
        Self::observed(server, || ()).await
    }

    /// One that has an observer for each connection.
    ///
    /// # Panics
    ///
    /// If no port is free.
    pub async fn observed<O: Observer>(server: String, observer: impl Fn() -> O + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let proxy = Self {
            address: listener.local_addr().expect("an address"),
            answers: Arc::new(AtomicI64::new(-1)),
            requests: Arc::new(AtomicI64::new(-1)),
        };
        let (answers, requests) = (Arc::clone(&proxy.answers), Arc::clone(&proxy.requests));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                // Nothing is held back here that the two sides do not hold back.
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let (answers, requests) = (Arc::clone(&answers), Arc::clone(&requests));
                let observer = Mutex::new(observer());
                tokio::spawn(async move {
                    let observer = || observer.lock().unwrap_or_else(PoisonError::into_inner);
                    // Whichever side ends first takes the other with it.
                    tokio::select! {
                        () = pass_on(from_client, to_server, &requests, |bytes| observer().requests(bytes)) => {}
                        () = pass_on(from_server, to_client, &answers, |bytes| observer().answers(bytes)) => {}
                    }
                });
            }
        });
        proxy
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts the connection that carries the server's next answer, after `bytes` of it.
    pub fn cut_answer_after(&self, bytes: u32) {
        self.answers.store(i64::from(bytes), Ordering::SeqCst);
    }

    /// Cuts the connection that carries the next request, after `bytes` of it.
    pub fn cut_request_after(&self, bytes: u32) {
        self.requests.store(i64::from(bytes), Ordering::SeqCst);
    }

    /// Takes back what was said of cuts and has not come to pass.
    pub fn cut_no_more(&self) {
        self.answers.store(-1, Ordering::SeqCst);
        self.requests.store(-1, Ordering::SeqCst);
    }
}

/// Passes bytes on until the budget is used up, which then is unlimited again for the next connection.
async fn pass_on(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, budget: &AtomicI64, observe: impl Fn(&[u8])) {
    // What is sent in one piece should be seen in one.
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let length = i64::try_from(read).unwrap_or(i64::MAX);
        let left = budget.load(Ordering::SeqCst);
        let cut = left >= 0 && left < length;
        let allowed = if cut { usize::try_from(left).unwrap_or(0) } else { read };
        if left >= 0 {
            budget.store(if cut { -1 } else { left - length }, Ordering::SeqCst);
        }
        observe(&buffer[..allowed]);
        if to.write_all(&buffer[..allowed]).await.is_err() || cut {
            return;
        }
    }
}
