//! Any bytes as programs and a log: what `properties` says holds of them.
#![no_main]

#[path = "../../core/tests/properties/mod.rs"]
mod properties;

use libfuzzer_sys::{Corpus, fuzz_target};
use properties::{Case, check};

fuzz_target!(|data: &[u8]| -> Corpus {
    match Case::of(data) {
        Some(case) => {
            check(&case);
            Corpus::Keep
        }
        None => Corpus::Reject,
    }
});
