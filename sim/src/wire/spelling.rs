//! spelling
