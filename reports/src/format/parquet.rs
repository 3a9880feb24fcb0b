//! The table of requests as a Parquet file, with typed columns: amounts are decimals with all their digits.
//!
//! Only with the feature `parquet`, for the library takes longer to build than it is worth to most.

#[cfg(feature = "parquet")]
mod file;

#[cfg(feature = "parquet")]
pub use file::write;

/// Whether this build writes such files.
pub const IS_BUILT: bool = cfg!(feature = "parquet");

/// Writes nothing.
///
/// # Errors
/// Always, for this build has no Parquet.
#[cfg(not(feature = "parquet"))]
pub fn write(_: &crate::report::Report<'_>, _: &mut (dyn std::io::Write + Send)) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
