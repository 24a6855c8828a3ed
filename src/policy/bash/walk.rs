//! The walk over a script's tree. Every kind of node is named: one that a later parser adds does not compile.
//!
//! What a word may be is found in `words`, what a command does in `command`, what a redirection does in `redirect`.

use super::brackets;
use super::parse::{self, Grammar};
use super::redirect::Streams;
use super::shell::{Shell, holds_numbers, is_named, is_set_once};
use super::variables::is_own_name;
use super::walker::Walker;
use super::{effects, fetched};
use crate::policy::place::Place;
use crate::policy::unit::{Class, Field, Program, Unit};
use brush_parser::ast::{
    AndOr, AndOrList, CaseClauseCommand, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList,
    CompoundListItem, CoprocessCommand, DoGroupCommand, ForClauseCommand, FunctionBody, FunctionDefinition,
    IfClauseCommand, Pipeline, PipelineTimed, Program as Script, RedirectList, SeparatorOperator, SubshellCommand,
};

/// Deepest nesting that is walked.
pub(super) const MAX_DEPTH: usize = 16;

/// Most commands, assignments and redirections of a script. Judging takes longer the more there are before.
const MAX_COMMANDS: usize = 500;

impl<'a> Walker<'a> {
    /// A walk over a script that starts in the place's folder.
    pub fn new(text: &'a str, place: Place<'a>) -> Self {
        Self {
            text,
            place,
            shell: Shell::new(place.cwd),
            units: Vec::new(),
            feed: None,
            depth: 0,
            commands: 0,
            steady: true,
            moves: false,
            fetched: Vec::new(),
            in_order: true,
        }
    }

    pub fn walk(mut self) -> Vec<Unit> {
        self.script(self.text, Grammar::Bash);
        if self.moves && self.units.iter().any(effects::changes) {
            self = Self { steady: false, ..Self::new(self.text, self.place) };
            self.script(self.text, Grammar::Bash);
        }
        effects::distrust(&mut self.units, &self.fetched, self.place.workspace, self.in_order);
        self.units
    }

    /// Walks a text that the same shell runs. Its state goes on behind it.
    pub(super) fn script(&mut self, text: &str, grammar: Grammar) {
        self.depth += 1;
        if let Some(other) = brackets::apart(text) {
            self.apart(|walker| walker.script(&other, grammar));
        }
        match parse::program(text, grammar) {
            _ if self.depth > MAX_DEPTH => self.refuse(text, "nested too deeply"),
            Err(why) => self.refuse(text, &why),
            Ok(Script { complete_commands }) => complete_commands.iter().for_each(|list| self.list(list)),
        }
        self.depth -= 1;
    }

    /// Walks a text that a shell of its own runs: a substitution, `bash -c`.
    pub(super) fn subscript(&mut self, text: &str, grammar: Grammar) {
        self.in_order = false;
        self.apart(|walker| {
            walker.feed = None;
            walker.script(text, grammar);
        });
    }

    /// The units of another walk over the text of another shell, which knows none of this one's variables.
    pub(super) fn other_shell(&mut self, text: &str, grammar: Grammar) {
        let mut other =
            Walker { depth: self.depth, commands: self.commands, steady: self.steady, ..Walker::new(text, self.place) };
        other.shell = self.shell.clone().without_variables();
        other.script(text, grammar);
        self.moves |= other.moves;
        self.fetched.extend(other.fetched);
        self.in_order = false;
        self.commands = other.commands;
        for unit in other.units {
            if !self.units.contains(&unit) {
                self.units.push(unit);
            }
        }
    }

    /// Counts what is about to be judged, and says whether there is too much of it. What is more is not read.
    pub(super) fn is_too_much(&mut self, more: usize, text: &str) -> bool {
        let before = self.commands;
        self.commands += more;
        if before <= MAX_COMMANDS && self.commands > MAX_COMMANDS {
            self.refuse(text, &format!("the script has more than {MAX_COMMANDS} commands"));
        }
        self.commands > MAX_COMMANDS
    }

    pub(super) fn refuse(&mut self, text: &str, why: &str) {
        self.units.push(hidden(text, why));
    }

    /// Text that runs and is not seen: it could do anything.
    pub(super) fn unseen(&mut self, text: &str, why: &str) {
        self.units.push(Unit::new("Bash", Program::Opaque, text).unclear(why));
    }

    /// Something that is not proven, and does nothing by itself.
    pub(super) fn doubtful(&mut self, text: &str, why: &str) {
        self.units.push(Unit::new("Bash", Program::Named("expansion".to_owned()), text).unclear(why));
    }

    /// What happens there does not change this shell.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let (shell, feed) = (self.shell.clone(), self.feed.clone());
        walk(self);
        (self.shell, self.feed) = (shell, feed);
    }

    /// What happens there may happen or not.
    fn maybe(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.shell.clone();
        walk(self);
        self.shell = std::mem::replace(&mut self.shell, Shell::new(self.place.cwd)).join(&before);
    }

    fn list(&mut self, CompoundList(items): &CompoundList) {
        for CompoundListItem(list, separator) in items {
            if self.commands > MAX_COMMANDS {
                break;
            }
            match separator {
                SeparatorOperator::Sequence => self.and_or(list),
                SeparatorOperator::Async => {
                    self.in_order = false;
                    self.apart(|walker| walker.and_or(list));
                }
            }
        }
    }

    /// What is known of the shell is kept for both outcomes: behind `&&` the last command has succeeded, behind `||`
    /// it has failed.
    fn and_or(&mut self, AndOrList { first, additional }: &AndOrList) {
        let (mut succeeded, mut failed) = self.outcomes(first);
        for next in additional {
            if self.commands > MAX_COMMANDS {
                break;
            }
            match next {
                AndOr::And(pipeline) => {
                    self.shell = succeeded;
                    let after = self.outcomes(pipeline);
                    (succeeded, failed) = (after.0, after.1.join(&failed));
                }
                AndOr::Or(pipeline) => {
                    self.shell = failed;
                    let after = self.outcomes(pipeline);
                    (succeeded, failed) = (after.0.join(&succeeded), after.1);
                }
            }
        }
        self.shell = Shell::settled(succeeded, &failed);
    }

    fn outcomes(&mut self, pipeline: &Pipeline) -> (Shell, Shell) {
        self.pipeline(pipeline);
        let (succeeded, failed) = self.shell.clone().outcomes();
        if pipeline.bang { (failed, succeeded) } else { (succeeded, failed) }
    }

    fn pipeline(&mut self, Pipeline { timed, bang: _, seq }: &Pipeline) {
        match timed {
            None | Some(PipelineTimed::Timed(_) | PipelineTimed::TimedWithPosixOutput(_)) => {}
        }
        let from = self.units.len();
        if let [only] = seq.as_slice() {
            self.command(only);
            return fetched::fetches(&mut self.fetched, &self.units[from..]);
        }
        self.in_order = false;
        let outer = self.feed.take();
        for command in seq {
            let before = self.units.len();
            // In a group one command may take a part of a name, and leave the rest to the next.
            let streams = Streams::of(command);
            self.feed = self.feed.take().filter(|_| streams.input);
            let fed = self.feed.clone();
            self.apart(|walker| walker.command(command));
            self.feed = effects::feed(&self.units[before..], fed).filter(|_| streams.output);
        }
        self.feed = outer;
        fetched::fetches(&mut self.fetched, &self.units[from..]);
    }

    fn command(&mut self, command: &Command) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.refuse(&command.to_string(), "nested too deeply");
        } else {
            match command {
                Command::Simple(simple) => self.simple(simple),
                Command::Compound(compound, redirects) => {
                    self.redirects(redirects.as_ref());
                    self.compound(compound);
                }
                Command::Function(function) => self.function(function),
                Command::ExtendedTest(test, redirects) => {
                    self.redirects(redirects.as_ref());
                    self.extended_test(test);
                }
            }
        }
        self.depth -= 1;
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) {
        for redirect in redirects.map_or(&[][..], |RedirectList(list)| list) {
            self.redirect(redirect);
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        self.in_order = false;
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                let unit = Unit::new("Bash", Program::Named("((".to_owned()), compound.to_string());
                self.units.push(unit.does(Class::Read));
                self.arithmetic(&arithmetic.expr.value);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.counts(clause.initializer.as_ref().map_or("", |initializer| initializer.value.as_str()));
                for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.arithmetic(&expression.value);
                }
                self.repeated(&clause.body);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.subshell(subshell),
            CompoundCommand::ForClause(clause) => self.for_clause(clause),
            CompoundCommand::CaseClause(clause) => self.case_clause(clause),
            CompoundCommand::IfClause(clause) => self.if_clause(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.endless(&clause.0);
                self.condition_and_body(&clause.0, &clause.1);
            }
            CompoundCommand::Coprocess(CoprocessCommand { name: _, body, loc: _ }) => {
                self.unseen(&compound.to_string(), "coproc runs a command beside the script");
                self.apart(|walker| walker.command(body));
            }
        }
    }

    pub(super) fn subshell(&mut self, SubshellCommand { list, loc: _ }: &SubshellCommand) {
        self.in_order = false;
        let text = list.to_string();
        if text.starts_with('(') && self.text.contains("((") && self.text.contains("))") {
            self.unseen(&text, "bash may read the brackets as arithmetic, which runs code in an index");
        }
        self.apart(|walker| {
            walker.feed = None;
            walker.list(list);
        });
    }

    /// A function may take the name of any command that follows, so nothing behind its definition is known.
    fn function(&mut self, FunctionDefinition { fname, body }: &FunctionDefinition) {
        self.in_order = false;
        let FunctionBody(compound, redirects) = body;
        self.unseen(&format!("{fname} ()"), "a function redefines a command");
        self.apart(|walker| {
            walker.redirects(redirects.as_ref());
            walker.compound(compound);
        });
    }

    fn if_clause(&mut self, IfClauseCommand { condition, then, elses, loc: _ }: &IfClauseCommand) {
        self.list(condition);
        self.maybe(|walker| walker.list(then));
        for other in elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                self.maybe(|walker| walker.list(condition));
            }
            self.maybe(|walker| walker.list(&other.body));
        }
    }

    fn for_clause(&mut self, ForClauseCommand { variable_name, values, body, loc: _ }: &ForClauseCommand) {
        let mut fields = Vec::new();
        for word in values.iter().flatten() {
            fields.extend(self.expand(&word.value));
        }
        if !is_own_name(variable_name) {
            self.unseen(variable_name, "this variable may change what commands do");
        }
        let guesses = fields.iter().flat_map(|field| field.texts().unwrap_or(&field.might).iter().cloned());
        let texts: Option<Vec<&[String]>> = fields.iter().map(Field::texts).collect();
        let texts = texts.filter(|_| values.is_some() && self.is_constant(variable_name)).map(|texts| texts.concat());
        self.maybe(|walker| {
            walker.shell.guess(variable_name, guesses);
            walker.shell.set(variable_name, texts);
            walker.repeated(body);
        });
    }

    fn case_clause(&mut self, CaseClauseCommand { value, cases, loc: _ }: &CaseClauseCommand) {
        self.single(&value.value);
        for case in cases {
            for pattern in &case.patterns {
                self.single(&pattern.value);
            }
            if let Some(list) = &case.cmd {
                self.maybe(|walker| walker.list(list));
            }
        }
    }

    fn condition_and_body(&mut self, condition: &CompoundList, body: &DoGroupCommand) {
        self.forget_folder(&condition.to_string());
        self.forget_folder(&body.list.to_string());
        self.list(condition);
        self.maybe(|walker| walker.list(&body.list));
    }

    fn repeated(&mut self, body: &DoGroupCommand) {
        self.forget_folder(&body.list.to_string());
        self.maybe(|walker| walker.list(&body.list));
    }

    /// A body that may change the folder starts its second round somewhere else.
    fn forget_folder(&mut self, body: &str) {
        if body.contains("cd") || body.contains('\\') && body.contains('c') {
            self.shell.lose_folder();
        }
    }

    /// A loop that nothing ends holds the call up for ever; one that reads ends with its input.
    fn endless(&mut self, condition: &CompoundList) {
        if !condition.to_string().split_whitespace().any(|word| word == "read") {
            let unit = Unit::new("Bash", Program::Named("while".to_owned()), "while").unclear("the loop may never end");
            self.units.push(unit);
        }
    }

    /// Whether a variable has the value that it is given wherever it is known.
    pub(super) fn is_constant(&self, name: &str) -> bool {
        is_set_once(self.text, name)
    }

    /// Whether the script says a variable's name to set it: then it is one of its own.
    pub(super) fn is_named(&self, name: &str) -> bool {
        is_named(self.text, name)
    }

    /// Whether the script sets a variable to nothing but numbers.
    pub(super) fn is_counter(&self, name: &str) -> bool {
        is_own_name(name) && holds_numbers(self.text, name)
    }

    /// A substitution of the form `<(…)` or `>(…)` as a word: the path of a pipe.
    pub(super) fn process(&mut self, item: &CommandPrefixOrSuffixItem) -> Option<Field> {
        match item {
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.subshell(subshell);
                Some(Field::known("/dev/fd/63"))
            }
            CommandPrefixOrSuffixItem::IoRedirect(_)
            | CommandPrefixOrSuffixItem::Word(_)
            | CommandPrefixOrSuffixItem::AssignmentWord(..) => None,
        }
    }
}

/// A unit for what is not seen through; nothing lifts its block.
pub(super) fn hidden(text: &str, why: impl Into<String>) -> Unit {
    Unit::new("Bash", Program::Opaque, text).refused(why)
}
