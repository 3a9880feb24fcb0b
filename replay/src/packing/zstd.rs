//! Zstandard: all frames of a stream, and the content of a broken frame before the break.
//!
//! The decoder reads one frame and holds its last window (up to some megabytes) back until the frame ends. A frame that
//! breaks off is closed with an empty last block, so that the window is returned before the error.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A last block, raw, of no bytes, and room for a checksum (RFC 8878, section 3.1.1.2).
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Reads frame after frame.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Inside a frame.
    open: bool,
    /// The error to report after everything before it was read.
    fault: Option<Error>,
}

impl<R: BufRead> Frames<R> {
    /// Begins with the first frame of `source`.
    pub fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), open: false, fault: None }
    }

    /// Opens the next frame; `false` at the end of the source.
    fn open_next(&mut self) -> Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = std::io::copy(&mut (&mut self.source).take(u64::from(length)), &mut std::io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(FrameDecoderError::ReadFrameHeaderError(
                    ReadFrameHeaderError::FrameDescriptorReadError(error)
                    | ReadFrameHeaderError::MagicNumberReadError(error),
                )) => return Err(error),
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Decodes one block; if that fails, closes the frame.
    fn decode(&mut self) {
        let block = BlockDecodingStrategy::UptoBlocks(1);
        if let Err(error) = self.decoder.decode_blocks(&mut self.source, block) {
            self.fault = Some(Error::other(error));
            let closed = self.decoder.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::UptoBlocks(1));
            self.open = closed.is_ok();
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        loop {
            if self.open && self.decoder.can_collect() > 0 {
                return self.decoder.read(out);
            }
            if let Some(fault) = self.fault.take() {
                self.open = false;
                return Err(fault);
            }
            match self.open && !self.decoder.is_finished() {
                true => self.decode(),
                false if self.open_next()? => {}
                false => return Ok(0),
            }
        }
    }
}
