//! programmator supervises Claude Code while it works through tickets. This page is the map of the code; how to use
//! the program is in the README.
//!
//! # Overview
//!
//! A **ticket** is a markdown file with **phases**. A **run** is programmator at work on one ticket from its start to an
//! exit reason, across restarts. An **iteration** is one call of Claude in a run. Claude ends an iteration with a
//! **claim**, its status block; programmator gathers **evidence** (the changed files and the results of the validation
//! commands) and checks the claim against it. Every fact about a run is a **record** in its journal. Everything that the pure core wants
//! done is an **effect**, carried out at the edge.
//!
//! ```text
//!  keys · Claude's stream · file watches · timers · results of effects
//!                           │
//!                 runtime::translate           outside events become inputs
//!                           ▼
//!                         Input
//!                           │
//!           orchestrator::decide(state, input, now)        pure and total
//!                           │
//!               ┌───────────┴───────────┐
//!            records                 effects
//!               │                       │
//!   1. adapters::store  stored          │                  what is not stored did not happen
//!   2. orchestrator::apply  folded      │
//!   3. News, to front ends              │
//!               │                       ▼
//!               │          4. runtime::effects ──▶ adapters: Claude, git, files, commands
//!               │                       └────────────▶ results come back as Input
//!               ▼
//!   tui::update ▶ tui::view        or runtime::headless, one line each
//! ```
//!
//! Order matters: records are stored before an effect begins, so a run that is killed at any point is resumed by
//! folding its journal and asking `decide` what is still to do. They are synced to disk before an effect that
//! cannot be repeated; records that can be recomputed after a power failure are synced with the next of those. What must not
//! happen twice has a record before it (intended) and one after it (settled). The screen, the printer, `logs` and
//! `replay` fold the same records with the same [`apply`](orchestrator::apply::apply).
//!
//! Claude's output takes another path: a thread drains stdout into a file, verbatim, with an index of
//! 16 bytes a record, and the screen reads the rows that it shows. Records and text meet in [`News`](domain::news::News).
//!
//! A front end (the screen or the headless printer) talks to the service behind it ([`app`](runtime::app)) in two ways: it
//! sends a [`Request`](domain::request::Request) and gets a private reply, and it subscribes to the
//! [`News`](domain::news::News) that every front end receives. Both are plain data. Nothing waits for a front end: one that
//! falls behind reloads the run from the store. A person can be asked if an interactive
//! front end is subscribed when the question comes up.
//!
//! A tool call: Claude asks over stdio → `Input` → the gate ([`policy`]) judges → the verdict is stored → Claude is
//! answered. A verdict that cannot be stored is not given.
//!
//! # Modules
//!
//! Allowed dependencies: `base ◀ domain ◀ {orchestrator, policy} ◀ config`. `tui` uses those five. Adapters use
//! `base`, `domain`, `policy` and `config`. `runtime` uses all of these but `tui`; `cli` wires everything.
//! `tests/quick/architecture.rs` enforces it.
//!
//! **[`base`]** Ids, time, lines of bytes, and [`Clean`](base::text::Clean): text that is safe to show. Time comes in as
//! an argument; the [`Clock`](base::time::Clock) is a trait that the edge implements.
//!
//! **[`domain`]** The nouns. [`ticket`](domain::ticket) reads markdown and finds the byte to change;
//! [`claim`](domain::claim) reads status blocks, broken ones too; [`stream`](domain::stream) reads what Claude prints;
//! [`record`](domain::record) is the journal's schema; [`messages`](domain::messages) turns a record into a log line; [`import`](domain::import) reads the tasks of other programs; [`machine`](domain::machine) is what is at work on one of the person's machines;
//! [`background_work`](domain::background_work) is what goes on after a process of ours was interrupted, [`service_unit`](domain::service_unit) how it is started with the person's session;
//! [`end_answer`](domain::end_answer) is what follows a run's end; [`source_reply`](domain::source_reply) what is told to the issue that a ticket came from;
//! [`workspace`](domain::workspace) is where a run works: locks, sessions, the gate and evidence are bound to it, not to the
//! ticket. Parsing gives a value and its problems.
//!
//! **[`orchestrator`]** The verbs. [`decide`](orchestrator::decide) answers an [`Input`](orchestrator::input::Input) with
//! records and [`Effect`](orchestrator::effect::Effect)s; [`apply`](orchestrator::apply) folds records into the
//! [`State`](orchestrator::state::State). [`judge`](orchestrator::judge) is the table of claims,
//! [`guards`](orchestrator::guards) the reasons to stop, [`prompt`](orchestrator::prompt) builds prompts. The purpose of an
//! iteration is a [`step`](orchestrator::step) of the table [`steps`](orchestrator::steps): a chat turn, drafting phases, work, a
//! critic's review of finished work, fixing what a critic rejected, resolving a conflict with the base, a review of all changes, or
//! an evaluator's final look at the whole ticket.
//!
//! **[`policy`]** The gate: a verdict for every tool call before it runs: the floor, the person's rules, the project's, and a
//! profile (`strict`, `guarded`, `trusted`, `read_only`).
//!
//! **[`config`]** [`key`](config::key) is the table of keys, [`layers`](config::layers) merges files, environment and
//! flags and remembers where each value came from, [`flags`](config::flags) vets the flags that are passed on to
//! Claude, [`hangup`](config::hangup) is for a terminal that is closed, [`away`](config::away) for the phone, [`webhook`](config::webhook) for addresses that are told, [`hosts`](config::hosts) for other machines. Reading files is an adapter's.
//!
//! **[`adapters`]** Everything that does I/O, one module for each thing. [`agent`](adapters::agent): Claude's
//! process, its protocol, its keeper, the steps that stop it, its orphans. [`validate`](adapters::validate): validation commands.
//! Both run in the bash that [`shell`](adapters::shell) finds, with the variables of
//! [`environment`](adapters::environment), a [`scratch_folder`](adapters::scratch_folder) for the run and a
//! [`process_group`](adapters::process_group) that ends as a whole, or in an [`own_session`](adapters::own_session); [`own_program`](adapters::own_program) is where this program is. [`store`](adapters::store): the database,
//! scrollback files, locks, requests of other processes; [`room`](adapters::room) checks for disk space before it
//! is used, [`disk_use`](adapters::disk_use) how much is; [`state_archive`](adapters::state_archive) is a backup of it, which [`state_swap`](adapters::state_swap) puts in its place. [`tickets`](adapters::tickets): finding and changing files. [`git`](adapters::git): evidence, snapshots,
//! commits and worktrees, which [`dependencies`](adapters::dependencies) are copied into; between two iterations it looks at the tree beside an image of it in memory and leaves to git what is not plain.
//! [`chats`](adapters::chats) keeps the files and logs of chats, [`soul`](adapters::soul) reads their `SOUL.md`,
//! [`typed_lines`](adapters::typed_lines) what is typed without the screen, [`context_files`](adapters::context_files) what goes along in each prompt. [`file_watch`](adapters::file_watch) reports changed files, and [`system_watch`](adapters::system_watch) hears of them; [`project_kind`](adapters::project_kind) knows what a
//! repository's files say of it and which commands usually check it.
//!
//! For the gate: [`config_files`](adapters::config_files) and [`policy_files`](adapters::policy_files) are read,
//! [`policy_file`](adapters::policy_file) adds a rule of the person's by way of
//! [`private_file`](adapters::private_file), [`repository_files`](adapters::repository_files) are what a repository
//! brings along, and [`trust`](adapters::trust) knows which of them the person has looked at.
//! [`hook_socket`](adapters::hook_socket) brings it the calls of a session that the person drives;
//! [`person_socket`](adapters::person_socket) brings runs what the person says in another program; both are a [`local_socket`](adapters::local_socket).
//! A run of another machine comes over a command of the person's, [`other_machine`](adapters::other_machine), in
//! [`frames`](adapters::frames), and is kept in a [`copy_folder`](adapters::copy_folder) while it is looked at.
//! What works in the [`background`](adapters::background) of this machine is found there by the host; the host and the phone relay are each a [`sole_process`](adapters::sole_process).
//! Of a Claude that the person has started themselves [`own_claude`](adapters::own_claude) knows whether it waits for our hook, and
//! [`transcript`](adapters::transcript) what it has written down, [`own_stream`](adapters::own_stream) the same as a stream, [`known_sessions`](adapters::known_sessions) which sessions there are and in which terminals, [`own_notices`](adapters::own_notices) what Claude tells there and waits for the phone, [`hook_log`](adapters::hook_log) what our hook did, in a [`bounded_log`](adapters::bounded_log), [`inside`](adapters::inside) whether a file stays in its folder; [`import_source`](adapters::import_source) reads the documents that tasks are imported from, [`issue_tool`](adapters::issue_tool) asks `gh` and the program of beads, each an [`outside_program`](adapters::outside_program), [`source_ledger`](adapters::source_ledger) keeps what was sent to issues; [`jq`](adapters::jq) chooses among JSON lines.
//! [`path_view`](adapters::path_view), [`tracked_files`](adapters::tracked_files) and
//! [`docker_daemon`](adapters::docker_daemon) answer the policy's questions. [`passphrase`](adapters::passphrase) keeps
//! and checks, [`typed_secret`](adapters::typed_secret) reads without an echo. [`beside`](adapters::beside) makes the file that takes the place of another one, [`project_file`](adapters::project_file) is a file of a repository that others write, too, as the settings of the person's own Claude. [`clock`](adapters::clock),
//! [`clipboard`](adapters::clipboard), [`syntax`](adapters::syntax), [`png`](adapters::png), [`notifier`](adapters::notifier), [`telegram`](adapters::telegram), [`webhook`](adapters::webhook), [`editor`](adapters::editor) and [`logging`](adapters::logging) are what they
//! say.
//!
//! **[`runtime`]** One task for each ticket ([`ticket_task`](runtime::ticket_task)), opened and counted by the
//! [`supervisor`](runtime::supervisor). [`translate`](runtime::translate) makes inputs of events,
//! [`effects`](runtime::effects) is the only place that carries out effects, [`channels`](runtime::channels) says for the
//! channels between tasks what happens when they are full. [`storage`](runtime::storage) is how a run waits while nothing can be stored,
//! [`ticket_file`](runtime::ticket_file) its ticket as it changes, [`ticket_runs`](runtime::ticket_runs) which runs are of
//! one ticket. [`gate`](runtime::gate) has each call
//! judged, [`policy_engine`](runtime::policy_engine) judges by the person's rules, [`sampled`](runtime::sampled) remembers what it says of usual calls, and [`rules_watch`](runtime::rules_watch) has
//! what waits judged again when they change. [`prompts`](runtime::prompts) makes the text that Claude is sent.
//! [`importing`](runtime::importing) makes tickets of the tasks of other programs, [`launching`](runtime::launching) says how Claude is started, [`dry_run`](runtime::dry_run) what a run would begin with.
//! [`doctor`](runtime::doctor) finds what a first run would fail for. [`app`](runtime::app) answers what front ends ask,
//! [`reporter`](runtime::reporter) tells them the news and knows which of them are there,
//! [`headless`](runtime::headless) prints it, [`export`](runtime::export) writes a run as a file, [`find`](runtime::find)
//! searches all of them, [`timeline`](runtime::timeline) lists a ticket's snapshots, [`stats`](runtime::stats) counts what came of them, [`metrics`](runtime::metrics) counts it for a monitoring system, [`machines`](runtime::machines) asks the person's other machines what is at work there, [`report`](runtime::report) tells what came of them lately, [`telling`](runtime::telling) tells a person who does not look, [`heard`](runtime::heard) brings a run what is decided in another program, [`source_reply`](runtime::source_reply) tells an issue what came of its ticket, [`source_replies`](runtime::source_replies) once a run has completed it, [`own_session`](runtime::own_session) asks for a Claude that the person has started themselves, [`own_watch`](runtime::own_watch) tells which of those there are, [`own_run`](runtime::own_run) what they are to the store, [`review`](runtime::review) has a diff looked at by
//! several Claudes that may only read, [`chat_log`](runtime::chat_log) writes the log of a chat, [`shutdown`](runtime::shutdown) hears signals, [`cleanup`](runtime::cleanup) clears away what old runs have left.
//!
//! Requests from outside a run, all of them known to [`app`](runtime::app): [`offline`](runtime::offline) appends to an ended run
//! (breaker, sessions, boxes); [`ticking`](runtime::ticking) queues a request for an active one, which
//! [`wishes`](runtime::wishes) delivers; [`editing`](runtime::editing) changes phases either way. [`commits`](runtime::commits) has a run's work committed,
//! [`restoring`](runtime::restoring) files taken from a snapshot, [`forking`](runtime::forking) makes a new ticket of one, [`worktrees`](runtime::worktrees) removes the worktree of one.
//! [`others`](runtime::others) tells how runs of other programs stand, [`last_said`](runtime::last_said) what Claude said last.
//! For a run on another machine, [`mirror`](runtime::mirror) keeps a local copy that the screen reads, and [`serving`](runtime::serving)
//! on that machine sends what is missing, from a record and a byte on. Their protocol is [`wire`](domain::wire).
//!
//! **[`tui`]** The screen, Elm all the way: [`update`](tui::update) folds a [`Msg`](tui::msg::Msg) into the
//! [`Ui`](tui::ui::Ui), [`view`](tui::view) draws it. Panes ([`panes`](tui::panes) is their table) and dialogs share the
//! [`Model`](tui::model::Model) and keep the rest to themselves. [`command`](tui::command) is the one table of keys,
//! [`layout`](tui::layout) all geometry, [`theme`](tui::theme) all colours; [`picture`](tui::picture) draws a screen as an SVG, [`unsent`](tui::unsent) has what was typed and not sent. Three files touch the terminal.
//!
//! **[`demo`]** The scripted agent, a double that speaks Claude's recorded protocol over stdio, and a small repository for
//! it to work in. The tests use it too: it is the same binary, started with a hidden first argument.
//!
//! **[`cli`]** The command line, one file per command; each only wires modules together.
//!
//! # Invariants
//!
//! - No I/O, no clock and no channel in `base`, `domain`, `orchestrator`, `policy` and the drawing half of `tui`.
//! - The state of a run is a fold of its records; the screen holds no state that a run needs.
//! - No run waits for the screen, and the screen waits for no run.
//! - No effect before its record is stored, none that cannot be repeated before it is on the disk, and no answer to a tool
//!   call before its verdict is.
//! - No tick on Claude's word alone if a command or the working tree can be checked.
//! - No guess at which phase a claim means: it is disputed.
//! - No ticket is rewritten: one byte, one value or one ` [x]` changes, and never over a person's edit.
//! - No `reset`, `clean`, `stash` or `checkout` in a person's working tree.
//! - No raw byte from Claude, a ticket or a command reaches the terminal: only through `Clean`.
//! - No setting of a repository applies to what is run or prompted until the person trusts it.
//! - An idle screen sleeps: it wakes for keys, news and the clock that it shows.
//! - No dependency cycles between files: what both sides need goes into a third file.
//! - No `unsafe`, no `unwrap`, no `panic!` outside tests; lints and `tests/quick/architecture.rs` see to it.
//!
//! # How to extend
//!
//! | a | is |
//! |---|---|
//! | pane | a file in `tui/panes/` with its keys, state and view, an [`Entry`](tui::pane::Entry); its row in [`PANES`](tui::panes::PANES); a place in [`layout`](tui::layout), which may ask it whether it has something to say |
//! | key | a row in `tui/command/table.rs` and an arm in `tui/update/keys.rs` or in its dialog, for a pane's own both in the pane's file; footers, help and docs/keys.md follow |
//! | step | a file in `orchestrator/steps/` with its row, and its name in [`STEPS`](orchestrator::steps::STEPS); `tests/quick/core/steps.rs` adds one |
//! | guard | a file in `orchestrator/guards/` and its name in [`GUARDS`](orchestrator::guards::GUARDS); its limit is a key of the configuration and a field of [`Settings`](domain::settings::Settings) |
//! | config key | a row in [`KEYS`](config::key::KEYS) and a line in `config::values` |
//! | request | a variant of [`Request`](domain::request::Request), an arm in [`runtime::app`], and a variant of [`Reply`](domain::request::Reply) if the answer is more than done or refused |
//! | front end | a file that [subscribes](runtime::app::App::subscribe) and [asks](runtime::app::App::ask), and the command that starts it |
//! | effect | a variant of [`Effect`](orchestrator::effect::Effect), an arm in [`runtime::effects`], and an [`Input`](orchestrator::input::Input) for its result; records before and after it if it must not happen twice |
//! | record | a variant of [`Record`](domain::record::Record), an arm in [`apply`](orchestrator::apply), a sentence in [`messages`](domain::messages); kinds and fields are never renamed |
//! | theme | a YAML file in `themes/` and its name in [`BUILT_IN`](tui::theme::load::BUILT_IN); a user's own theme needs only the file in their folder |
//! | command | a variant in [`cli::Command`], a file in `cli/`, an example in its help |
//!
//! Snapshots of whole screens are in `snapshots/`; after an intended change `INSTA_UPDATE=always cargo test` updates
//! them, the documentation's tables and its picture, and `git diff` shows the result. `.ci/run` runs every check.
//!
//! `cargo bench --bench screen` measures the program in a terminal, next to the limits of the machine, in a few minutes: a
//! table, JSON, and exit code 1 if a value misses its limit. The other benches measure parts in the process.

// What has effects is for Unix; the other rooms are checked for Windows, too.
#[cfg(unix)]
pub mod adapters;
pub mod base;
#[cfg(unix)]
pub mod cli;
pub mod config;
#[cfg(unix)]
pub mod demo;
pub mod domain;
pub mod orchestrator;
pub mod policy;
#[cfg(unix)]
pub mod runtime;
#[cfg(unix)]
pub mod tui;
