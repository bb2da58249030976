//! Tests of the link: frames, the protocol step by step, an adversary on the line, and all states of a small model.

mod adversary;
mod explore;
mod frames;
mod line;
mod protocol;
