//! Lays out both vocabularies, see `src/vocabulary/layout.rs`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

#[path = "src/vocabulary/layout.rs"]
mod layout;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/vocabulary/layout.rs");
    let folder = env::var("OUT_DIR")?;
    for name in ["o200k_base", "cl100k_base"] {
        let encoding = tiktoken::get_encoding(name).ok_or("a vocabulary is missing")?;
        let ids = 0..u32::try_from(encoding.vocab_size())?;
        let tokens: Vec<Vec<u8>> = ids.map(|id| encoding.decode(&[id])).collect();
        fs::write(Path::new(&folder).join(name), laid_out(&tokens)?)?;
    }
    Ok(())
}

fn laid_out(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Box<dyn Error>> {
    // A quarter free or more, so that searches are short.
    let mut slots = vec![0_u32; (tokens.len() * 5 / 4).next_power_of_two()];
    let mut ends = Vec::with_capacity(tokens.len());
    let mut bytes = Vec::new();
    for (id, token) in (1..).zip(tokens) {
        let (begin, tag) = layout::place(token);
        let free = (begin..).map(|at| at & (slots.len() - 1)).find(|at| slots[*at] == 0);
        slots[free.ok_or("there is no free slot")?] = tag | id;
        bytes.extend_from_slice(token);
        ends.push(u32::try_from(bytes.len())?);
    }
    if tokens.len() >= 1 << layout::ID_BITS {
        return Err("there are too many tokens for a slot".into());
    }
    let counts = [u32::try_from(slots.len())?, u32::try_from(tokens.len())?];
    assert_eq!(size_of_val(&counts), layout::HEADER_BYTES, "the header has these counts");
    let numbers = counts.into_iter().chain(slots).chain(ends);
    Ok(numbers.flat_map(u32::to_le_bytes).chain(bytes).collect())
}
