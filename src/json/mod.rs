//! JSON: scanner, views, writer.
