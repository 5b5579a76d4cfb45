//! Gives the module the id of its sources, by which Python notices one that is stale.
//!
//! `tools/native_id.py` computes the same.

use std::fs;
use std::path::PathBuf;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

fn main() {
    let mut files: Vec<PathBuf> =
        ["../Cargo.toml", "../Cargo.lock", "../core/Cargo.toml", "Cargo.toml", "build.rs"]
            .map(PathBuf::from)
            .to_vec();
    for folder in ["../core/src", "src"] {
        let mut sources: Vec<PathBuf> = fs::read_dir(folder)
            .expect("the sources")
            .map(|entry| entry.expect("a source").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
            .collect();
        sources.sort();
        files.extend(sources);
    }
    let mut hash = OFFSET;
    for path in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        for byte in fs::read(path).expect("a source") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    }
    println!("cargo::rerun-if-changed=../core/src");
    println!("cargo::rustc-env=KRAFTOOL_BUILD_ID={hash:016x}");
}
