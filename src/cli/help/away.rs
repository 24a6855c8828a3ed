//! What stands below the options of commands for a person who is away: what waits, answers, the phone, hooks.

pub const ATTACH: &str = "\
Examples:
  programmator attach
  programmator attach tk-4f2a
  programmator attach session-1a2b3c4d      a Claude session of your own
  programmator attach --on build tk-4f2a    of the machine `build` in `hosts` of your configuration

The screen of a run that works in the background or in another terminal: live, with its questions, and the keys that pause, skip, \
message and stop it. Leaving the screen leaves the run alone. `programmator tk-4f2a` does the same where tk-4f2a is at work already.

A Claude session that you started yourself is shown by its id (`programmator away status` lists them): its words as they come, read \
only. What it asks here while `programmator away on` counts is answered here, too.";

pub const QUEUE: &str = "\
Examples:
  programmator queue
  programmator queue 4Kd0mPqE
  programmator queue --json | jq '.[].words'

What all runs of yours wait for, whichever program works on them, the oldest first, then the runs of this directory that have ended and \
need you; `programmator answer` answers each of them. With --json an array.";

pub const ANSWER: &str = "\
Examples:
  programmator answer 4Kd0mPqE allow
  programmator answer 4Kd0mPqE allow --for-run
  programmator answer 4Kd0mPqE deny use the fixture instead of the live service
  programmator answer 4Kd0mPqE 2
  programmator answer draft-3fa21c0d9b6e4f7a8c152d60 revise split the second phase
  programmator answer ended-9c41b7e2 resume the key is in the vault now
  programmator answer ended-9c41b7e2 leave

`programmator queue NAME` lists what a question takes; the end of a run that is complete takes words, which are its next phase. \
The first answer counts, wherever it is given; a later one is told so. What needs your passphrase, and what is too long to \
be shown whole in a terminal, is answered on the screen. Exit codes: 0 answered, 1 not answered (too late, or the run did \
not respond), 2 no such question.";

pub const AWAY: &str = "\
Examples:
  programmator away setup
  programmator away on
  programmator away on tk-4f2a               only what this one asks
  programmator away status --json
  programmator away test
  programmator away off
  programmator away unpair
  programmator away log
  programmator away relay

Questions of all runs come to your phone while this is on, whichever program works on them; the first answer counts, wherever \
it is given. `programmator away relay` does the same in the foreground. `programmator away status` also lists the Claude sessions of your \
own that have programmator's hooks, and in which terminal each sits.";

pub const AWAY_MUTE: &str = "\
Examples:
  programmator away mute tk-4f2a
  programmator away mute session-1a2b3c4d
  programmator away mute

What is muted stays so after `programmator away off` and `away on`, until `programmator away unmute NAME` or `away on NAME`. A ticket then \
asks on the machine only, and a Claude session of your own in its terminal only.";

pub const AWAY_UNMUTE: &str = "\
Examples:
  programmator away unmute session-1a2b3c4d";

pub const AWAY_LOG: &str = "\
Examples:
  programmator away log
  programmator away log --last 500
  programmator away log --json | jq '.[] | select(.ticket == \"tk-4f2a\") | .text'

Each message with its time, its ticket and its text, without what looks like a credential: those that were sent, those that were \
changed, and yours. With --json an array. Kept are the last 4 to 8 MB, in `phone.log` in the state folder, which only you can read.";

pub const AWAY_SETUP: &str = "\
Examples:
  programmator away setup
  PROGRAMMATOR_TELEGRAM_TOKEN=$(cat token) programmator away setup --brief
  programmator away setup --claude-afk

Make a bot with @BotFather in Telegram first; it gives you the token. The token is typed and not shown, or read from \
PROGRAMMATOR_TELEGRAM_TOKEN, and kept in a file that only you can read. A code that you send to the bot shows which account is \
yours: nobody else is answered. If claude-afk has settings here, you are shown what becomes of each, and asked whether to take \
them over. What looks like a credential is masked in all that is sent.";

pub const HOSTS: &str = "\
Examples:
  programmator hosts
  programmator hosts --json | jq -r '.[] | select(.error) | .host'

The machines are asked at the same time, and cannot ask you for a password: a connection that needs one is shown as unreachable. With --json an \
array of host (null: this machine), error and runs. Exit codes: 1 when a machine was unreachable, 77 inside a run.";

pub const JOB: &str = "\
Examples:
  programmator job tk-4f2a | kubectl apply -f -
  programmator job tk-4f2a --push --namespace agents --repo https://example.com/shop.git

Printed are the ticket as a ConfigMap, a claim of a volume, and the Job. It clones the repository, works through the ticket as \
`programmator run` does, and pushes what was done as a branch or leaves it as a patch on the volume; else it fails. Its pod has no \
account of the cluster, is not root, and writes only to its volumes. The API key and the token for git are only named: \
they are in the secret. Nothing is contacted by this command.";

pub const NOTIFY_TEST: &str = "\
Examples:
  programmator notify test

Which channels there are is in your configuration: `notify.webhooks`, `notify.desktop` and `notify.command`. Nothing is tried twice \
here, and quiet hours do not count. Exit codes: 0 all were told, 1 one was not.";

pub const HOOKS_INSTALL: &str = "\
Examples:
  programmator hooks install
  programmator hooks install --yes
  programmator hooks install --project    only for sessions in this folder

Claude sessions that you start yourself, in terminals of their own, then ask on your phone between `programmator away on` and `away off`: \
what they ask you about, and what is next when Claude has finished. Their own prompts are there all the same, and whatever goes \
wrong they are all there is. The change is shown first, and the file as it was is kept beside it.";

pub const HOOKS_REMOVE: &str = "\
Examples:
  programmator hooks remove
  programmator hooks remove --project

Only these hooks are taken out. If nothing else was changed since, the file is what it was, to the byte.";

pub const HOOKS_STATUS: &str = "\
Examples:
  programmator hooks status";

pub const HOOKS_PLUGIN: &str = "\
Examples:
  programmator hooks plugin ~/claude-plugins/programmator
  claude --plugin-dir ~/claude-plugins/programmator

The same hooks as a plugin of Claude Code, with the commands /programmator:setup, enable, disable and status. Use either this or \
`programmator hooks install`.";
