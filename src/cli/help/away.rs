//! What stands below the options of commands for a person who is away: what waits, answers, the phone, hooks.

pub const ATTACH: &str = "\
Examples:
  programmator attach
  programmator attach tk-4f2a
  programmator attach session-1a2b3c4d      one of your own Claude sessions
  programmator attach --on build tk-4f2a    on another machine (`hosts` in your configuration)

Shows a run that is active in the background or in another terminal: live, with its questions, and keys to pause, skip, message and stop it. Leaving the screen does not affect the run. `programmator tk-4f2a` does the same if tk-4f2a is already running.

A Claude session that you started yourself is shown by its id (`programmator away status` lists them): live and read-only. Questions that it asks while `programmator away on` is active can be answered here, too.";

pub const QUEUE: &str = "\
Examples:
  programmator queue
  programmator queue 4Kd0mPqE
  programmator queue --json | jq '.[].words'

Everything your runs are waiting for, oldest first, whichever process is running them; then ended runs of this directory that need you. Answer with `programmator answer`. With --json an array.";

pub const ANSWER: &str = "\
Examples:
  programmator answer 4Kd0mPqE allow
  programmator answer 4Kd0mPqE allow --for-run
  programmator answer 4Kd0mPqE deny use the fixture instead of the live service
  programmator answer 4Kd0mPqE 2
  programmator answer draft-3fa21c0d9b6e4f7a8c152d60 revise split the second phase
  programmator answer ended-9c41b7e2 resume the key is in the vault now
  programmator answer ended-9c41b7e2 leave

`programmator queue NAME` lists the possible answers; answering a completed run adds your words as its next phase. The first answer counts; later ones are rejected. Calls that need your passphrase, or are too long for a terminal, must be answered on the screen. Exit codes: 0 answered, 1 not answered (too late, or the run did not respond), 2 no such question.";

pub const AWAY: &str = "\
Examples:
  programmator away setup
  programmator away on
  programmator away on tk-4f2a               only this ticket's questions
  programmator away status --json
  programmator away test
  programmator away off
  programmator away unpair
  programmator away log
  programmator away relay

While this is on, the questions of all your runs come to your phone; the first answer counts, wherever it is given. `programmator away relay` does the same in the foreground. `programmator away status` also lists your own Claude sessions that have programmator's hooks, and their terminals.";

pub const AWAY_MUTE: &str = "\
Examples:
  programmator away mute tk-4f2a
  programmator away mute session-1a2b3c4d
  programmator away mute

Muted names stay muted after `programmator away off` and `away on`, until `programmator away unmute NAME` or `away on NAME`. A muted ticket asks on this machine only, a muted Claude session in its terminal only.";

pub const AWAY_UNMUTE: &str = "\
Examples:
  programmator away unmute session-1a2b3c4d";

pub const AWAY_LOG: &str = "\
Examples:
  programmator away log
  programmator away log --last 500
  programmator away log --json | jq '.[] | select(.ticket == \"tk-4f2a\") | .text'

Each message with its time, ticket and text, with credentials masked: sent and edited ones, and yours. With --json an array. The last 4 to 8 MB are kept in `phone.log` in the state folder, readable only by you.";

pub const AWAY_SETUP: &str = "\
Examples:
  programmator away setup
  PROGRAMMATOR_TELEGRAM_TOKEN=$(cat token) programmator away setup --brief
  programmator away setup --claude-afk

First create a bot with @BotFather in Telegram; it gives you the token. The token is typed without being shown, or read from PROGRAMMATOR_TELEGRAM_TOKEN, and stored in a file that only you can read. You pair your account by sending the bot a code; it answers nobody else. If claude-afk has settings here, you are shown how they map to programmator's and asked whether to import them. Anything that looks like a credential is masked in all messages.";

pub const HOSTS: &str = "\
Examples:
  programmator hosts
  programmator hosts --json | jq -r '.[] | select(.error) | .host'

All machines are queried at the same time and cannot prompt for a password: one that needs a password is shown as unreachable. With --json an array of host (null: this machine), error and runs. Exit codes: 1 a machine was unreachable, 77 inside a run.";

pub const JOB: &str = "\
Examples:
  programmator job tk-4f2a | kubectl apply -f -
  programmator job tk-4f2a --push --namespace agents --repo https://example.com/shop.git

Prints a ConfigMap with the ticket, a PersistentVolumeClaim and the Job. The Job clones the repository, works through the ticket like `programmator run`, and pushes the work as a branch or leaves it as a patch on the volume. The pod has no service account, runs as non-root, and writes only to its volumes. The API key and the git token are read from the secret. This command makes no network connections.";

pub const NOTIFY_TEST: &str = "\
Examples:
  programmator notify test

The channels are `notify.webhooks`, `notify.desktop` and `notify.command` in your configuration. A test is not retried and ignores quiet hours. Exit codes: 0 all succeeded, 1 one failed.";

pub const HOOKS_INSTALL: &str = "\
Examples:
  programmator hooks install
  programmator hooks install --yes
  programmator hooks install --project    only for sessions in this folder

Claude sessions that you start yourself then ask on your phone between `programmator away on` and `away off`: approvals, and what to do next when Claude has finished. Their prompts still appear in the terminal, and are used if anything fails. The change is shown first, and the original file is kept next to it.";

pub const HOOKS_REMOVE: &str = "\
Examples:
  programmator hooks remove
  programmator hooks remove --project

Only these hooks are removed. If nothing else has changed since, the file is restored byte for byte.";

pub const HOOKS_STATUS: &str = "\
Examples:
  programmator hooks status";

pub const HOOKS_PLUGIN: &str = "\
Examples:
  programmator hooks plugin ~/claude-plugins/programmator
  claude --plugin-dir ~/claude-plugins/programmator

The same hooks as a Claude Code plugin, with the commands /programmator:setup, enable, disable and status. Use either this or \
`programmator hooks install`.";
