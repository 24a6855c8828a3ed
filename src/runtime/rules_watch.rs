//! Follows the files that the rules of open runs are read from, so that a call that waits for the person is judged again
//! as soon as they are saved. The next call is judged by them in any case: `policy_engine` looks before each verdict.

use crate::adapters::file_watch::FileWatch;
use crate::orchestrator::input::Input;
use crate::runtime::channels;
use crate::runtime::gate::{Gate, Judge};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::mpsc;

/// The rules of the open runs of this program, followed by one watch.
#[derive(Default)]
pub struct RulesWatch(Option<Watching>);

struct Watching {
    followed: Arc<Mutex<Followed>>,
    changes: mpsc::Sender<()>,
}

struct Followed {
    watch: FileWatch,
    runs: Vec<(Weak<dyn Judge>, mpsc::WeakSender<Input>)>,
}

impl RulesWatch {
    /// Follows the rules of a run for as long as the run is open.
    pub fn add(&mut self, gate: &Gate, inputs: &mpsc::Sender<Input>) {
        if self.0.is_none() {
            self.0 = Watching::start();
        }
        let Some(watching) = &self.0 else { return };
        let mut followed = watching.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.runs.push((Arc::downgrade(gate), inputs.downgrade()));
        followed.watch_files(gate);
        drop(followed);
        // A file may have changed between the reading of the rules and the start of the watch.
        let _ = watching.changes.try_send(());
    }
}

impl Watching {
    fn start() -> Option<Self> {
        let (changes, mut seen) = mpsc::channel(channels::CHANGES);
        let report = changes.clone();
        let watch = FileWatch::new(move |_| {
            let _ = report.try_send(());
        });
        let watch = watch
            .inspect_err(|error| {
                tracing::warn!(%error, "the policy files cannot be watched; they are read again before each verdict");
            })
            .ok()?;
        let followed = Arc::new(Mutex::new(Followed { watch, runs: Vec::new() }));
        let weak = Arc::downgrade(&followed);
        tokio::spawn(async move {
            while seen.recv().await.is_some() {
                let Some(followed) = weak.upgrade() else { break };
                let open = followed.lock().unwrap_or_else(PoisonError::into_inner).open_runs();
                drop(followed);
                for (gate, inputs) in open {
                    let look = move || {
                        let words = gate.refresh()?;
                        Some((Input::RulesChanged { words, trouble: gate.trouble() }, gate.rules()))
                    };
                    if let Ok(Some((changed, known))) = tokio::task::spawn_blocking(look).await {
                        let _ = inputs.send(changed).await;
                        if let Some(rules) = known {
                            let _ = inputs.send(Input::RulesKnown { rules }).await;
                        }
                    }
                }
            }
        });
        Some(Self { followed, changes })
    }
}

impl Followed {
    /// The runs that are still open. Their files are added once more: a folder of theirs may be there now.
    fn open_runs(&mut self) -> Vec<(Gate, mpsc::Sender<Input>)> {
        self.runs.retain(|(gate, inputs)| gate.strong_count() > 0 && inputs.strong_count() > 0);
        let open: Vec<_> =
            self.runs.iter().filter_map(|(gate, inputs)| Some((gate.upgrade()?, inputs.upgrade()?))).collect();
        for (gate, _) in &open {
            self.watch_files(gate);
        }
        open
    }

    fn watch_files(&mut self, gate: &Gate) {
        for file in gate.files() {
            if let Err(error) = self.watch.add(&file) {
                tracing::warn!(%error, "a policy file cannot be watched; it is read again before each verdict");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::approval::Ruling;
    use crate::domain::tool_call::ToolCall;
    use std::path::PathBuf;
    use std::time::Duration;

    /// Rules that say, for each change, what is in their file.
    struct Rules(PathBuf, Mutex<String>);

    impl Judge for Rules {
        fn judge(&self, _: &ToolCall) -> Ruling {
            unreachable!("nothing is judged here")
        }

        fn refresh(&self) -> Option<String> {
            let now = std::fs::read_to_string(&self.0).unwrap_or_default();
            let mut told = self.1.lock().unwrap();
            (*told != now).then(|| told.clone_from(&now)).map(|()| now)
        }

        fn files(&self) -> Vec<PathBuf> {
            vec![self.0.clone()]
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn each_run_hears_of_its_rules_also_of_those_whose_folder_was_not_there() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = RulesWatch::default();
        let mut runs = Vec::new();
        for name in ["a", "b"] {
            let file = root.path().join(name).join("deep/policy.yaml");
            let gate: Gate = Arc::new(Rules(file.clone(), Mutex::default()));
            let (inputs, heard) = mpsc::channel(8);
            watch.add(&gate, &inputs);
            runs.push((file, gate, inputs, heard));
        }
        for (file, _, _, heard) in &mut runs {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            // The folder's creation may be seen before or after the file is written: either way the last text arrives.
            for text in ["one", "two"] {
                let new = file.with_extension("new");
                std::fs::write(&new, text).unwrap();
                std::fs::rename(&new, &*file).unwrap();
                let words =
                    tokio::time::timeout(Duration::from_secs(20), heard.recv()).await.expect("a change is reported");
                assert_eq!(words, Some(Input::RulesChanged { words: text.into(), trouble: None }));
            }
        }
        let (_, gate, inputs, mut heard) = runs.remove(0);
        drop((gate, inputs));
        assert_eq!(heard.recv().await, None, "the watch keeps no run open");
    }
}
