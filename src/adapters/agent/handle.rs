//! The handle on a running Claude, and what it shares with the drain thread.

use super::event::Exit;
use super::orders::{Signal, Write};
use super::orphans::Family;
use super::pending::Pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use tokio::sync::{mpsc, watch};

/// What is shared with the drain thread.
#[derive(Debug)]
pub(super) struct Pulse {
    pub(super) last_byte: AtomicI64,
    /// Zero before the first.
    pub(super) last_answer: AtomicI64,
    pub(super) in_turn: AtomicBool,
    pub(super) pending: Pending,
}

/// One running Claude. Dropping it kills the process and sweeps what it left.
#[derive(Debug)]
pub struct Agent {
    pub(super) pid: u32,
    pub(super) writer: mpsc::Sender<Write>,
    pub(super) signals: mpsc::Sender<Signal>,
    pub(super) pulse: Arc<Pulse>,
    pub(super) turns: watch::Receiver<u64>,
    pub(super) exit: watch::Receiver<Option<Exit>>,
    pub(super) family: Arc<Family>,
}
