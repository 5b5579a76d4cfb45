//! Kafka's JSON form as Jackson writes it, and the same inside a CSV cell.

use crate::fields::Sink;
use crate::{NotPlain, Plain};

const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Two digits of a uuid's text at a time.
static URL_PAIRS: [[u8; 2]; 4096] = pairs();
/// Doubles are whole numbers below this, and the text of one is its digits.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// What is shown in place of a secret.
pub const MASK: &[u8] = b"[redacted]";
const WITHOUT_EXPONENT: f64 = 1e7;

const fn pairs() -> [[u8; 2]; 4096] {
    let mut pairs = [[0; 2]; 4096];
    let mut index = 0;
    while index < 4096 {
        pairs[index] = [URL[index >> 6], URL[index & 63]];
        index += 1;
    }
    pairs
}

/// The bytes that a JSON string cannot have as they are.
static ESCAPED: [bool; 256] = escaped();

const fn escaped() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
}

/// Writes JSON behind what is in the buffer. With `CSV` every quote is doubled.
pub struct Json<'a, const CSV: bool> {
    pub out: &'a mut Vec<u8>,
}

impl<const CSV: bool> Json<'_, CSV> {
    fn quote(&mut self) {
        self.out.extend_from_slice(if CSV { b"\"\"" } else { b"\"" });
    }
}

pub fn push_int(out: &mut Vec<u8>, value: i64) {
    // Most numbers of a log are ids of brokers and epochs: a digit or two.
    if (0..10).contains(&value) {
        out.push(b'0' + value as u8);
        return;
    }
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(value).as_bytes());
}

/// Kafka's text of a uuid: 22 digits of base64.
pub fn push_uuid(out: &mut Vec<u8>, value: &[u8; 16]) {
    let mut text = [0u8; 22];
    for group in 0..5 {
        let [a, b, c] = [value[3 * group], value[3 * group + 1], value[3 * group + 2]];
        let high = usize::from(a) << 4 | usize::from(b) >> 4;
        let low = usize::from(b & 15) << 8 | usize::from(c);
        text[4 * group..4 * group + 2].copy_from_slice(&URL_PAIRS[high]);
        text[4 * group + 2..4 * group + 4].copy_from_slice(&URL_PAIRS[low]);
    }
    text[20..].copy_from_slice(&URL_PAIRS[usize::from(value[15]) << 4]);
    out.extend_from_slice(&text);
}

/// Bytes in base64, with padding.
pub fn push_base64(out: &mut Vec<u8>, value: &[u8]) {
    for group in value.chunks(3) {
        let [a, b, c] = [group[0], *group.get(1).unwrap_or(&0), *group.get(2).unwrap_or(&0)];
        let digits = [a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63];
        for (index, digit) in digits.iter().enumerate() {
            let is_padding = index > group.len();
            out.push(if is_padding { b'=' } else { STANDARD[usize::from(*digit)] });
        }
    }
}

impl<const CSV: bool> Sink for Json<'_, CSV> {
    fn raw(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn int(&mut self, value: i64) {
        push_int(self.out, value);
    }

    /// Whole numbers only: Java and others differ in the digits of the rest.
    fn double(&mut self, value: f64) -> Plain<()> {
        let is_whole = value.is_finite() && value.trunc() == value && value.abs() < EXACT;
        if !is_whole || (value == 0.0 && value.is_sign_negative()) {
            return Err(NotPlain);
        }
        let whole = value as i64;
        if value.abs() < WITHOUT_EXPONENT {
            push_int(self.out, whole);
            self.out.extend_from_slice(b".0");
            return Ok(());
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(whole.unsigned_abs());
        let shown = digits.trim_end_matches('0');
        if value < 0.0 {
            self.out.push(b'-');
        }
        self.raw(&shown.as_bytes()[..1]);
        self.out.push(b'.');
        self.raw(if shown.len() > 1 { &shown.as_bytes()[1..] } else { b"0" });
        self.out.push(b'E');
        push_int(self.out, digits.len() as i64 - 1);
        Ok(())
    }

    fn uuid(&mut self, value: &[u8; 16]) {
        self.quote();
        push_uuid(self.out, value);
        self.quote();
    }

    fn text(&mut self, value: &str) {
        self.quote();
        let bytes = value.as_bytes();
        let mut from = 0;
        while let Some(next) = bytes[from..].iter().position(|byte| ESCAPED[usize::from(*byte)]) {
            let at = from + next;
            self.out.extend_from_slice(&bytes[from..at]);
            match bytes[at] {
                b'"' => {
                    self.out.push(b'\\');
                    self.quote();
                }
                b'\\' => self.raw(b"\\\\"),
                b'\x08' => self.raw(b"\\b"),
                b'\t' => self.raw(b"\\t"),
                b'\n' => self.raw(b"\\n"),
                b'\x0c' => self.raw(b"\\f"),
                b'\r' => self.raw(b"\\r"),
                other => {
                    let hex = |digit: u8| b"0123456789ABCDEF"[usize::from(digit)];
                    self.raw(&[b'\\', b'u', b'0', b'0', hex(other >> 4), hex(other & 15)]);
                }
            }
            from = at + 1;
        }
        self.out.extend_from_slice(&bytes[from..]);
        self.quote();
    }

    fn bytes(&mut self, value: &[u8]) {
        self.quote();
        push_base64(self.out, value);
        self.quote();
    }

    fn mask(&mut self) {
        self.quote();
        self.raw(MASK);
        self.quote();
    }

    fn mark(&self) -> usize {
        self.out.len()
    }

    fn take_back(&mut self, mark: usize) {
        self.out.truncate(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Json<false>)) -> String {
        let mut out = Vec::new();
        write(&mut Json { out: &mut out });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_doubles_are_written_as_java_does() {
        for (value, text) in [
            (0.0, "0.0"),
            (-3.0, "-3.0"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-1.048_576e7, "-1.048576E7"),
            (123_456_789_012_345.0, "1.23456789012345E14"),
        ] {
            assert_eq!(written(|json| json.double(value).unwrap()), text);
        }
    }

    #[test]
    fn doubles_that_are_not_whole_are_left_to_others() {
        let mut out = Vec::new();
        for value in [1.000_007_629_394_531_25, -0.0, f64::NAN, f64::INFINITY, 1e16, 0.5] {
            assert_eq!(Json::<false> { out: &mut out }.double(value), Err(NotPlain));
        }
        assert!(out.is_empty());
    }

    #[test]
    fn text_is_escaped_as_jackson_does() {
        assert_eq!(
            written(|json| json.text("a\"b\\c\n\u{1f}\u{7f}é")),
            "\"a\\\"b\\\\c\\n\\u001F\u{7f}é\""
        );
        assert_eq!(written(|json| json.bytes(b"abcd")), "\"YWJjZA==\"");
        assert_eq!(written(|json| json.uuid(&[0xff; 16])), "\"_____________________w\"");
    }
}
