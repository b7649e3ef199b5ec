//! `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.

use std::time::{Duration, SystemTime};

use http::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// How long the server asks to wait. A date counts from the server's own `Date`, so that its clock may be another one;
/// what cannot be read asks for nothing.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let asked = text(headers, RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(asked).ok()?;
    let sent = text(headers, DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    Some(date.duration_since(sent.unwrap_or(now)).unwrap_or_default())
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06 08:49:37.
    const NOW: Duration = Duration::from_secs(784_111_777);

    fn read(lines: &[(&'static str, &'static str)]) -> Option<u64> {
        let headers = lines.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        retry_after(&headers, SystemTime::UNIX_EPOCH + NOW).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_and_dates_are_understood() {
        assert_eq!(read(&[("retry-after", "120")]), Some(120));
        assert_eq!(read(&[("retry-after", "0")]), Some(0));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT")]), Some(60));
        assert_eq!(read(&[("retry-after", "Sunday, 06-Nov-94 08:50:37 GMT")]), Some(60));
    }

    #[test]
    fn a_date_counts_from_the_servers_own_clock() {
        let ahead = ("date", "Sun, 06 Nov 1994 09:49:37 GMT");
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 09:49:47 GMT"), ahead]), Some(10));
    }

    #[test]
    fn a_date_that_is_over_asks_for_nothing_more() {
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(0));
    }

    #[test]
    fn what_cannot_be_read_asks_for_nothing() {
        for nonsense in ["", "soon", "-1", "1.5", "99999999999999999999999"] {
            assert_eq!(read(&[("retry-after", nonsense)]), None, "{nonsense:?}");
        }
        assert_eq!(read(&[]), None);
    }
}
