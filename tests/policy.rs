//! The gate's engine: the corpus of cases, the contexts that evasions hide in, the profiles, and scripts that no
//! person would write.

#[path = "policy/corpus.rs"]
mod corpus;
#[path = "policy/support.rs"]
mod support;
