//! Everything that touches the world, one module for each thing outside.

pub mod agent;
pub mod clipboard;
pub mod clock;
pub mod config_files;
pub mod docker_daemon;
pub mod editor;
pub mod environment;
pub mod file_watch;
pub mod git;
pub mod logging;
pub mod passphrase;
pub mod path_view;
pub mod policy_file;
pub mod policy_files;
pub mod private_file;
pub mod process_group;
pub mod repository_files;
pub mod room;
pub mod scratch_folder;
pub mod shell;
pub mod store;
pub mod tickets;
pub mod tracked_files;
pub mod trust;
pub mod typed_secret;
pub mod validate;
