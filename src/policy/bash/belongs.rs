//! Whose a program is: the project's own, one of its environment, or what others wrote; and what the project's files say
//! of it.

use super::walker::Walker;
use crate::policy::commands::programs;
use crate::policy::place::Reading;
use crate::policy::unit::Target;
use std::path::{Path, PathBuf};

impl Walker<'_> {
    /// Whether it runs in the workspace: what stands in the present folder says which version of an interpreter runs.
    pub(super) fn here(&self) -> Result<(), String> {
        let inside = self.targets(".").is_some_and(|at| at.iter().all(|at| at.starts_with(self.place.workspace)));
        let at = self.targets(".").unwrap_or_default();
        if at.iter().any(|at| at.starts_with(self.place.workspace) && self.is_foreign(at)) {
            return Err("runs in a directory of third-party code".to_owned());
        }
        inside.then_some(()).ok_or_else(|| "runs outside the working directory".to_owned())
    }

    pub(super) fn is_there(&self, when: &[String]) -> bool {
        when.is_empty() || when.iter().any(|file| self.place.view.exists(&self.place.workspace.join(file)))
    }

    /// Whether a path leads into what others wrote.
    pub(super) fn is_foreign(&self, path: &Path) -> bool {
        let inside = path.strip_prefix(self.place.workspace).unwrap_or(path);
        inside.iter().any(|part| programs::is_foreign(&part.to_string_lossy()))
    }

    /// `.venv/bin/python`: a program of the project's environment, and none that what others wrote brings along.
    pub(super) fn is_of_environment(&self, path: &str) -> bool {
        let inside = Path::new(path).strip_prefix(self.place.workspace).unwrap_or(Path::new(path));
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        let [before @ .., environment, folder, _] = parts.as_slice() else { return false };
        let named =
            matches!((&**environment, &**folder), (".venv" | "venv", "bin" | "Scripts") | ("node_modules", ".bin"));
        named && !before.iter().any(|part| programs::is_foreign(part)) && self.names_inside(path)
    }

    /// Whether the environment of the project has a module of such a name.
    pub(super) fn is_installed(&self, module: &str) -> bool {
        let view = self.place.view;
        [".venv", "venv"].iter().map(|folder| self.place.workspace.join(folder).join("lib")).any(|lib| {
            let versions = view.names(&lib).unwrap_or_default();
            versions.iter().any(|version| view.exists(&lib.join(version).join("site-packages").join(module)))
        })
    }

    /// Whether scripts surely do not say which packages they need: uv installs those first.
    pub(super) fn needs_nothing(&self, files: &[PathBuf]) -> Result<(), String> {
        let plain = |file: &PathBuf| {
            let target = Target::Path(file.clone());
            let Reading::Text(text) = self.place.view.text(file) else { return false };
            let says = text.lines().any(|line| line.starts_with('#') && line.contains("///"));
            !says && !self.units.iter().any(|unit| unit.writes.contains(&target))
        };
        files.iter().all(plain).then_some(()).ok_or_else(|| "the script can name packages for uv to install".to_owned())
    }

    /// Whether the nearest `package.json` has a script of such a name.
    pub(super) fn has_script(&self, name: &str) -> bool {
        let has = |folder: &PathBuf| {
            let mut inside = folder.ancestors().take_while(|folder| folder.starts_with(self.place.workspace));
            let nearest = inside.find_map(|folder| match self.place.view.text(&folder.join("package.json")) {
                Reading::Missing => None,
                Reading::Unreadable => Some(String::new()),
                Reading::Text(text) => Some(text),
            });
            let package = nearest.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
            package.is_some_and(|package| package["scripts"][name].is_string())
        };
        self.shell.folders().is_some_and(|folders| folders.iter().all(has))
    }

    /// Whether a path's folder is in the workspace, wherever the link at its end leads.
    fn names_inside(&self, path: &str) -> bool {
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let folders = self.targets(folder).filter(|_| !path.starts_with('~'));
        folders.is_some_and(|folders| folders.iter().all(|folder| folder.starts_with(self.place.workspace)))
    }
}
