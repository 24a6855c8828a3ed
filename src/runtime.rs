//! Where the pure core meets the world: one task for each ticket, which turns what happens into inputs,
//! stores what the core decides, tells the front ends and performs the effects.

pub mod app;
pub mod channels;
pub mod chat_log;
pub mod commits;
pub mod doctor;
pub mod editing;
pub mod effects;
pub mod export;
pub mod find;
pub mod forking;
pub mod gate;
pub mod headless;
pub mod heard;
pub mod offline;
pub mod others;
pub mod policy_engine;
pub mod prompts;
pub mod report;
pub mod reporter;
pub mod restoring;
pub mod review;
pub mod rules_watch;
pub mod sampled;
pub mod shutdown;
pub mod stats;
pub mod storage;
pub mod supervisor;
pub mod ticket_file;
pub mod ticket_runs;
pub mod ticket_task;
pub mod ticking;
pub mod timeline;
pub mod translate;
pub mod wishes;
