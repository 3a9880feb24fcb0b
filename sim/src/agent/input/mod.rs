//! How a user's text enters (contract INPUT).
