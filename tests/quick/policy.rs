//! The gate's engine: the corpus of cases, the contexts that evasions hide in, the profiles, and scripts that no
//! person would write.

mod attacks;
mod canary;
mod contexts;
mod corpus;
mod everyday;
mod files;
mod foreign;
mod grammar;
mod guarded;
mod kinds;
mod ordinary;
mod readings;
mod scratch;
mod scripts;
mod support;
mod tools;
