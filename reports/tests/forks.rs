//! Forks in pictures, tables and machine formats: five, and five hundred.

mod fan;
mod output;
mod picture;
