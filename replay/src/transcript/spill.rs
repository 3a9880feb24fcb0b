//! The store of packed conversations: memory up to a limit, then a temporary file without a name, which the system removes
//! however the program ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Packed conversations, each at its place.
#[derive(Debug)]
pub(super) struct Spill {
    memory_bytes_max: usize,
    held: Mutex<SpillState>,
}

#[derive(Debug, Default)]
struct SpillState {
    memory: Vec<Arc<[u8]>>,
    memory_bytes: usize,
    file: Option<File>,
    file_bytes: u64,
    /// No temporary file is available, so everything stays in memory.
    no_file: bool,
}

/// A place in the store.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    /// Index among the pieces in memory.
    Memory(usize),
    /// In the file.
    File {
        /// Its first byte.
        at: u64,
        /// Its length in bytes.
        bytes: usize,
    },
}

impl Spill {
    pub const fn new(memory_bytes_max: usize) -> Self {
        let held = SpillState { memory: Vec::new(), memory_bytes: 0, file: None, file_bytes: 0, no_file: false };
        Self { memory_bytes_max, held: Mutex::new(held) }
    }

    /// Stores bytes. If the disk is full they stay in memory: nothing is lost.
    pub fn put(&self, bytes: Vec<u8>) -> Spot {
        let mut held = self.held();
        if held.memory_bytes + bytes.len() > self.memory_bytes_max
            && let Some(spot) = held.spill(&bytes)
        {
            return spot;
        }
        held.memory_bytes += bytes.len();
        held.memory.push(bytes.into());
        Spot::Memory(held.memory.len() - 1)
    }

    /// Whether all of it is in memory.
    pub fn is_in_memory(&self) -> bool {
        self.held().file.is_none()
    }

    /// Reads the bytes stored there. Other threads wait for the file only.
    pub fn read<T>(&self, spot: Spot, read: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
        let held = self.held();
        match (spot, &held.file) {
            (Spot::Memory(at), _) => {
                let bytes = held.memory[at].clone();
                drop(held);
                Ok(read(&bytes))
            }
            (Spot::File { at, bytes }, Some(file)) => {
                let mut file: &File = file;
                let mut found = vec![0; bytes];
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(&mut found)?;
                drop(held);
                Ok(read(&found))
            }
            (Spot::File { .. }, None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// If a thread panicked while it held the lock, at most its own piece is lost.
    fn held(&self) -> MutexGuard<'_, SpillState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpillState {
    fn spill(&mut self, bytes: &[u8]) -> Option<Spot> {
        if self.no_file {
            return None;
        }
        match self.append(bytes) {
            Ok(at) => Some(Spot::File { at, bytes: bytes.len() }),
            Err(_) => {
                self.no_file = true;
                None
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.file_bytes))?;
        file.write_all(bytes)?;
        let at = self.file_bytes;
        self.file_bytes += bytes.len() as u64;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::{Spill, Spot};

    #[test]
    fn what_is_put_away_comes_back_from_memory_and_from_the_file() {
        let spill = Spill::new(10);
        let pieces: Vec<Vec<u8>> = (1..8).map(|number| vec![number; usize::from(number)]).collect();
        let spots: Vec<Spot> = pieces.iter().map(|piece| spill.put(piece.clone())).collect();
        let in_memory = spots.iter().filter(|spot| matches!(spot, Spot::Memory(_))).count();
        assert_eq!(in_memory, 4, "1 + 2 + 3 + 4 bytes fit");
        for (piece, spot) in pieces.iter().zip(spots).rev() {
            assert_eq!(&spill.read(spot, <[u8]>::to_vec).unwrap(), piece);
        }
    }
}
