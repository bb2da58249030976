//! HTTP/1.1: an incremental parser of heads, the framing of bodies, and a writer of heads.
