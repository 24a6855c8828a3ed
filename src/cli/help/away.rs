//! What stands below the options of commands for a person who is away: what waits, answers, the phone.

pub const QUEUE: &str = "\
Examples:
  programmator queue
  programmator queue 4Kd0mPqE
  programmator queue --json | jq '.[].words'

What all runs of yours wait for, whichever program works on them, the oldest first; `programmator answer` answers a question. With \
--json an array.";

pub const ANSWER: &str = "\
Examples:
  programmator answer 4Kd0mPqE allow
  programmator answer 4Kd0mPqE allow --for-run
  programmator answer 4Kd0mPqE deny use the fixture instead of the live service
  programmator answer 4Kd0mPqE 2

The first answer counts, wherever it is given; a later one is told so. What needs your passphrase, and what is too long to \
be shown whole in a terminal, is answered on the screen. Exit codes: 0 answered, 1 not answered (too late, or the run did \
not respond), 2 no such question.";

pub const AWAY: &str = "\
Examples:
  programmator away setup
  programmator away on
  programmator away status --json
  programmator away test
  programmator away off
  programmator away unpair
  programmator away relay

Questions of all runs come to your phone while this is on, whichever program works on them; the first answer counts, wherever \
it is given. `programmator away relay` does the same in the foreground.";

pub const AWAY_SETUP: &str = "\
Examples:
  programmator away setup
  PROGRAMMATOR_TELEGRAM_TOKEN=$(cat token) programmator away setup --brief

Make a bot with @BotFather in Telegram first; it gives you the token. The token is typed and not shown, or read from \
PROGRAMMATOR_TELEGRAM_TOKEN, and kept in a file that only you can read. A code that you send to the bot shows which account is \
yours: nobody else is answered. What looks like a credential is masked in all that is sent.";
