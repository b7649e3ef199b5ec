//! A database on a server: each test has one of its own there.

/// `Database` on the server of an environment variable: `$db` is its connection, `$create` and `$drop` what is said to the
/// server before and after the name, `$nowhere` a URL at which there is none, `$port` the port of one that names none, and
/// `$there` what a URL says at its end so that nothing but its host and port is connected to.
macro_rules! server_database {
    ($db:ty, $create:literal, $drop:literal, $nowhere:literal, $port:literal, $there:literal) => {
        /// A database that goes with its test.
        #[derive(Debug)]
        pub struct Database {
            server: String,
            name: String,
        }

        impl Database {
            /// An empty database; `None` if there is no server.
            ///
            /// # Panics
            ///
            /// If the server refuses.
            #[must_use]
            pub async fn fresh() -> Option<Self> {
                let Ok(server) = std::env::var(VARIABLE) else {
                    crate::leave_out(NAME, VARIABLE);
                    return None;
                };
                let name = format!("test_{}", uuid::Uuid::new_v4().simple());
                execute(&server, &format!($create, name = name)).await;
                Some(Self { server, name })
            }

            /// Where it is.
            ///
            /// # Panics
            ///
            /// If its variable has no path.
            #[must_use]
            pub fn location(&self) -> String {
                let (base, _) = self.server.rsplit_once('/').expect("a URL with a path, such as that of a database");
                format!("{base}/{}", self.name)
            }

            /// The host of its server, and the port if its variable names one.
            fn host(&self) -> &str {
                let (_, rest) = self.server.split_once("://").expect("a URL with a scheme");
                let (authority, _) = rest.split_once('/').expect("a URL with a path, such as that of a database");
                authority.rsplit_once('@').map_or(authority, |(_, host)| host)
            }

            /// The host and port of its server.
            ///
            /// # Panics
            ///
            /// If its variable names none.
            #[must_use]
            pub fn server(&self) -> String {
                let host = self.host();
                if host.contains(':') { host.to_owned() } else { format!("{host}:{}", $port) }
            }

            /// Where it is, behind a proxy.
            fn location_behind(&self, proxy: &crate::proxy::Proxy) -> String {
                let location = self.location() + $there;
                location.replacen(&format!("{}/", self.host()), &format!("{}/", proxy.address()), 1)
            }

            /// A pool whose connections go through a proxy.
            #[must_use]
            pub fn pool_through(&self, proxy: &crate::proxy::Proxy, size: usize) -> Pool<$db> {
                pool_at(&self.location_behind(proxy), size, |_| {})
            }

            /// A pool of one connection, and what goes over its wire.
            ///
            /// # Panics
            ///
            /// If the pool cannot be built.
            pub async fn counted(&self) -> (Pool<$db>, crate::wire::Wire) {
                let wire = crate::wire::Wire::default();
                let observed = wire.clone();
                let observer = move || Conversation::new(observed.clone());
                let proxy = crate::proxy::Proxy::observed(self.server(), observer).await;
                (recycled(&self.location_behind(&proxy), 1, wire.recycling(), |_| {}), wire)
            }

            /// A pool of `size` connections.
            #[must_use]
            pub fn pool(&self, size: usize) -> Pool<$db> {
                self.pool_with(size, |_| {})
            }

            /// A pool whose connections are prepared by `prepare`.
            ///
            /// # Panics
            ///
            /// If the pool cannot be built.
            #[must_use]
            pub fn pool_with(
                &self,
                size: usize,
                prepare: impl Fn(&mut $db) + Clone + Send + Sync + 'static,
            ) -> Pool<$db> {
                pool_at(&self.location(), size, prepare)
            }

            /// A pool of bb8.
            ///
            /// # Panics
            ///
            /// If the pool cannot be built.
            pub async fn bb8(&self) -> diesel_async::pooled_connection::bb8::Pool<$db> {
                let manager = AsyncDieselConnectionManager::new(self.location());
                diesel_async::pooled_connection::bb8::Pool::builder()
                    .build(manager)
                    .await
                    .expect("the pool can be built")
            }

            /// A pool over a database that is not there.
            ///
            /// # Panics
            ///
            /// If the pool cannot be built.
            #[must_use]
            pub fn unreachable() -> Pool<$db> {
                let manager = AsyncDieselConnectionManager::new($nowhere);
                Pool::builder(manager).max_size(1).build().expect("the pool can be built")
            }
        }

        /// A pool of blocking connections over the database of a URL.
        ///
        /// # Panics
        ///
        /// If the pool cannot be built.
        #[must_use]
        pub fn blocking_pool(url: &str, size: u32) -> diesel::r2d2::Pool<diesel::r2d2::ConnectionManager<Blocking>> {
            let manager = diesel::r2d2::ConnectionManager::new(url);
            diesel::r2d2::Pool::builder()
                .max_size(size)
                .min_idle(Some(0))
                .build(manager)
                .expect("the pool can be built")
        }

        /// A pool over the database of a URL.
        ///
        /// # Panics
        ///
        /// If the pool cannot be built.
        #[must_use]
        pub fn pool_at(
            url: &str,
            size: usize,
            prepare: impl Fn(&mut $db) + Clone + Send + Sync + 'static,
        ) -> Pool<$db> {
            recycled(url, size, RecyclingMethod::default(), prepare)
        }

        /// One that does this with a connection before it gives it out again.
        ///
        /// # Panics
        ///
        /// If the pool cannot be built.
        #[must_use]
        pub fn recycled(
            url: &str,
            size: usize,
            recycling: RecyclingMethod<$db>,
            prepare: impl Fn(&mut $db) + Clone + Send + Sync + 'static,
        ) -> Pool<$db> {
            let mut config = ManagerConfig::default();
            config.recycling_method = recycling;
            config.custom_setup = Box::new(move |url| {
                let (url, prepare) = (url.to_owned(), prepare.clone());
                async move {
                    let mut conn = <$db>::establish(&url).await?;
                    prepare(&mut conn);
                    Ok(conn)
                }
                .boxed()
            });
            let manager = AsyncDieselConnectionManager::new_with_config(url, config);
            Pool::builder(manager).max_size(size).build().expect("the pool can be built")
        }

        impl Drop for Database {
            fn drop(&mut self) {
                let (server, name) = (self.server.clone(), self.name.clone());
                let dropping = std::thread::spawn(move || {
                    let runtime =
                        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                    runtime.block_on(execute(&server, &format!($drop, name = name)));
                });
                let _ = dropping.join();
            }
        }

        async fn execute(url: &str, sql: &str) {
            let mut conn = <$db>::establish(url).await.expect("the server of the variable answers");
            conn.batch_execute(sql).await.expect("the user of the variable may create databases");
        }
    };
}
pub(crate) use server_database;
