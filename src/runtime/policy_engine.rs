//! The rules of each run, and what the person's passphrase has opened in them. A change of the files counts for the next
//! call that is judged; grants are bound to the rules they were given under.
//!
//! Files are found by whoever makes [`PolicyEngines`]; what the rules say is `policy`'s.

use crate::adapters::agent::launch::{Additions, environment};
use crate::adapters::clock::boot_time;
use crate::adapters::environment::Variables;
use crate::adapters::passphrase::Passphrases;
use crate::adapters::path_view::RealPaths;
use crate::adapters::policy_files::{Stamp, stamps};
use crate::adapters::scratch_folder;
use crate::base::id::RunId;
use crate::base::time::short;
use crate::domain::approval::{Ruling, UnitView};
use crate::domain::passphrase::{Checked, Grants, LONGEST_GRANT};
use crate::domain::profile::Profile;
use crate::domain::tool_call::ToolCall;
use crate::domain::verdict::Verdict;
use crate::domain::workspace::Workspace;
use crate::policy;
use crate::policy::engine::Policy;
use crate::policy::place::Place;
use crate::policy::remembered::Remembered;
use crate::policy::rules::Scope;
use crate::policy::verdict::{Ruled, deciding};
use crate::runtime::gate::{Gate, Gates, Judge, Judged, Kept};
use crate::runtime::sampled::{Ground, Sampled};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

/// Stands for every rule of a policy in a grant for the whole run: no rule may have an empty name.
const EVERY_RULE: &str = "";

/// The reason of a verdict that the passphrase has made an allow.
pub const UNLOCKED: &str = "unlocked by your passphrase";

/// How the reason begins of a verdict that is a block for want of a passphrase.
pub const NEEDS_PASSPHRASE: &str = "it needs the passphrase, ";

/// Reads the policy for runs in a workspace: under the profile that is configured now, which was this one when the run was
/// opened, or under another that a step of the run asks for.
pub type Load = Box<dyn Fn(&Workspace, Profile, Option<Profile>) -> Policy + Send + Sync>;

/// Names the files that the policy of a workspace is made of.
pub type Files = Box<dyn Fn(&Workspace) -> Vec<PathBuf> + Send + Sync>;

/// Where the rules of runs come from.
pub struct Origin {
    pub load: Load,
    /// The files that it is made of, there or not.
    pub files: Files,
}

/// The person whose machine it is.
#[derive(Clone, Debug)]
pub struct Person {
    /// Their home, with links resolved.
    pub home: PathBuf,
    pub user: String,
    /// Their passphrase; `None` without a config folder.
    pub passphrases: Option<Passphrases>,
}

/// The rules of all runs of this program.
#[derive(Clone)]
pub struct PolicyEngines(Arc<Shared>);

struct Shared {
    person: Person,
    origin: Origin,
    books: Mutex<Vec<Weak<PolicyEngine>>>,
    grants: Mutex<Grants>,
}

/// The rules of one run.
pub struct PolicyEngine {
    run: RunId,
    workspace: Workspace,
    /// The ticket's file: as it was named, and with links resolved.
    ticket: Vec<PathBuf>,
    scratch: Option<PathBuf>,
    paths: RealPaths,
    profile: Profile,
    kept_to: Mutex<Kept>,
    policy: RwLock<Arc<Policy>>,
    known: Mutex<Known>,
    sampled: Sampled,
    shared: Arc<Shared>,
}

/// What a run was told of its rules.
struct Known {
    /// How the files looked when they were last read.
    stamps: Vec<Stamp>,
    /// The fingerprint of the rules that the run knows to hold.
    told: String,
}

/// What is there for Claude's commands, by the environment that Claude gets with this `agent.env`.
pub fn claudes_paths(env: Variables) -> RealPaths {
    RealPaths::with(environment(std::env::vars_os(), &Additions { env, ..Additions::default() }))
}

impl PolicyEngines {
    /// None yet.
    pub fn new(person: Person, origin: Origin) -> Self {
        Self(Arc::new(Shared { person, origin, books: Mutex::default(), grants: Mutex::default() }))
    }

    /// Reads the rules of a run, once.
    pub fn open(&self, judged: &Judged<'_>) -> Arc<PolicyEngine> {
        let Judged { run, workspace, ticket, profile, env } = *judged;
        let linked = ticket.and_then(|ticket| ticket.canonicalize().ok());
        let copy = ticket.and_then(|ticket| workspace.copy_of(ticket));
        let ticket: Vec<PathBuf> = ticket.map(Path::to_owned).into_iter().chain(linked).chain(copy).collect();
        // Looked at before they are read: what changes meanwhile is seen at the next look.
        let stamps = stamps(&(self.0.origin.files)(workspace));
        let policy = (self.0.origin.load)(workspace, profile, None).protecting(&ticket);
        let known = Mutex::new(Known { stamps, told: policy.fingerprint().to_owned() });
        let policy = RwLock::new(Arc::new(policy));
        let book = Arc::new(PolicyEngine {
            run,
            workspace: workspace.clone(),
            ticket,
            scratch: scratch_folder::path(run).ok(),
            paths: claudes_paths(env.to_vec()),
            profile,
            kept_to: Mutex::default(),
            policy,
            known,
            sampled: Sampled::default(),
            shared: self.0.clone(),
        });
        let mut books = self.0.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.retain(|book| book.strong_count() > 0);
        books.push(Arc::downgrade(&book));
        book
    }

    /// The same, as runs ask for it.
    pub fn gates(&self) -> Gates {
        let books = self.clone();
        Arc::new(move |judged: &Judged<'_>| -> Gate { books.open(judged) })
    }

    /// Reads the rules of every run anew, for their very next call: the person has changed them. The runs are told by
    /// their next [`refresh`](Judge::refresh).
    pub fn reload(&self) {
        let books: Vec<_> = {
            let books = self.0.books.lock().unwrap_or_else(PoisonError::into_inner);
            books.iter().filter_map(Weak::upgrade).collect()
        };
        for book in books {
            // What it is kept to is not changed meanwhile.
            let _known = book.known.lock().unwrap_or_else(PoisonError::into_inner);
            book.read_again();
        }
    }
}

impl PolicyEngine {
    fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn load(&self) -> Arc<Policy> {
        let kept_to = self.kept_to().profile;
        Arc::new((self.shared.origin.load)(&self.workspace, self.profile, kept_to).protecting(&self.ticket))
    }

    fn kept_to(&self) -> Kept {
        *self.kept_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who may only read writes no plan either, unless it is what it is there for.
    fn may_plan(&self) -> bool {
        let Kept { profile, plans } = self.kept_to();
        plans || profile.unwrap_or(self.profile) != Profile::ReadOnly
    }

    fn read_again(&self) {
        let policy = self.load();
        let mut held = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        if held.fingerprint() != policy.fingerprint() {
            // They die with the rules they were given under, also where those come back.
            self.shared.grants.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        *held = policy;
    }

    /// Reads the rules again if a file of theirs looks otherwise than when it was last read.
    fn look(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = stamps(&self.files());
        if known.stamps != stamps {
            known.stamps = stamps;
            self.read_again();
        }
    }

    /// Whether the passphrase has opened the rule not long ago.
    fn is_open(&self, rule: &str, policy: &Policy) -> bool {
        let grants = self.shared.grants.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |rule| grants.holds(rule, policy.fingerprint(), self.run, boot_time());
        holds(rule) || holds(EVERY_RULE)
    }

    fn unit(&self, ruled: Ruled, policy: &Policy) -> (Verdict, UnitView) {
        let open = ruled.verdict == Verdict::Passphrase && self.is_open(&ruled.rule, policy);
        let (verdict, reason) =
            if open { (Verdict::Allow, UNLOCKED.to_owned()) } else { (ruled.verdict, ruled.reason) };
        // What a yes would open is said before it is given.
        let opens = (verdict == Verdict::Passphrase).then(|| opens(policy, &ruled.rule)).flatten();
        let reason = match opens {
            Some((_, words, life)) if reason.is_empty() => {
                format!("the passphrase unlocks {words} for {}", short(life))
            }
            Some((_, words, life)) => format!("{reason}; the passphrase unlocks {words} for {}", short(life)),
            None => reason,
        };
        (verdict, UnitView { text: ruled.text, verdict, rule: ruled.rule, reason, kind: ruled.kind })
    }

    /// Why nobody can give the passphrase.
    fn locked_for_good(&self) -> Option<String> {
        const UNSET: &str = "and none is set; the user can set one: programmator passphrase set";
        match self.shared.person.passphrases.as_ref().map(|passphrases| passphrases.standing(boot_time())) {
            None | Some(Ok(Checked::Unset)) => Some(format!("{NEEDS_PASSPHRASE}{UNSET}")),
            Some(Err(error)) => Some(format!("{NEEDS_PASSPHRASE}which cannot be used: {error}")),
            Some(Ok(_)) => None,
        }
    }
}

/// What the passphrase opens beyond the call that this rule locks: the name that the grant is under, in words, how long.
fn opens<'a>(policy: &Policy, rule: &'a str) -> Option<(&'a str, String, Duration)> {
    let grant = policy.grant_of(rule)?;
    let life = Duration::from_secs(grant.seconds().unwrap_or(0)).min(LONGEST_GRANT);
    let (reach, words) = match grant.scope {
        // The call itself is answered, and that was it.
        Scope::Once => return None,
        Scope::Rule => (rule, format!("rule {rule}")),
        Scope::Run => (EVERY_RULE, "every rule that asks for it".to_owned()),
    };
    Some((reach, words, life))
}

impl PolicyEngine {
    fn judge_by(&self, policy: &Policy, call: &ToolCall) -> Ruling {
        // What is no JSON is no call that could be understood: blocked.
        let input: Value = serde_json::from_str(&call.input).unwrap_or(Value::Null);
        let Person { home, user, .. } = &self.shared.person;
        let view = Remembered::new(&self.paths).with_scratch(self.scratch.as_deref()).with_plans(self.may_plan());
        let cwd = call.cwd.as_ref().map_or(self.workspace.directory(), Path::new);
        let place = Place { workspace: self.workspace.directory(), cwd, home, user, view: &view };
        let decision = policy.decide(&call.tool, &input, &place);
        let provable = decision.proven;
        let reaches: Vec<u8> = decision.units.iter().map(|ruled| ruled.reach).collect();
        let judged: Vec<_> = decision.units.into_iter().map(|ruled| self.unit(ruled, policy)).collect();
        let verdict = judged.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::Block);
        let weighed: Vec<_> = judged.iter().zip(reaches).map(|((verdict, _), reach)| (*verdict, reach)).collect();
        let deciding = deciding(&weighed).and_then(|at| judged.get(at));
        let (rule, reason) = deciding.map(|(_, unit)| (unit.rule.clone(), unit.reason.clone())).unwrap_or_default();
        let ruling = Ruling {
            verdict,
            rule,
            reason,
            target: policy::target(&input),
            units: judged.into_iter().map(|(_, unit)| unit).collect(),
            provable,
        };
        if verdict == Verdict::Passphrase
            && let Some(why) = self.locked_for_good()
        {
            let rule = ruling.rule.clone();
            return ruling.blocked(&rule, &why);
        }
        ruling
    }
}

impl Judge for PolicyEngine {
    fn judge(&self, call: &ToolCall) -> Ruling {
        self.look();
        self.judge_by(&self.policy(), call)
    }

    fn sample(&self, calls: &[ToolCall]) -> Vec<Verdict> {
        self.look();
        let policy = self.policy();
        let judge = |call: &ToolCall| self.judge_by(&policy, call).verdict;
        if self.shared.grants.lock().unwrap_or_else(PoisonError::into_inner).any_for(self.run) {
            return calls.iter().map(judge).collect();
        }
        let folder = Ground::listed(self.workspace.directory());
        let (rules, locked) = (policy.fingerprint().to_owned(), self.locked_for_good());
        self.sampled.verdicts(Ground { rules, kept: self.kept_to(), locked, folder }, calls, judge)
    }

    fn judge_again(&self, call: &ToolCall) -> Result<Ruling, String> {
        self.look();
        let policy = self.policy();
        match policy.broken() {
            Some(error) => Err(error.to_string()),
            None => Ok(self.judge_by(&policy, call)),
        }
    }

    fn keep_to(&self, kept: Kept) {
        self.look();
        let before = std::mem::replace(&mut *self.kept_to.lock().unwrap_or_else(PoisonError::into_inner), kept);
        if before.profile == kept.profile {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Only of what the person has changed are they still to be told: grants stay.
        let is_told = known.told == self.policy().fingerprint();
        let policy = self.load();
        if is_told {
            policy.fingerprint().clone_into(&mut known.told);
        }
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = policy;
    }

    fn unlock(&self, rules: &[String]) -> Option<String> {
        let policy = self.policy();
        let mut grants = self.shared.grants.lock().unwrap_or_else(PoisonError::into_inner);
        let mut opened = Vec::new();
        for rule in rules {
            let Some((reach, words, life)) = opens(&policy, rule) else { continue };
            grants.give(reach, policy.fingerprint(), self.run, life, boot_time());
            let told = format!("{words} for {}", short(life));
            if !opened.contains(&told) {
                opened.push(told);
            }
        }
        (!opened.is_empty()).then(|| format!("your passphrase unlocked {} (this run only)", opened.join(" and ")))
    }

    fn refresh(&self) -> Option<String> {
        self.look();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = self.policy();
        if known.told == policy.fingerprint() {
            return None;
        }
        let short = |hash: &str| hash.get(..8).unwrap_or(hash).to_owned();
        let blocked = self.trouble().map(|why| format!("new calls are blocked, pending ones keep waiting: {why}"));
        let words = blocked.unwrap_or_else(|| {
            let (old, new) = (short(&known.told), short(policy.fingerprint()));
            format!("policy changed ({old} → {new}): it applies from now on, and waiting calls are judged again")
        });
        policy.fingerprint().clone_into(&mut known.told);
        Some(words)
    }

    fn rules(&self) -> Option<String> {
        let policy = match self.kept_to().profile {
            None => self.policy(),
            Some(_) => Arc::new((self.shared.origin.load)(&self.workspace, self.profile, None)),
        };
        Some(policy.fingerprint_in(self.workspace.directory()))
    }

    fn files(&self) -> Vec<PathBuf> {
        (self.shared.origin.files)(&self.workspace)
    }

    fn trouble(&self) -> Option<String> {
        let error = self.policy().broken()?.to_string();
        Some(format!("the policy cannot be used: {error}. Fix it: programmator policy edit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::secret::Secret;
    use crate::domain::approval::Presence;
    use crate::domain::tool_call::{ControlRequest, Via};
    use crate::policy::engine::Source;
    use crate::runtime::prompts::briefing;

    const LOCKED: &str = "version: 1\nrules:\n  - {name: reads, action: allow, effects: [read]}\n  \
        - {name: tags, action: require-passphrase, command: git, args: {prefix: [[tag]]}, grant: {scope: rule, ttl: 5m}}\n  \
        - {name: once, action: require-passphrase, command: git, args: {prefix: [[push]]}}\n";

    struct Place {
        folder: tempfile::TempDir,
        books: PolicyEngines,
        text: Arc<Mutex<String>>,
    }

    impl Place {
        /// Rules from `text`; none: the profile's.
        fn new(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let passphrases = Passphrases::new(&folder.path().join("config"), &folder.path().join("state"));
            let home = folder.path().to_owned();
            let person = Person { home, user: "dev".into(), passphrases: Some(passphrases) };
            let text = Arc::new(Mutex::new(text.to_owned()));
            let now = text.clone();
            let load = move |_: &Workspace, profile, own: Option<Profile>| match now.lock().unwrap().as_str() {
                "" => Policy::of(own.unwrap_or(profile)),
                text => Policy::alone(&Source { path: "policy.yaml".into(), text: text.to_owned() }),
            };
            let file = folder.path().join("policy.yaml");
            let origin = Origin { load: Box::new(load), files: Box::new(move |_| vec![file.clone()]) };
            Self { folder, books: PolicyEngines::new(person, origin), text }
        }

        fn book(&self) -> Arc<PolicyEngine> {
            self.book_of(7)
        }

        fn book_of(&self, run: u128) -> Arc<PolicyEngine> {
            let (root, run) = (self.root(), RunId(uuid::Uuid::from_u128(run)));
            let (workspace, ticket) = (&Workspace::shared(&root), root.join("plan.md"));
            self.books.open(&Judged { run, workspace, ticket: Some(&ticket), profile: Profile::Guarded, env: &[] })
        }

        fn root(&self) -> PathBuf {
            self.folder.path().canonicalize().unwrap()
        }

        fn judge(book: &PolicyEngine, command: &str) -> Ruling {
            let input = serde_json::json!({ "command": command }).to_string();
            book.judge(&bash(&input))
        }

        fn set_passphrase(&self) {
            let passphrases = Passphrases::new(&self.folder.path().join("config"), &self.folder.path().join("state"));
            passphrases.set(&Secret::of("correct horse battery")).unwrap();
        }
    }

    fn kept(profile: Option<Profile>) -> Kept {
        Kept { profile, plans: false }
    }

    #[test]
    fn only_the_planner_writes_plans_where_only_reading_is_allowed() {
        let place = Place::new("");
        let book = place.book();
        let plan = place.root().join(".claude/plans/calm-blue-heron.md");
        std::fs::create_dir_all(plan.parent().unwrap()).unwrap();
        let input = serde_json::json!({ "file_path": plan, "content": "x" }).to_string();
        let write = ToolCall { tool: "Write".into(), ..bash(&input) };
        for (profile, plans, expected) in [
            (None, false, Verdict::Allow),
            (Some(Profile::ReadOnly), false, Verdict::Block),
            (Some(Profile::ReadOnly), true, Verdict::Allow),
            (Some(Profile::ReadOnly), false, Verdict::Block),
        ] {
            book.keep_to(Kept { profile, plans });
            assert_eq!(book.judge(&write).verdict, expected, "{profile:?} {plans}");
        }
    }

    fn bash(input: &str) -> ToolCall {
        let request = ControlRequest { id: "r".into(), via: Via::Callback };
        let (tool_use_id, tool, input) = ("t".into(), "Bash".into(), input.into());
        ToolCall { request, tool_use_id, tool, input, agent: None, cwd: None }
    }

    #[test]
    fn a_ruling_says_what_the_engine_said() {
        use Verdict::{Allow, Ask, Block};
        let place = Place::new("");
        let book = place.book();
        for (command, verdict, rule, provable) in [
            ("ls", Allow, "allow-reads", true),
            ("touch a", Allow, "allow-workspace-writes", true),
            ("git push", Ask, "ask-network", true),
            ("ls; frobnicate", Ask, "ask-unknown", false),
            ("ls && rm -rf src", Block, "block-rm-rf", true),
        ] {
            let ruling = Place::judge(&book, command);
            assert_eq!((ruling.verdict, ruling.rule.as_str()), (verdict, rule), "{command}: {ruling:?}");
            assert_eq!(ruling.provable, provable, "{command}: {ruling:?}");
            assert_eq!(ruling.target, command);
        }
        let two = Place::judge(&book, "ls && touch 'a\n b'");
        assert_eq!(two.units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>(), ["ls", "touch 'a\n b'"]);
        for input in ["", "no JSON", "[]", r#"{"command": 3}"#, r#"{"command":"\ud800"}"#] {
            assert_eq!(book.judge(&bash(input)).verdict, Block, "{input}");
        }
    }

    #[test]
    fn docker_is_judged_by_the_environment_that_claude_gets() {
        let place = Place::new("");
        let (root, run) = (place.root(), RunId(uuid::Uuid::from_u128(7)));
        std::fs::create_dir(root.join("far")).unwrap();
        std::fs::write(root.join("far/config.json"), r#"{"currentContext": "far"}"#).unwrap();
        let home = ("HOME", root.display().to_string());
        for (variable, verdict) in [
            (("LANG", "C".to_owned()), Verdict::Allow),
            (("DOCKER_HOST", "tcp://10.0.0.1:2375".to_owned()), Verdict::Ask),
            (("DOCKER_CONFIG", root.join("far").display().to_string()), Verdict::Ask),
        ] {
            let env = [&home, &variable].map(|(name, value)| (name.into(), value.into()));
            let workspace = &Workspace::shared(&root);
            let judged = Judged { run, workspace, ticket: None, profile: Profile::Guarded, env: &env };
            let ruling = Place::judge(&place.books.open(&judged), "docker ps");
            assert_eq!(ruling.verdict, verdict, "{variable:?}: {ruling:?}");
        }
    }

    #[test]
    fn the_file_of_the_ticket_is_not_claudes_to_write() {
        let place = Place::new("");
        std::fs::write(place.root().join("plan.md"), "# Plan\n").unwrap();
        let book = place.book();
        for read_anew in [false, true] {
            if read_anew {
                place.books.reload();
            }
            for command in ["echo - > plan.md", "rm plan.md", "mv x PLAN.md"] {
                assert_eq!(Place::judge(&book, command).verdict, Verdict::Block, "{command}");
            }
            assert_eq!(Place::judge(&book, "touch other.md").verdict, Verdict::Allow);
        }
    }

    #[test]
    fn without_a_passphrase_what_needs_one_is_blocked() {
        let place = Place::new(LOCKED);
        let book = place.book();
        let ruling = Place::judge(&book, "git tag x");
        assert_eq!((ruling.verdict, ruling.rule.as_str()), (Verdict::Block, "tags"));
        assert!(ruling.reason.contains("none is set"), "{}", ruling.reason);
        place.set_passphrase();
        assert_eq!(Place::judge(&book, "git tag x").verdict, Verdict::Passphrase);
    }

    #[test]
    fn a_passphrase_opens_what_its_rule_sells_until_the_policy_changes() {
        use Verdict::{Allow, Block, Passphrase};
        let place = Place::new(LOCKED);
        place.set_passphrase();
        let book = place.book();
        let locked = Place::judge(&book, "git tag x").reason;
        assert!(locked.contains("the passphrase unlocks rule tags for 5m"), "said before it is given: {locked}");
        assert!(!Place::judge(&book, "git push").reason.contains("unlocks"));
        let told = book.unlock(&["tags".into(), "once".into(), "no such rule".into()]);
        assert_eq!(told.as_deref(), Some("your passphrase unlocked rule tags for 5m00s (this run only)"));
        assert_eq!(book.unlock(&["once".into()]), None, "there is nothing to tell of one call");
        assert_eq!(Place::judge(&book, "git tag x").verdict, Allow);
        assert_eq!(Place::judge(&book, "git push").verdict, Passphrase, "its rule sells one call");
        assert_eq!(Place::judge(&book, "git tag x; git push").verdict, Passphrase);
        let other = place.book_of(8);
        assert_eq!(Place::judge(&other, "git tag x").verdict, Passphrase, "another run");
        place.books.reload();
        assert_eq!(Place::judge(&book, "git tag x").verdict, Allow, "read anew, and the same");
        assert_eq!(book.refresh(), None);
        let edit = |text: &str| {
            *place.text.lock().unwrap() = text.to_owned();
            std::fs::write(place.folder.path().join("policy.yaml"), text).unwrap();
        };
        edit(&format!("{LOCKED}# a word more\n"));
        assert!(book.refresh().unwrap().contains("policy changed"));
        assert_eq!(book.refresh(), None, "told once");
        edit("version: 1\nrulse: []\n");
        book.keep_to(kept(Some(Profile::Strict)));
        book.keep_to(kept(None));
        assert!(book.refresh().unwrap().contains("policy.yaml:2:1"), "a step of another profile hides no change");
        edit(&format!("{LOCKED}# a word more\n"));
        assert!(book.refresh().is_some());
        assert_eq!(Place::judge(&book, "git tag x").verdict, Passphrase, "other rules, and closed");
        edit(LOCKED);
        assert!(book.refresh().is_some());
        assert_eq!(Place::judge(&book, "git tag x").verdict, Passphrase, "what was closed stays closed");
        edit("version: 1\nrulse: []\n");
        assert_eq!(Place::judge(&book, "ls").verdict, Block, "the very next call is judged by them");
        let call = bash(r#"{"command":"ls"}"#);
        assert!(book.judge_again(&call).unwrap_err().contains("policy.yaml:2:1"), "what waits is not refused by them");
        assert!(book.refresh().unwrap().contains("policy.yaml:2:1"), "{:?}", book.trouble());
        edit(LOCKED);
        assert!(book.refresh().unwrap().contains("policy changed"));
        assert_eq!(Place::judge(&book, "ls").verdict, Allow);
        assert_eq!(book.judge_again(&call).map(|ruling| ruling.verdict), Ok(Allow));
    }

    /// What is there is asked for, so a line cannot say what the gate does not do.
    #[test]
    fn claude_is_told_what_the_gate_does_under_the_profile_of_its_step() {
        let place = Place::new("");
        let (book, root) = (place.book(), place.root());
        let told = |presence| briefing(&*book, book.run, &book.workspace, &root.join("plan.md"), presence);
        std::fs::write(root.join("Cargo.toml"), "[package]\nname = \"shop\"\n").unwrap();
        let refusal =
            "A refusal comes with its reason. Do not retry it in another form; use what is allowed, or report it.";
        let there = told(Presence::Screen);
        assert_eq!(
            there,
            [
                "Runs at once: building and testing (`cargo test`); reading files in the working tree; writing files in the working \
                 tree; writing files in `$TMPDIR`; `git commit`.",
                "Waits for the user's approval: `python3 -c`; `node -e`; network access (`curl`); installing packages (`npm \
                 install`); `git push`; `git reset --hard`.",
                "Refused: writing elsewhere (`/srv`); `rm -rf src`; changing the ticket's file.",
                refusal,
            ]
        );
        assert!(
            told(Presence::Nobody)[1].starts_with("Refused, because nobody is there to approve it: `python3 -c`; ")
        );
        book.keep_to(kept(Some(Profile::Strict)));
        let strict = told(Presence::Screen);
        assert_eq!(strict[0], "Runs at once: reading files in the working tree.");
        assert!(strict.len() <= 5 && strict[1].contains("`git push`"), "{strict:#?}");
        assert_eq!(book.refresh(), None, "the person has changed no rule");
        book.keep_to(kept(None));
        assert_eq!(told(Presence::Screen), there);
        let curl = "version: 1\nrules:\n  - {name: reads, action: allow, effects: [read]}\n  - {name: curl, action: allow, \
                    command: curl}\n";
        let place = Place::new(curl);
        let (book, root) = (place.book(), place.root());
        let told = briefing(&*book, book.run, &book.workspace, &root.join("plan.md"), Presence::Screen);
        assert_eq!(
            told[0], "Runs at once: reading files in the working tree; network access (`curl`).",
            "not npm: {told:#?}"
        );
    }
}
