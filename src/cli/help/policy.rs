//! What stands below the options of `policy` and `parse`.

pub const POLICY_CHECK: &str = "\
Examples:
  programmator policy check 'ls | tee out.txt'
  programmator policy check --profile strict --json 'git log --oneline'
  programmator policy check --tool Write --input '{\"file_path\":\"a.txt\",\"content\":\"x\"}'

Without --profile and --policy: your policy.yaml, the project's, and the profile guarded. Exit codes: 0 allow, 10 ask, 11 passphrase, 2 block, 64 bad input.";

pub const POLICY_TEST: &str = "\
Examples:
  programmator policy test cases.jsonl --profile strict

One case per line, as JSON: id, tool, input, expect; optional cwd, never and fs. Home is /home/dev. Exit codes: 1 a mismatch, 64 a line that is not a case.";

pub const POLICY_SHOW: &str = "\
Examples:
  programmator policy show
  programmator policy show --profile strict

The first matching rule decides each part of a call; the strictest part decides the call.";

pub const POLICY_EDIT: &str = "\
Examples:
  programmator policy edit

You edit a copy of policy.yaml in the config folder. It is saved only if it is valid; otherwise the error is shown with line and column, and the exit code is 2.
floor: {unprotect: [PATTERN]} removes a pattern from the floor, written exactly as it is there; only your own file can do this.";

pub const POLICY_WHY: &str = "\
Examples:
  programmator logs --json tk-4f2a | jq -r 'select(.kind == \"tool_judged\") | .tool_use_id + \" \" + .target'
  programmator policy why toolu_01Hx

Shows the record of the call: verdict, rule and reason, its parts if you were asked, and the answer.";

pub const POLICY_REPLAY: &str = "\
Examples:
  programmator policy replay tk-4f2a
  programmator policy replay tk-4f2a --policy draft.yaml

It prints each call whose verdict would change, before and after, based on the current files. Exit code 1: at least one would change.";

pub const POLICY_LEARN: &str = "\
Examples:
  programmator policy learn
  programmator policy learn --least 3

Suggests rules from what you have approved, most useful first, each with how many questions it would have saved and what else it would have allowed. Copy the ones you want with `programmator policy edit`.";

pub const POLICY_IMPORT: &str = "\
Examples:
  programmator policy import policy.json
  programmator policy import --print policy.json

Allow patterns only apply to commands that are proven to be read-only; block patterns keep their meaning. An existing policy.yaml or passphrase is kept, and Clanker's published passphrase is rejected, with exit code 1.";

pub const PARSE: &str = "\
Examples:
  programmator parse status answer.txt
  cargo test 2>&1 | programmator parse errors";

pub const PARSE_STATUS: &str = "\
Examples:
  programmator parse status answer.txt
  programmator parse status --json answer.txt

It reads PROGRAMMATOR_STATUS, HANK_STATUS and RALPH_STATUS, the last two also between ---RALPH_STATUS--- and
---END_RALPH_STATUS---; also in the output of `claude --output-format json` or stream-json.
With --json an object: found, valid, status, phase_completed, files_changed, summary, error, warnings, reason.";

pub const PARSE_ERRORS: &str = "\
Examples:
  programmator parse errors build.log
  cargo test 2>&1 | programmator parse errors --json

--rule hank_literal counts the lines that Hank counts.
With --json an object: is_error, and lines, each with line, kind and text.";
