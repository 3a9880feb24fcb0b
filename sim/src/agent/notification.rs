//! What a background task tells when it ends (contract NOTIFY).
