//! Every channel of the program: what goes through it, how much it holds, and what happens when it is full.

/// World → ticket task ([`Input`](crate::orchestrator::input::Input)s). Full: the sender waits; facts must not
/// be lost, and their sources can wait.
pub const INPUTS: usize = 256;

/// Agent → translation ([`AgentEvent`](crate::adapters::agent::AgentEvent)s). Full: the agent's own task waits; the
/// drain of stdout never does. Stream text does not go this way.
pub const AGENT_EVENTS: usize = 256;

/// Runs → front end ([`News`](crate::domain::news::News)). Full: the piece is dropped and the front end is sent the
/// whole run again from the store as soon as there is room; a run never waits for a screen. What answers a wish of the
/// screen's waits for room beside it.
pub const NEWS: usize = 1_024;

/// Screen → program (`Ask`s). Full: the screen waits; a person does not type that fast.
pub const ASKS: usize = 64;

/// File watch → follower of a ticket, or of the rules. Full: dropped; the reader reads the whole file anyway.
pub const CHANGES: usize = 4;
