//! Pairing: the bot's token from the person, and a code that shows which account is theirs.

use super::sent::{Sender, SentLog};
use crate::adapters::sole_process::{self, RELAY};
use crate::adapters::telegram::pairing::{Detail, Pairing};
use crate::adapters::telegram::update::Update;
use crate::adapters::telegram::{API, Bot, is_unfit};
use crate::adapters::typed_secret::{Source, TypedError, read};
use crate::base::secret::Secret;
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Variables that may hold the token; the second one is claude-afk's.
const VARIABLES: [&str; 2] = ["PROGRAMMATOR_TELEGRAM_TOKEN", "CLAUDE_AFK_TELEGRAM_TOKEN"];
/// How long the code counts, and how often somebody may guess it.
const PATIENCE: Duration = Duration::from_secs(600);
const TRIES: u32 = 5;
/// How long one request waits for a message.
const POLL: Duration = Duration::from_secs(10);
/// Of a code: no two of them look alike.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Pairs a bot with the account that sends it the code.
pub fn pair(
    out: &mut dyn Write,
    asks: &mut dyn Write,
    session: &Session,
    config: &Path,
    (api, detail): (Option<String>, Detail),
) -> Result<(), CliError> {
    let api = api.unwrap_or_else(|| API.to_owned());
    if let Some(why) = is_unfit(&api) {
        return Err(CliError::usage(why));
    }
    if sole_process::holder(&session.state, RELAY)?.is_some() {
        return Err(CliError::failure("the phone is on: run `programmator away off` first"));
    }
    let token = token(asks, session)?;
    let bot = Bot::new(&api, &token);
    let me = bot.me()?;
    // What was written before has nothing to do with this.
    let mut offset = bot.updates(-1, Duration::ZERO)?.last().map_or(0, |last| last.update_id + 1);
    let code = code();
    writeln!(
        out,
        "Send this to @{0} within ten minutes, from your own account:\n\n    /start {code}\n\nOr open \
         https://t.me/{0}?start={code} on the phone and press Start.\n",
        clean_line(&me.username, 64)
    )?;
    out.flush()?;
    let (begun, mut wrong) = (Instant::now(), 0);
    while begun.elapsed() < PATIENCE {
        for update in bot.updates(offset, POLL)? {
            offset = update.update_id + 1;
            let (Some((user, chat)), Some(said)) = (update.from(), said(&update)) else { continue };
            if Secret::of(&said.to_uppercase()) != Secret::of(&code) {
                wrong += 1;
                writeln!(out, "Wrong code ({wrong} of {TRIES} tries).")?;
                if wrong >= TRIES {
                    return Err(CliError::failure("five wrong codes: nothing was paired; try again"));
                }
                continue;
            }
            let name = match clean_line(&user.first_name, 64) {
                name if name.is_empty() => user.id.to_string(),
                name => name,
            };
            let mut pairing = Pairing::new(&token, &api, me.username, (user.id, chat), name);
            pairing.detail = detail;
            pairing.write(config).map_err(|error| CliError::failure(error.to_string()))?;
            // Heard: it does not come again.
            let _ = bot.updates(offset, Duration::ZERO);
            let told = "Paired. After `programmator away on` on your machine, runs send their questions here.";
            let log = SentLog::of(&session.state, session.clock());
            let _ = Sender { bot: &bot, log: &log, ticket: None }.send(chat, told, &[], None);
            writeln!(out, "Paired with {}. `programmator away on` sends the questions of runs there.", pairing.name)?;
            return Ok(());
        }
    }
    Err(CliError::failure("no code received within ten minutes: nothing was paired"))
}

fn token(asks: &mut dyn Write, session: &Session) -> Result<Secret, CliError> {
    let given =
        VARIABLES.iter().find_map(|name| session.environment.get(*name)).filter(|token| !token.trim().is_empty());
    let token = if let Some(token) = given {
        Secret::of(token.trim())
    } else {
        let prompt = || {
            write!(asks, "Bot token from @BotFather (not shown): ").ok();
            asks.flush().ok();
        };
        let typed = read(Source::Terminal, prompt).map_err(|error| match error {
            TypedError::NoTerminal => {
                CliError::usage(format!("enter the token in a terminal, or set {}", VARIABLES[0]))
            }
            error => CliError::usage(error.to_string()),
        })?;
        writeln!(asks)?;
        typed
    };
    let is_number = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    match token.expose().split_once(':') {
        Some((id, _)) if is_number(id) => Ok(token),
        _ => Err(CliError::usage("not a bot token; tokens look like `123456789:AA…`")),
    }
}

/// The code that a message sends, as it was written.
fn said(update: &Update) -> Option<&str> {
    update.message.as_ref()?.text.as_deref()?.trim().strip_prefix("/start")?.split_whitespace().next()
}

/// Eight characters, 40 bits.
fn code() -> String {
    uuid::Uuid::new_v4().as_bytes()[..8].iter().map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect()
}
