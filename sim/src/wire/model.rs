//! The model table: from any spelling to a model.
