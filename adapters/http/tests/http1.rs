//! Tests of `http1`.
