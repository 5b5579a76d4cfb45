//! Random batches and programs: what `properties` says holds of them.
//!
//! KRAFTOOL_FUZZ_SECONDS says for how long. `fuzz/` looks for more, going by coverage.

mod properties;

use std::time::{Duration, Instant};

use kraftool_core::program::parse;
use properties::{Case, check};

const KINDS: &[u8] = b"?bhHiIqdutx";

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

fn seconds() -> Duration {
    let asked = std::env::var("KRAFTOOL_FUZZ_SECONDS").ok();
    Duration::from_secs(asked.and_then(|text| text.parse().ok()).unwrap_or(2))
}

/// A struct of a few fields, some of them tagged, lists, or structs.
fn program(random: &mut Random, depth: usize) -> Vec<u8> {
    let count = 1 + random.below(4);
    let mut out = (count as u16).to_be_bytes().to_vec();
    for index in 0..count {
        let label = format!(",\"f{index}\":");
        out.extend((label.len() as u16).to_be_bytes());
        out.extend(label.as_bytes());
        let is_tagged = random.below(3) == 0;
        out.push(random.below(2) as u8 | if is_tagged { 2 } else { 0 });
        if is_tagged {
            out.extend((index as u32).to_be_bytes());
            out.extend([0, 1, 0]);
        }
        match random.below(8) {
            0 => out.push(b'['),
            1 => {
                out.extend([b'm', b't']);
                continue;
            }
            _ => {}
        }
        if depth < 2 && random.below(4) == 0 {
            out.push(b'{');
            out.extend(program(random, depth + 1));
        } else {
            out.push(KINDS[random.below(KINDS.len())]);
        }
    }
    out
}

fn varint(out: &mut Vec<u8>, value: usize) {
    let mut rest = value << 1;
    while rest > 0x7f {
        out.push(rest as u8 & 0x7f | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// A batch with a right CRC whose records have random messages, now and then in a wrong form.
fn batch(random: &mut Random, base_offset: i64) -> Vec<u8> {
    let count = 1 + random.below(3);
    let mut body = Vec::new();
    for index in 0..count {
        let mut value = vec![1, random.below(4) as u8, 0];
        for _ in 0..random.below(24) {
            // Small numbers are lengths that fit, and zeros end structs.
            let byte =
                if random.below(4) == 0 { random.next() as u8 } else { random.below(3) as u8 };
            value.push(byte);
        }
        let mut record = vec![0, 0];
        varint(&mut record, index);
        record.push(1);
        varint(&mut record, value.len());
        record.extend(value);
        record.push(0);
        varint(&mut body, record.len());
        body.extend(record);
    }
    let mut out = base_offset.to_be_bytes().to_vec();
    out.extend((49 + body.len() as i32).to_be_bytes());
    out.extend(1i32.to_be_bytes());
    out.push(2);
    out.extend([0; 4]);
    out.extend(0i16.to_be_bytes());
    out.extend((count as i32 - 1).to_be_bytes());
    out.extend([0; 16]);
    out.extend([0xff; 14]);
    out.extend((count as i32).to_be_bytes());
    out.extend(body);
    if random.below(4) == 0 {
        let at = 21 + random.below(out.len() - 21);
        out[at] ^= 1 << random.below(8);
    }
    let crc = crc32c::crc32c(&out[21..]);
    out[17..21].copy_from_slice(&crc.to_be_bytes());
    if random.below(20) == 0 {
        let at = random.below(out.len());
        out[at] = random.next() as u8;
    }
    out
}

#[test]
fn whatever_one_reader_takes_all_readers_take() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let end = Instant::now() + seconds();
    let mut taken = 0u64;
    while Instant::now() < end {
        let programs = (0..4).map(|api_key| (api_key, 0, program(&mut random, 0))).collect();
        let mut log = Vec::new();
        for number in 0..8 {
            log.extend(batch(&mut random, number * 3));
        }
        taken += check(&Case { programs, log });
    }
    assert!(taken > 0, "nothing was plain");
}

#[test]
fn no_program_is_read_beyond_its_end_or_too_deep() {
    let mut random = Random(7);
    let end = Instant::now() + seconds() / 4;
    while Instant::now() < end {
        let mut bytes = program(&mut random, 0);
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        let _ = parse(&bytes, random.below(2) == 0);
        bytes.truncate(random.below(bytes.len()));
        let _ = parse(&bytes, false);
    }
    let label = [0, 2, b',', b':', 0];
    let deep: Vec<u8> = [0, 1].into_iter().chain(label).chain([b'['; 100_000]).collect();
    assert!(parse(&deep, false).is_err());
}
