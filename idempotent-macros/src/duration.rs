//! Durations as people write them: `"500ms"`, `"30s"`, `"1h30m"`, `"7d"`.

/// The longest duration that is not `forever`, in milliseconds: 1,000 years.
const MAX_MS: u64 = 1_000 * 366 * 86_400_000;

const UNITS: [(&str, u64); 6] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 7 * 86_400_000)];

/// Milliseconds of a duration, from 1 to 1,000 years; or what is wrong with it.
pub(crate) fn parse_duration(text: &str) -> Result<u64, String> {
    parse(text, "write `ttl = \"forever\"`")
}

/// The same for what must end.
pub(crate) fn parse_finite(text: &str) -> Result<u64, String> {
    parse(text, "write a shorter one")
}

fn parse(text: &str, instead_of_too_long: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "invalid duration `\"{text}\"`; write a number and a unit, such as `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"72h\"` or `\"7d\"`"
        )
    };
    let too_long = || format!("duration `\"{text}\"` is longer than 1,000 years; {instead_of_too_long}");
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = rest.split_at(digits);
        let unit = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = tail.split_at(unit);
        let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        if number.is_empty() {
            return Err(wrong());
        }
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*millis));
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(too_long)?;
        rest = tail;
    }
    match total {
        0 if text.is_empty() => Err(wrong()),
        0 => Err(format!("duration `\"{text}\"` is zero; write at least `\"1ms\"`")),
        total if total > MAX_MS => Err(too_long()),
        total => Ok(total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, millis) in
            [("500ms", 500), ("30s", 30_000), ("1h30m", 5_400_000), ("72h", 259_200_000), ("2w", 1_209_600_000)]
        {
            assert_eq!(parse_duration(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "72", "h", "-1s", "1.5h", "1 h", "72x", "0s", "0h0m", "99999999999999999999s", "400000d"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
