//! A text that is put together while the user's crate is compiled.

/// A text of up to 2,000 bytes; what is beyond is left out.
pub(crate) struct Message {
    bytes: [u8; 2_000],
    len: usize,
    items: usize,
}

impl Message {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 2_000], len: 0, items: 0 }
    }

    pub(crate) const fn push(&mut self, text: &str) -> &mut Self {
        if self.len + text.len() <= self.bytes.len() {
            let text = text.as_bytes();
            let mut n = 0;
            while n < text.len() {
                self.bytes[self.len] = text[n];
                self.len += 1;
                n += 1;
            }
        }
        self
    }

    /// One of a list of names.
    pub(crate) const fn item(&mut self, name: &str) -> &mut Self {
        if self.items > 0 {
            self.push(", ");
        }
        self.items += 1;
        self.push("`").push(name).push("`")
    }

    pub(crate) const fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

/// Whether two names are the same.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut n = 0;
    while n < a.len() {
        if a[n] != b[n] {
            return false;
        }
        n += 1;
    }
    true
}
