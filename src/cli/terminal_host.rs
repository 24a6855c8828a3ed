//! What the screen needs of the program: the service behind it, and what is done while the terminal is not its own:
//! editor, background, clipboard.

use super::park;
use super::past::Past;
use super::remote::requests::Requests;
use super::remote::shown;
use super::unsent;
use crate::adapters::clipboard;
use crate::adapters::config_files;
use crate::adapters::editor::Editor;
use crate::adapters::file_watch::FileWatch;
use crate::adapters::notifier;
use crate::adapters::private_file;
use crate::adapters::syntax::SyntaxReader;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Clock;
use crate::config::NotifyConfig;
use crate::domain::answerer::Answerer;
use crate::domain::notification::Notification;
use crate::domain::request::{Reply, Request};
use crate::domain::scrollback::Scrollback;
use crate::domain::syntax::{Snippet, Spans};
use crate::domain::ticket::TicketKey;
use crate::domain::wheel::Wheel;
use crate::runtime::app::App;
use crate::runtime::reporter::Subscription;
use crate::tui::arrangement::Arrangement;
use crate::tui::msg::Msg;
use crate::tui::screen_loop::Host;
use crate::tui::unsent::Texts;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What is behind a screen.
pub enum Behind {
    Service(App),
    /// A replay.
    Past(Past),
    /// A run of another machine.
    Remote(Requests),
}

/// The host of a screen in a terminal.
pub struct TerminalHost {
    /// Who is asked.
    pub behind: Behind,
    pub told: Subscription,
    /// What came of what was asked, by the screen or for it.
    pub replies: mpsc::UnboundedReceiver<Reply>,
    /// Where such replies go.
    pub reply: mpsc::UnboundedSender<Reply>,
    /// How the connection to another machine stands; `None`: it does.
    pub connection: mpsc::UnboundedReceiver<Option<String>>,
    pub clock: Arc<dyn Clock>,
    /// How the person hears of what they do not see.
    pub notify: NotifyConfig,
    /// The person's config folder.
    config: Option<PathBuf>,
    /// Where the arrangement of the panes is kept; `None`: nowhere.
    pub arrangement: Option<PathBuf>,
    /// Where what was typed and not sent is kept; `None`: nowhere.
    pub unsent: Option<PathBuf>,
    /// Tells of saved themes, while it is kept.
    watch: Option<FileWatch>,
    saved: mpsc::UnboundedReceiver<()>,
    syntax: SyntaxReader,
    coloured: mpsc::UnboundedReceiver<(Arc<Snippet>, Spans)>,
}

impl TerminalHost {
    /// The host of a screen that hears `told`, and of themes that are saved in the person's config folder.
    pub fn new(behind: Behind, told: Subscription, clock: Arc<dyn Clock>, config: Option<PathBuf>) -> Self {
        let (reply, replies) = mpsc::unbounded_channel();
        let (save, saved) = mpsc::unbounded_channel();
        // Without a watch themes are read when one is chosen.
        let watch = config.as_ref().filter(|folder| config_files::themes_folder(folder).is_dir());
        let watch = watch.and_then(|_| FileWatch::new(move |_| _ = save.send(())).ok());
        let (colour, coloured) = mpsc::unbounded_channel();
        let syntax = SyntaxReader::new(move |snippet, spans| _ = colour.send((snippet, spans)));
        let mut host = Self {
            behind,
            told,
            replies,
            reply,
            connection: mpsc::unbounded_channel().1,
            clock,
            notify: NotifyConfig::default(),
            config,
            arrangement: None,
            unsent: None,
            watch,
            saved,
            syntax,
            coloured,
        };
        // Whoever opens a screen is there.
        host.told.touched(host.clock.now());
        host.themes();
        host
    }

    /// An error where files and folders that the screen tells of are on another machine.
    fn is_here(&self) -> Result<(), String> {
        if let Behind::Remote(requests) = &self.behind { Err(requests.not_here()) } else { Ok(()) }
    }
}

impl Host for TerminalHost {
    /// Within `park::block_on`, as the screen's loop is run here.
    fn sleep_until(at: tokio::time::Instant) -> impl Future<Output = ()> {
        park::sleep_until(at.into_std())
    }

    async fn heard(&mut self) -> Msg {
        tokio::select! {
            biased;
            // What is answered was told before.
            news = self.told.next() => Msg::News(news),
            Some(reply) = self.replies.recv() => Msg::Replied(reply),
            Some(connection) = self.connection.recv() => Msg::Connection(connection),
            Some(()) = self.saved.recv() => Msg::Themes(self.themes()),
            Some((snippet, spans)) = self.coloured.recv() => Msg::Coloured(snippet, spans),
        }
    }

    fn heard_already(&mut self) -> Option<Msg> {
        let news = self.told.try_next().map(Msg::News);
        let told = news.or_else(|| self.replies.try_recv().ok().map(Msg::Replied));
        let told = told.or_else(|| self.connection.try_recv().ok().map(Msg::Connection));
        told.or_else(|| self.coloured.try_recv().ok().map(|(snippet, spans)| Msg::Coloured(snippet, spans)))
    }

    fn scrollback(&self, run: RunId) -> Option<Arc<dyn Scrollback>> {
        self.told.scrollback(run)
    }

    fn ask(&mut self, request: Request) -> Result<(), Box<Request>> {
        let app = match &self.behind {
            Behind::Service(app) => app,
            Behind::Past(past) => return past.ask(request, &self.reply),
            Behind::Remote(requests) => return requests.ask(request, &self.reply),
        };
        let (replied, reply) = (app.ask_now(request, Answerer::SCREEN)?, self.reply.clone());
        tokio::spawn(async move {
            if let Ok(replied) = replied.await {
                let _ = reply.send(replied);
            }
        });
        Ok(())
    }

    async fn edit(&mut self, ticket: &TicketKey) -> Result<(), String> {
        self.is_here()?;
        let path = if let Behind::Service(app) = &self.behind { app.file_of(ticket) } else { None };
        let Some(path) = path else {
            return Err(format!("no ticket file is known for {ticket}"));
        };
        wait_for(Editor::from_env().command(&path)).await
    }

    async fn edit_file(&mut self, path: &Path, line: u64) -> Result<(), String> {
        self.is_here()?;
        wait_for(Editor::from_env().command_at(path, line)).await
    }

    async fn edit_text(&mut self, text: &str) -> Result<String, String> {
        let write = || -> std::io::Result<tempfile::NamedTempFile> {
            let mut file = tempfile::Builder::new().prefix("COMMIT_EDITMSG-").suffix(".txt").tempfile()?;
            file.write_all(text.as_bytes())?;
            Ok(file)
        };
        let file = write().map_err(|error| format!("the message cannot be written for the editor: {error}"))?;
        wait_for(Editor::from_env().command(file.path())).await?;
        // Editors put another file in its place.
        let read = std::fs::read(file.path()).map(|text| String::from_utf8_lossy(&text).into_owned());
        read.map_err(|error| format!("the message cannot be read back: {error}"))
    }

    async fn take_wheel(&mut self, run: RunId) -> Wheel {
        let app = match &self.behind {
            Behind::Service(app) => app,
            Behind::Past(_) => return Wheel::Refused("this is a replay".to_owned()),
            Behind::Remote(requests) => return Wheel::Refused(requests.not_here()),
        };
        let mut ungated = false;
        loop {
            match app.ask(Request::TakeWheel { run, ungated }, Answerer::SCREEN).await {
                Reply::Wheel(Wheel::Ungated(why)) if !ungated => {
                    ungated = agrees(&why).await;
                    if !ungated {
                        // The person has seen why.
                        return Wheel::Returned;
                    }
                }
                Reply::Wheel(wheel) => return wheel,
                Reply::Refused(refused) => return Wheel::Refused(refused.message),
                _ => return Wheel::Refused("nothing was opened: try again".to_owned()),
            }
        }
    }

    async fn shell(&mut self, folder: &Path) -> Result<(), String> {
        self.is_here()?;
        let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
        let mut command = Command::new(&shell);
        command.current_dir(folder);
        let ended = tokio::task::spawn_blocking(move || command.status()).await;
        // It ends with the status of what was run in it last: that is no failure.
        ended.map_err(|error| error.to_string())?.map(drop).map_err(|error| {
            let (shell, folder) = (shell.to_string_lossy(), folder.display());
            clean_line(&format!("{shell} could not be started in {folder}: {error}"), 400)
        })
    }

    async fn attach(&mut self, machine: &str, ticket: &str, run: &str) -> Result<(), String> {
        self.is_here()?;
        let [machine, ticket, run] = [machine, ticket, run].map(str::to_owned);
        let shown = tokio::task::spawn_blocking(move || shown::show(&machine, &ticket, &run));
        shown.await.map_err(|error| error.to_string())?
    }

    fn touched(&mut self) {
        self.told.touched(self.clock.now());
    }

    fn suspend(&mut self) {
        // Returns when the shell continues us.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
    }

    fn themes(&mut self) -> Vec<(String, String)> {
        let Some(folder) = &self.config else { return Vec::new() };
        let found = config_files::themes(folder);
        for (name, _) in &found {
            let file = config_files::themes_folder(folder).join(format!("{name}.yaml"));
            if let Some(Err(error)) = self.watch.as_mut().map(|watch| watch.add(&file)) {
                tracing::warn!("{error}");
            }
        }
        found
    }

    fn keep_theme(&mut self, name: &str) -> Result<String, String> {
        let folder = self.config.as_ref().ok_or("there is no config folder; set $HOME")?;
        let path = config_files::keep_theme(folder, name)?;
        Ok(format!("theme {name} saved in {}", path.display()))
    }

    fn keep_arrangement(&mut self, arrangement: &Arrangement) {
        let Some(file) = &self.arrangement else { return };
        let kept = serde_json::to_string(arrangement).map_err(|error| error.to_string());
        let kept = kept.and_then(|text| private_file::write(file, &text).map_err(|error| error.to_string()));
        if let Err(error) = kept {
            tracing::warn!("the pane layout was not saved: {error}");
        }
    }

    fn keep_unsent(&mut self, of: &str, texts: &Texts) -> Result<(), String> {
        self.unsent.as_ref().map_or(Ok(()), |folder| unsent::keep(folder, of, texts))
    }

    fn notify(&mut self, notification: &Notification) -> (bool, bool) {
        let wants = &self.notify;
        if wants.desktop.takes(notification.level) {
            notifier::desktop(notification);
        }
        notifier::command(&wants.command, notification);
        (wants.bell.takes(notification.level), wants.terminal.takes(notification.level))
    }

    fn colour(&mut self, wanted: Vec<Arc<Snippet>>) {
        self.syntax.want(wanted);
    }

    fn copy(&mut self, text: &str) -> Result<String, String> {
        clipboard::copy(text)
    }
}

/// Whether the person wants Claude opened although the rules cannot judge what it does.
async fn agrees(why: &str) -> bool {
    let question = format!(
        "UNGATED: {}.\nYour policy cannot judge the tool calls of this session; only Claude's own prompts ask you. \
         Open it anyway? [y/N] ",
        clean_line(why, 400)
    );
    let asked = tokio::task::spawn_blocking(move || {
        let mut answer = String::new();
        let mut out = std::io::stdout();
        write!(out, "{question}").and_then(|()| out.flush()).and_then(|()| std::io::stdin().read_line(&mut answer))?;
        Ok::<_, std::io::Error>(matches!(answer.trim(), "y" | "Y" | "yes"))
    });
    asked.await.is_ok_and(|answer| answer.unwrap_or(false))
}

/// The editor has the terminal; runs go on on other threads meanwhile.
async fn wait_for(mut command: Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = tokio::task::spawn_blocking(move || command.status()).await;
    match status {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{program} ended with {status}")),
        Ok(Err(error)) => Err(format!("{program} could not be started: {error}; set $EDITOR")),
        Err(error) => Err(format!("cannot read the exit status of {program}: {error}")),
    }
}
