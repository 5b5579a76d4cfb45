//! Kafka's JSON form as Jackson writes it, and the same inside a CSV cell.

use crate::fields::Sink;
use crate::program::Label;
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

/// Numbers of up to three digits, and how many digits each has.
static SMALL: [[u8; 4]; 1000] = small();

const fn small() -> [[u8; 4]; 1000] {
    let mut texts = [[0; 4]; 1000];
    let mut number = 0;
    while number < 1000 {
        let digits = [
            b'0' + (number / 100) as u8,
            b'0' + (number / 10 % 10) as u8,
            b'0' + (number % 10) as u8,
        ];
        let size = if number < 10 {
            1
        } else if number < 100 {
            2
        } else {
            3
        };
        let mut at = 0;
        while at < size {
            texts[number][at] = digits[3 - size + at];
            at += 1;
        }
        texts[number][3] = size as u8;
        number += 1;
    }
    texts
}

/// The texts of uuids that were written a short while ago. A log names few topics and directories,
/// and each of them often.
pub struct UuidTexts(Box<[([u8; 16], [u8; UUID]); UUIDS]>);

const UUID: usize = 22;
const UUIDS: usize = 256;

impl Default for UuidTexts {
    fn default() -> Self {
        let none = [0; 16];
        UuidTexts(Box::new([(none, uuid_text(&none)); UUIDS]))
    }
}

impl UuidTexts {
    fn text(&mut self, value: &[u8; 16]) -> &[u8; UUID] {
        let slot = &mut self.0[usize::from(value[15])];
        if slot.0 != *value {
            *slot = (*value, uuid_text(value));
        }
        &slot.1
    }
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
    pub uuids: &'a mut UuidTexts,
}

impl<const CSV: bool> Json<'_, CSV> {
    #[inline]
    fn quote(&mut self) {
        self.out.extend_from_slice(if CSV { b"\"\"" } else { b"\"" });
    }
}

/// Write the first bytes of a piece whose size the compiler knows: it copies that in a step or two,
/// where a size that is not known needs a call.
#[inline]
pub fn push_part<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], size: usize) {
    let end = out.len() + size.min(N);
    out.extend_from_slice(piece);
    out.truncate(end);
}

#[inline]
pub fn push_int(out: &mut Vec<u8>, value: i64) {
    // Most numbers of a log are ids of brokers and epochs.
    if (0..SMALL.len() as i64).contains(&value) {
        let text = &SMALL[value as usize];
        push_part(out, text, usize::from(text[3]));
    } else {
        push_large(out, value);
    }
}

fn push_large(out: &mut Vec<u8>, value: i64) {
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(value).as_bytes());
}

/// Kafka's text of a uuid: 22 digits of base64.
fn uuid_text(value: &[u8; 16]) -> [u8; UUID] {
    let mut text = [0u8; UUID];
    for group in 0..5 {
        let [a, b, c] = [value[3 * group], value[3 * group + 1], value[3 * group + 2]];
        let high = usize::from(a) << 4 | usize::from(b) >> 4;
        let low = usize::from(b & 15) << 8 | usize::from(c);
        text[4 * group..4 * group + 2].copy_from_slice(&URL_PAIRS[high]);
        text[4 * group + 2..4 * group + 4].copy_from_slice(&URL_PAIRS[low]);
    }
    text[20..].copy_from_slice(&URL_PAIRS[usize::from(value[15]) << 4]);
    text
}

pub fn push_uuid(out: &mut Vec<u8>, value: &[u8; 16]) {
    out.extend_from_slice(&uuid_text(value));
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
    #[inline]
    fn raw(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    #[inline]
    fn label(&mut self, label: &Label, is_first: bool) {
        match label.short(is_first) {
            Some((piece, size)) => push_part(self.out, piece, size),
            None => self.raw(label.text(is_first)),
        }
    }

    #[inline]
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
        self.out.extend_from_slice(self.uuids.text(value));
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
        write(&mut Json { out: &mut out, uuids: &mut UuidTexts::default() });
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
            let mut json = Json::<false> { out: &mut out, uuids: &mut UuidTexts::default() };
            assert_eq!(json.double(value), Err(NotPlain));
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

    #[test]
    fn numbers_have_their_digits() {
        let edges = [0, 9, 10, 99, 100, 999, 1000, 999_999, i64::MAX, -1, -1000, i64::MIN];
        for value in (-2000..12_000).chain(edges) {
            let mut out = b"x".to_vec();
            push_int(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), format!("x{value}"));
        }
    }

    #[test]
    fn a_uuid_that_takes_the_place_of_another_has_its_own_text() {
        let mut out = Vec::new();
        let mut uuids = UuidTexts::default();
        for first in [0, 1, 0, 0xff, 1] {
            let mut json = Json::<false> { out: &mut out, uuids: &mut uuids };
            let mut value = [0; 16];
            value[0] = first;
            json.uuid(&value);
            let mut alone = Vec::new();
            push_uuid(&mut alone, &value);
            assert_eq!(out[1..23], alone);
            out.clear();
        }
    }
}
