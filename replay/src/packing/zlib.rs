//! Deflate with or without the frame of zlib. For the decoders of flate2 an early end of the source is the end of the
//! data; here it is an error, as for the other compressions.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::{Decompress, FlushDecompress, Status};

/// Decompresses one stream.
pub(super) struct Inflater<R> {
    source: R,
    state: Decompress,
    ended: bool,
}

impl<R: BufRead> Inflater<R> {
    /// `framed`: with header and checksum of zlib.
    pub fn new(source: R, framed: bool) -> Self {
        Self { source, state: Decompress::new(framed), ended: false }
    }
}

impl<R: BufRead> Read for Inflater<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.ended || out.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.source.fill_buf()?;
            let at_end = input.is_empty();
            let (taken_before, given_before) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, out, FlushDecompress::None);
            let taken = (self.state.total_in() - taken_before) as usize;
            let given = (self.state.total_out() - given_before) as usize;
            self.source.consume(taken);
            match status {
                Ok(Status::StreamEnd) => {
                    self.ended = true;
                    return Ok(given);
                }
                Ok(_) if given > 0 => return Ok(given),
                Ok(_) if at_end => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) if taken == 0 => return Err(Error::new(ErrorKind::InvalidData, "no deflate stream")),
                Ok(_) => {}
                Err(error) => return Err(Error::new(ErrorKind::InvalidData, error)),
            }
        }
    }
}
