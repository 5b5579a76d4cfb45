//! What was made of the same bytes a short while ago.

const BITS: u32 = 12;
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// Keeps a value for each of a few thousand keys; a new key takes the place of an old one.
pub struct Recent<T> {
    slots: Vec<Option<(Vec<u8>, T)>>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { slots: Vec::new() }
    }
}

impl<T> Recent<T> {
    pub fn get<E>(&mut self, key: &[u8], make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if self.slots.is_empty() {
            self.slots.resize_with(1 << BITS, || None);
        }
        let slot = &mut self.slots[place(key)];
        if !matches!(slot, Some((kept, _)) if kept == key) {
            *slot = Some((key.to_vec(), make()?));
        }
        match slot {
            Some((_, value)) => Ok(value),
            None => unreachable!("it was filled"),
        }
    }
}

fn place(key: &[u8]) -> usize {
    let mut hash = key.len() as u64;
    let mut words = key.chunks_exact(8);
    let mut add = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    for word in &mut words {
        add(word.try_into().map_or(0, u64::from_be_bytes));
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        add(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    (hash >> (64 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_while_it_is_recent_and_never_that_of_another_key() {
        let mut recent = Recent::default();
        let mut made = 0;
        for round in 0..3u32 {
            for number in 0..20_000u32 {
                let key = number.to_be_bytes();
                let value = recent.get(&key, || {
                    made += 1;
                    Ok::<_, ()>(number)
                });
                assert_eq!(value, Ok(&number), "in round {round}");
            }
        }
        let before = made;
        assert!(recent.get(&19_999u32.to_be_bytes(), || Err(())).is_ok());
        assert_eq!(made, before);
    }
}
