//! The scripted agent as a host sees it: `behaviour` (protocol and work), `unpleasant` (what a host must survive),
//! `script` (the demo's own scenario), and `contract`, `newer` and `asked`, which hold it beside the recordings of the
//! real CLI.

mod asked;
mod behaviour;
mod contract;
mod host;
mod newer;
mod script;
mod unpleasant;
