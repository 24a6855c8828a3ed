//! What the commands, flags, files, variables and defaults of the programs that programmator comes after are here: the table that an import
//! tells settings by, and that `docs/coming-from.md` shows.

use std::fmt::Write as _;

/// Something of another program, and what it is here.
#[derive(Debug, PartialEq, Eq)]
pub struct Counterpart {
    /// Which program.
    pub of: Program,
    pub theirs: &'static str,
    /// What to use or what happens here, in markdown.
    pub ours: &'static str,
    /// The key that takes its value, in the same unit or in seconds where theirs is minutes.
    pub key: Option<&'static str>,
    pub is_minutes: bool,
}

/// The programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Hank,
    Autoclaude,
    ClaudeAfk,
    /// The first programmator, in Python.
    Programmator,
    Clanker,
}

impl Program {
    pub const ALL: [Self; 5] = [Self::Programmator, Self::Hank, Self::Autoclaude, Self::ClaudeAfk, Self::Clanker];

    pub fn name(self) -> &'static str {
        match self {
            Self::Hank => "Hank (Ralph)",
            Self::Autoclaude => "autoclaude",
            Self::ClaudeAfk => "claude-afk",
            Self::Programmator => "programmator in Python",
            Self::Clanker => "Clanker",
        }
    }
}

const fn is(of: Program, theirs: &'static str, ours: &'static str) -> Counterpart {
    Counterpart { of, theirs, ours, key: None, is_minutes: false }
}

const fn set(of: Program, theirs: &'static str, ours: &'static str, key: &'static str) -> Counterpart {
    Counterpart { of, theirs, ours, key: Some(key), is_minutes: false }
}

const fn minutes(of: Program, theirs: &'static str, ours: &'static str, key: &'static str) -> Counterpart {
    Counterpart { of, theirs, ours, key: Some(key), is_minutes: true }
}

use Program::{Autoclaude, Clanker, ClaudeAfk, Hank, Programmator};

/// The table.
pub const COUNTERPARTS: &[Counterpart] = &[
    is(Programmator, "ticket-driven loop", "`programmator tk-4f2a`"),
    is(Programmator, "`## Design` with `- [ ]` phases", "the same; headings and numbered headings work, too"),
    is(Programmator, "`PROGRAMMATOR_STATUS` block", "the same fields; `programmator parse status` reads one"),
    is(
        Programmator,
        "`ticket` CLI",
        "`programmator ticket list`, `programmator ticket new` and others; same files as `tk`",
    ),
    is(Programmator, "`PROGRAMMATOR_MAX_ITERATIONS` (50)", "the same variable, `limits.max_iterations`"),
    is(Programmator, "`PROGRAMMATOR_STAGNATION_LIMIT` (3)", "the same variable, `limits.stagnation`"),
    is(Programmator, "`PROGRAMMATOR_TIMEOUT` (900)", "the same variable, `limits.iteration_timeout`"),
    is(
        Programmator,
        "`PROGRAMMATOR_CLAUDE_FLAGS` (`--dangerously-skip-permissions`)",
        "the same variable; that flag is dropped: the policy decides",
    ),
    is(
        Programmator,
        "`TICKETS_DIR` (`~/.tickets`)",
        "the same variable; without it the nearest `.tickets` above comes first",
    ),
    is(Programmator, "safety: iterations, stagnation, repeated errors", "the guards"),
    is(Programmator, "status panel and log viewer", "the screen; `programmator run` for headless mode"),
    is(Hank, "`hank-setup NAME`", "`programmator init NAME`"),
    is(Hank, "`hank-enable`", "`programmator init`"),
    is(Hank, "`hank-enable-ci`", "`programmator init --yes`"),
    is(Hank, "`hank-enable --from beads`", "`programmator init --from beads`"),
    is(Hank, "`hank-enable --from github --label L`", "`programmator init --from github --label L`"),
    is(Hank, "`hank-enable --from prd FILE`", "`programmator init --from prd:FILE`"),
    is(Hank, "`hank-import FILE`", "`programmator import prd FILE`; with `--plan` Claude drafts the phases"),
    is(Hank, "`hank-enable --skip-tasks`", "`programmator init --skip-tasks`"),
    is(Hank, "`hank-enable --force`", "`programmator init --force`, with a backup"),
    is(Hank, "`hank-enable-ci --project-type T`", "`programmator init --project-type T`"),
    is(Hank, "`hank-enable-ci --json`", "`programmator init --json`, with the same exit codes 0, 1 and 2"),
    is(Hank, "`hank-migrate`", "`programmator import hank`: reads both formats"),
    is(Hank, "`install.sh`, `uninstall`", "`cargo install --path .`, `programmator uninstall`"),
    is(Hank, "`hank`", "`programmator tk-4f2a`"),
    is(Hank, "`hank --monitor`, `hank-monitor`, tmux", "the screen; `programmator attach` from another terminal"),
    is(Hank, "`--calls N` (100)", "`--calls N`, `limits.calls`"),
    is(Hank, "`--prompt FILE`", "`--prompt FILE`"),
    is(Hank, "`--timeout MIN` (15)", "`--timeout SECONDS`, `limits.iteration_timeout`"),
    is(Hank, "`--status`", "`programmator status`"),
    is(
        Hank,
        "`--reset-circuit`, `--circuit-status`, `--auto-reset-circuit`",
        "`programmator circuit reset`, `programmator circuit status`, `breaker.auto_reset`",
    ),
    is(Hank, "`--reset-session`", "`programmator session reset`"),
    is(Hank, "`--no-continue`, `--session-expiry`", "the same flags"),
    is(
        Hank,
        "`--output-format json|text`",
        "nothing: the stream is always read; `programmator run --json tk-4f2a` prints records",
    ),
    is(Hank, "`--allowed-tools LIST`", "the policy; `programmator policy check` shows what is allowed and why"),
    is(Hank, "`--live`, `--verbose`", "the screen shows everything; `programmator logs -f tk-4f2a`"),
    is(Hank, "`--dry-run`", "`programmator run --dry-run tk-4f2a`; `programmator prompt show` for the prompt only"),
    is(Hank, "`--notify`", "`notify.*`"),
    is(
        Hank,
        "`--backup`, `--rollback`",
        "snapshots before each iteration: `programmator snapshots`, `programmator restore`",
    ),
    is(
        Hank,
        "`.hank/PROMPT.md`",
        "`prompt.context` for what it says about the project; the built-in prompts, or your own (`--prompt`), for the rest",
    ),
    is(Hank, "`.hank/fix_plan.md`", "tickets: `programmator import hank`, or run the file itself"),
    is(Hank, "`.hank/AGENT.md`", "`prompt.context`: Claude keeps it up to date; `validation.commands` for its checks"),
    is(Hank, "`.hank/specs/`", "`prompt.context` for each document, or `programmator import prd FILE` for tickets"),
    is(Hank, "`.hank/examples/`, `.hank/docs/generated/`", "nothing: they remain project files"),
    is(
        Hank,
        "`.hank/logs/`, `status.json`, `progress.json`",
        "the store: `programmator logs`; `programmator status --watch-file .hank/status.json` keeps that file, with Hank's fields",
    ),
    is(Hank, "`.claude_session_id`, `.hank_session_history`", "`programmator session show`"),
    is(
        Hank,
        "`.circuit_breaker_state`, `.exit_signals`, `.response_analysis`, `.call_count`",
        "records of the run: `programmator logs --json tk-4f2a`, `programmator circuit status`",
    ),
    is(Hank, "`HANK_STATUS` block, `EXIT_SIGNAL`", "the status block with `exit_signal`; Hank's form is read, too"),
    is(Hank, "completion indicators (2) with `EXIT_SIGNAL: true`", "the same rule, and the phase must be verified"),
    is(Hank, "all items of `fix_plan.md` ticked", "all phases done, verified by your commands"),
    is(
        Hank,
        "exit on `permission_denied`",
        "Claude gets each denial with its reason; two iterations with denials open the breaker",
    ),
    is(Hank, "`~/.hank/templates/`", "`templates/` in the config folder, for new tickets"),
    is(Hank, "hourly reset of calls", "the same; `limits.window` makes it sliding"),
    set(Hank, "`MAX_CONSECUTIVE_TEST_LOOPS` (3)", "`exit.test_loops`, for tickets without phases", "exit.test_loops"),
    set(
        Hank,
        "`MAX_CONSECUTIVE_DONE_SIGNALS` (2)",
        "`exit.done_signals`, for tickets without phases",
        "exit.done_signals",
    ),
    set(
        Hank,
        "`TEST_PERCENTAGE_THRESHOLD` (30 %)",
        "`exit.test_percentage`, not set: Hank never used its own",
        "exit.test_percentage",
    ),
    is(Hank, "`PROJECT_NAME`", "nothing: uses the folder's name"),
    is(Hank, "`PROJECT_TYPE`", "nothing: detected from files"),
    set(Hank, "`MAX_CALLS_PER_HOUR` (100)", "`limits.calls`", "limits.calls"),
    set(Hank, "`MAX_TOKENS_PER_HOUR` (0: off)", "`limits.tokens`; omit it to turn it off", "limits.tokens"),
    minutes(
        Hank, "`CLAUDE_TIMEOUT_MINUTES` (15)", "`limits.iteration_timeout`, in seconds", "limits.iteration_timeout",
    ),
    is(Hank, "`CLAUDE_OUTPUT_FORMAT` (json)", "nothing: the stream is always read"),
    is(Hank, "`ALLOWED_TOOLS`, `CLAUDE_ALLOWED_TOOLS`", "your policy decides: `programmator policy show`"),
    set(
        Hank,
        "`SESSION_CONTINUITY`, `CLAUDE_USE_CONTINUE` (true)",
        "`run.session_continuity`",
        "run.session_continuity",
    ),
    set(Hank, "`SESSION_EXPIRY_HOURS` (24)", "`run.session_expiry_hours`", "run.session_expiry_hours"),
    is(Hank, "`TASK_SOURCES`", "`programmator import`, for each source"),
    is(Hank, "`GITHUB_TASK_LABEL`", "`programmator import github --label L`"),
    is(Hank, "`BEADS_FILTER`", "nothing: open issues are shown, and you choose"),
    set(Hank, "`CB_NO_PROGRESS_THRESHOLD` (3)", "`breaker.no_progress`", "breaker.no_progress"),
    set(Hank, "`CB_SAME_ERROR_THRESHOLD` (5)", "`breaker.same_error`", "breaker.same_error"),
    set(Hank, "`CB_OUTPUT_DECLINE_THRESHOLD` (70 %)", "`breaker.output_decline`", "breaker.output_decline"),
    set(Hank, "`CB_PERMISSION_DENIAL_THRESHOLD` (2)", "`breaker.permission_denials`", "breaker.permission_denials"),
    minutes(Hank, "`CB_COOLDOWN_MINUTES` (30)", "`breaker.cooldown`, in seconds", "breaker.cooldown"),
    set(Hank, "`CB_AUTO_RESET` (false)", "`breaker.auto_reset`", "breaker.auto_reset"),
    is(Hank, "`CLAUDE_CODE_CMD`", "`agent.command`, a list of words"),
    is(Hank, "`CLAUDE_MIN_VERSION` (2.0.76)", "nothing: `programmator doctor` compares the version"),
    is(Hank, "`CLAUDE_AUTO_UPDATE`", "nothing: Claude is never updated automatically"),
    set(Hank, "`CLAUDE_MODEL`", "`agent.model`", "agent.model"),
    is(Hank, "`CLAUDE_EFFORT`", "`workflow.efforts`, for each step"),
    is(
        Hank,
        "`RALPH_SHELL_INIT_FILE`, `HANK_SHELL_INIT_FILE`",
        "nothing: no file is sourced; `agent.env` sets variables",
    ),
    is(Hank, "`RALPH_VERBOSE`, `HANK_VERBOSE`, `LIVE_SHOW_TOOL_ARGS`", "nothing: the screen shows everything"),
    is(Hank, "`ENABLE_NOTIFICATIONS`", "`notify.desktop`: off, needs_you or all"),
    is(Hank, "`ENABLE_BACKUP`", "nothing: a snapshot is taken before each iteration"),
    is(Hank, "`OPTIONAL_SECTIONS`", "nothing: `programmator import hank` gives them a low priority"),
    is(Autoclaude, "`autoclaude init`", "`programmator init`, then `programmator plan \"the goal\"`"),
    is(
        Autoclaude,
        "`init -t CMD`, `-c`, `--skip-planner`",
        "`validation.commands`; constraints go into the ticket; a ticket with phases is not planned",
    ),
    is(Autoclaude, "`baseline.json`", "the policy's profiles"),
    is(Autoclaude, "tmux panes", "tabs of the screen; `programmator run --detach tk-4f2a` for the background"),
    is(Autoclaude, "`coding-guidelines.md`, language detection", "`workflow.guidelines`"),
    is(Autoclaude, "`NOTES.md`, `STATUS.md`", "the ticket's Notes, and `programmator report`"),
    is(Autoclaude, "`autoclaude run`", "`programmator run tk-4f2a --workflow thorough`"),
    is(Autoclaude, "`autoclaude resume`", "`programmator resume`; it never resets or cleans your tree"),
    is(Autoclaude, "`autoclaude status`, `watch`", "`programmator status`, the screen"),
    is(Autoclaude, "`autoclaude prune`", "nothing: done phases stay ticked in the ticket"),
    is(
        Autoclaude,
        "planner, coder, critic, fixer, evaluator",
        "steps of `workflow.name: thorough`, each in a fresh session",
    ),
    is(Autoclaude, "3 fix attempts", "`workflow.fix_tries`"),
    is(Autoclaude, "`--coder-sonnet`", "`workflow.models`"),
    is(Autoclaude, "`.autoclaude/TODO.md`, `plan.md`", "`programmator import autoclaude`"),
    is(Autoclaude, "`.autoclaude/state.json`", "the store: `programmator status --json`"),
    is(Autoclaude, "`critic_verdict.md`, `current_todo.txt`", "the critic's answer, stored with its phase"),
    is(
        Autoclaude,
        "APPROVED, NEEDS_FIXES, MINOR_ISSUES",
        "the same verdicts; `workflow.minor_issues` decides about the last",
    ),
    is(Autoclaude, "test command", "`validation.commands`"),
    is(Autoclaude, "merged permissions in `.claude/settings.local.json`", "`programmator settings merge`"),
    is(Autoclaude, "stop hooks, `_continue`, `_planner-done`", "nothing: Claude is driven over its own protocol"),
    is(ClaudeAfk, "`/claude-afk:setup`", "`programmator away setup`"),
    is(ClaudeAfk, "`/claude-afk:enable`, `disable`", "`programmator away on`, `programmator away off`"),
    is(ClaudeAfk, "`/claude-afk:status`", "`programmator away status`"),
    is(ClaudeAfk, "hooks `SessionStart`, `PermissionRequest`, `Stop`", "`programmator hooks install`"),
    is(ClaudeAfk, "daemon, named pipe, `state.json`", "the store, and a relay while you are away"),
    is(ClaudeAfk, "`CLAUDE_AFK_TELEGRAM_TOKEN`", "stored by `programmator away setup`, readable only by you"),
    is(
        ClaudeAfk,
        "`~/.claude/claude-afk/config.json`",
        "`away.*` in your own `config.yaml`; `programmator away setup` imports it",
    ),
    is(ClaudeAfk, "`/tmp/claude-afk.sock`", "a socket accessible only to you"),
    is(
        ClaudeAfk,
        "`logs/hook.log`, `captures/`",
        "`hooks/hook.log` in the state folder and, with `PROGRAMMATOR_HOOK_DEBUG=1`, `hooks/captures`",
    ),
    is(ClaudeAfk, "`CLAUDE_PLUGIN_ROOT`, plugin", "`programmator hooks plugin` writes one"),
    is(ClaudeAfk, "`/start` and a chat id", "pairing by a code, in `programmator away setup`"),
    is(ClaudeAfk, "replies yes, no", "buttons, or a reply with your words"),
    is(ClaudeAfk, "terminal id", "nothing: sessions are identified by their id"),
    is(ClaudeAfk, "fails open", "Claude's own prompt if you are not away; a run waits or denies"),
    is(ClaudeAfk, "`CLAUDE_AFK_DEBUG`", "the same, or `PROGRAMMATOR_HOOK_DEBUG=1`"),
    is(ClaudeAfk, "`alwaysEnabled` (false)", "`away.always_on`"),
    is(ClaudeAfk, "`retryInterval` (300), `maxRetries` (3)", "`away.repeat_after`, `away.repeats`"),
    is(ClaudeAfk, "`permissionTimeout`, `stopFollowupTimeout` (3600)", "`approval.timeout`; not set: questions wait"),
    is(ClaudeAfk, "`staleUpdateThreshold`, `pollingInterval`", "nothing: old updates are ignored"),
    is(ClaudeAfk, "`allowSinglePendingFallback` (true)", "`away.bare_answers`"),
    is(ClaudeAfk, "`bulkApprovalTools` (Edit, Write), reply `all`", "`away.bulk_tools`"),
    is(ClaudeAfk, "`transcriptPolling`", "built in: answering on the screen closes the question on the phone"),
    is(Clanker, "`npm start`, chat in a terminal", "`programmator chat`"),
    is(Clanker, "`policy.json`", "`programmator policy import policy.json`"),
    is(Clanker, "allow-reads, block-network, block-rm-rf, secret-for-write", "`policy.profile: strict`"),
    is(Clanker, "default `block`", "the same in `strict`"),
    is(
        Clanker,
        "passphrase `mypassphrase`, SHA-256",
        "`programmator passphrase set`; there is no default; stored as an argon2id hash",
    ),
    is(Clanker, "`config/SOUL.md`", "`SOUL.md` in your config folder or in `.programmator`"),
    is(Clanker, "`sessions/*.jsonl`, last session summary", "chats: `programmator chat --resume`"),
    is(Clanker, "events `policy`, `auth`, `cmd`, `edit`", "records of each call: `programmator logs --json tk-4f2a`"),
    is(Clanker, "string matching of commands", "bash is parsed and judged part by part"),
    is(Clanker, "`ANTHROPIC_API_KEY`", "Claude Code's own login; the variable is passed to Claude only"),
];

/// The row of a setting of Hank's, by its name.
pub fn setting(name: &str) -> Option<&'static Counterpart> {
    let tick = format!("`{name}`");
    COUNTERPARTS.iter().find(|row| row.of == Hank && row.theirs.contains(&tick))
}

/// The tables of the documentation.
pub fn markdown() -> String {
    let mut out = String::new();
    for program in Program::ALL {
        // Writing to a string cannot fail.
        let _ = write!(out, "## {}\n\n| there | here |\n|---|---|\n", program.name());
        for row in COUNTERPARTS.iter().filter(|row| row.of == program) {
            let _ = writeln!(out, "| {} | {} |", row.theirs.replace('|', "\\|"), row.ours.replace('|', "\\|"));
        }
        out.push('\n');
    }
    out
}
