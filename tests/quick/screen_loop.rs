//! The loop and the terminal in a real pty: first frame, leaving, panic, a terminal that goes away,
//! an editor, and rest. The child is this very test binary, called again for [`child`].

#![cfg(unix)]

use crate::{base, domain, sample, tui};
use domain::notification::Notification;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Names what the child should show; not set in an ordinary test run.
const CHILD: &str = "PROGRAMMATOR_TEST_SCREEN";
/// Exit code of a child whose terminal went away.
const LOST: i32 = 42;
const PATIENCE: Duration = Duration::from_secs(20);

struct Now;

impl base::time::Clock for Now {
    fn now(&self) -> base::time::Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        base::time::Timestamp::from_millis(since.unwrap().as_millis() as i64)
    }
}

struct Host(tokio::sync::mpsc::Receiver<tui::msg::Msg>);

impl tui::screen_loop::Host for Host {
    async fn heard(&mut self) -> tui::msg::Msg {
        match self.0.recv().await {
            Some(msg) => msg,
            None => std::future::pending().await,
        }
    }

    fn heard_already(&mut self) -> Option<tui::msg::Msg> {
        self.0.try_recv().ok()
    }

    fn scrollback(&self, _: base::id::RunId) -> Option<std::sync::Arc<dyn domain::scrollback::Scrollback>> {
        None
    }

    fn ask(&mut self, _: domain::request::Request) -> Result<(), Box<domain::request::Request>> {
        Ok(())
    }

    async fn edit_file(&mut self, path: &std::path::Path, _: u64) -> Result<(), String> {
        Err(format!("{} is not edited", path.display()))
    }

    async fn edit(&mut self, ticket: &domain::ticket::TicketKey) -> Result<(), String> {
        println!("EDITOR {ticket}");
        let mut key = [0; 1];
        std::io::stdin().read_exact(&mut key).map_err(|error| error.to_string())?;
        Err(format!("the editor saw {}", key[0]))
    }

    fn suspend(&mut self) {}

    fn themes(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn keep_theme(&mut self, name: &str) -> Result<String, String> {
        Ok(name.to_owned())
    }

    fn notify(&mut self, _: &Notification) -> (bool, bool) {
        (true, true)
    }

    fn copy(&mut self, _: &str) -> Result<String, String> {
        Ok(String::new())
    }
}

#[test]
fn child() {
    let Ok(scene) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(async {
        // Stays when the terminal hangs up, so that the loop has to find out.
        let _hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        let mut screen = tui::terminal::Screen::open().unwrap();
        let mut model = sample::model();
        model.tabs.push(match scene.as_str() {
            "running" => sample::running("tk-4f2a"),
            _ => sample::finished("tk-4f2a"),
        });
        let (to_screen, news) = tokio::sync::mpsc::channel(8);
        if scene == "panic" {
            tokio::spawn(async move {
                let id = sample::id("tk-4f2a");
                let _ = to_screen.send(tui::msg::Msg::News(domain::news::News::TicketGone(id))).await;
            });
        }
        let mut host = Host(news);
        let stop = tokio_util::sync::CancellationToken::new();
        let shown = tui::screen_loop::run(&mut screen, &mut model, &Now, stop, &mut host);
        if scene == "panic" {
            let _ = tokio::time::timeout(Duration::from_millis(300), shown).await;
            panic!("boom");
        }
        shown.await
    });
    match result {
        Ok(()) => std::process::exit(0),
        Err(tui::terminal::ScreenError::Lost(_)) => std::process::exit(LOST),
        Err(other) => panic!("{other}"),
    }
}

struct Pty {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    bytes: mpsc::Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

fn start(scene: &str) -> Pty {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args(["screen_loop::child", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, scene);
    command.env("TERM", "xterm-256color");
    command.env("RUST_BACKTRACE", "0");
    let child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let (send, bytes) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 8192];
        while let Ok(n) = reader.read(&mut chunk) {
            if n == 0 || send.send(chunk[..n].to_vec()).is_err() {
                break;
            }
        }
    });
    Pty {
        writer: Some(pair.master.take_writer().unwrap()),
        master: Some(pair.master),
        child,
        bytes,
        screen: vt100::Parser::new(24.try_into().unwrap(), 80.try_into().unwrap(), 0),
    }
}

impl Pty {
    fn until(&mut self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self.screen.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            match self.bytes.recv_timeout(left) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(why) => panic!("never saw {what} ({why}); the screen:\n{}", self.screen.screen().contents()),
            }
        }
    }

    fn shows(&mut self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    fn press(&mut self, keys: &str) {
        self.writer.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end of the child; its exit code.
    fn ends(&mut self) -> u32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < end, "the child goes on");
            std::thread::yield_now();
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn leaving_gives_the_terminal_back() {
    let mut pty = start("finished");
    pty.shows("complete: 6/6 phases");
    let screen = pty.screen.screen();
    assert!(screen.alternate_screen() && screen.hide_cursor() && screen.bracketed_paste());
    pty.press("?");
    pty.shows("select lines, to copy them");
    pty.press("\x1b");
    // Only then: an Esc and a letter in one breath are Alt and the letter.
    pty.until("no help", |screen| !screen.contents().contains("select lines, to copy them"));
    pty.press("q");
    pty.until("the shell's screen", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
    });
    assert_eq!(pty.ends(), 0);
}

#[test]
fn a_panic_is_told_on_the_shells_screen() {
    let mut pty = start("panic");
    pty.shows("the ticket's file is gone");
    assert!(pty.screen.screen().alternate_screen());
    pty.until("the panic's words", |screen| {
        screen.contents().contains("boom") && !screen.alternate_screen() && !screen.hide_cursor()
    });
}

#[test]
fn a_terminal_that_goes_away_ends_the_loop() {
    for scene in ["finished", "running"] {
        let mut pty = start(scene);
        pty.shows("Login rate limiter");
        pty.writer = None;
        pty.master = None;
        // The reader has the last handle of the master; it ends with the child or with this.
        drop(std::mem::replace(&mut pty.bytes, mpsc::channel().1));
        assert_eq!(pty.ends(), LOST as u32, "{scene}");
    }
}

#[test]
fn an_editor_has_the_terminal_to_itself() {
    let mut pty = start("finished");
    pty.shows("Login rate limiter");
    pty.press("e");
    pty.shows("EDITOR tk-4f2a");
    assert!(!pty.screen.screen().alternate_screen());
    // `q` would leave if the screen still read the keys; the line's end is for the terminal.
    pty.press("q\n");
    pty.shows("the editor saw 113");
    assert!(pty.screen.screen().alternate_screen());
}

#[cfg(target_os = "linux")]
#[test]
fn a_finished_screen_makes_no_wake_ups_and_a_clock_one_a_second() {
    let wake_ups = |pid: u32| -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let count = |status: String| {
            let line = status.lines().find(|line| line.starts_with("voluntary_ctxt")).unwrap().to_owned();
            line.split_whitespace().last().unwrap().parse::<u64>().unwrap()
        };
        tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("status")).ok()).map(count).sum()
    };
    for (scene, most) in [("finished", 0), ("running", 12)] {
        let mut pty = start(scene);
        pty.shows("q quit");
        let pid = pty.child.process_id().unwrap();
        // The time is what is measured here; what begins with the first frame is let settle.
        std::thread::sleep(Duration::from_millis(500));
        let before = wake_ups(pid);
        std::thread::sleep(Duration::from_secs(3));
        let made = wake_ups(pid) - before;
        assert!(made <= most, "{scene}: {made} wake-ups in 3 s");
        pty.press("q");
    }
}
