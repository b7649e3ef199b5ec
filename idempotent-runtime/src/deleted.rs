//! The answer of a handler that deletes.

use http::StatusCode;

/// What a handler that deletes a resource answers with: 204 No Content whether it was there or not.
///
/// DELETE is idempotent (RFC 9110, section 9.2.2): the second one, the one for what never was, and the one for what is
/// another user's, get the same answer as the first, and give nothing away. Say how many rows the statement deleted: if
/// it was more than one, the statement meant more than the resource. The answer is then 500, so that a `#[tx]` handler
/// rolls it back.
///
/// ```
/// use idempotent_runtime::Deleted;
///
/// assert_eq!(Deleted::rows(0).status(), 204);
/// assert_eq!(Deleted::rows(1).status(), 204);
/// assert_eq!(Deleted::rows(2).status(), 500);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it is an answer"]
pub struct Deleted {
    rows: usize,
}

impl Deleted {
    /// The answer of a statement that deleted so many rows.
    ///
    /// ```
    /// # use idempotent_runtime::Deleted;
    /// # fn delete() -> diesel::QueryResult<usize> { Ok(1) }
    /// let answer = Deleted::rows(delete()?);
    /// # let _ = answer; diesel::QueryResult::Ok(())
    /// ```
    pub const fn rows(rows: usize) -> Self {
        Self { rows }
    }

    /// The status of the answer.
    ///
    /// ```
    /// # use idempotent_runtime::Deleted;
    /// assert_eq!(Deleted::rows(0).status(), http::StatusCode::NO_CONTENT);
    /// ```
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self.rows {
            0 | 1 => StatusCode::NO_CONTENT,
            rows => {
                tracing::error!(rows, "a handler that deletes one resource has deleted more");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }
}

impl From<usize> for Deleted {
    fn from(rows: usize) -> Self {
        Self::rows(rows)
    }
}
