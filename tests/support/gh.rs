//! A double of `gh` in a project's `bin`: it notes what it was asked in `asked`, keeps a comment's or pull request's text in `body`, and
//! answers as the real one does, from `tests/fixtures/gh`. A list of JSON fields that no answer is there for is an error, as it is for `gh`.

use crate::project::Project;
use std::os::unix::fs::PermissionsExt;

/// Puts it there. `special`: cases of the shell's that come before the usual ones, of what it was asked and the JSON fields. In them
/// `says FILE` prints an answer, `fails NAME` ends as that file of `errors` says, and `keep "$@"` keeps the text.
pub fn install(project: &Project, special: &str) {
    let at = |name: &str| project.path(name).display().to_string();
    let (asked, body, closed) = (at("asked"), at("body"), at("closed"));
    let here = format!("{}/tests/fixtures/gh", env!("CARGO_MANIFEST_DIR"));
    let script = format!(
        r#"#!/bin/sh
echo "$*" >> '{asked}'
keep() {{ while [ $# -gt 1 ]; do [ "$1" = --body-file ] && cp "$2" '{body}'; shift; done; }}
says() {{
  [ -e '{closed}' ] && state=CLOSED || state=OPEN
  mark=$(grep '<!-- programmator' '{body}' 2>/dev/null)
  sed "s|@MARK@|$mark|; s|@STATE@|$state|; s|@OWNER@|$owner|" '{here}'/"$1"
}}
fails() {{ for file in '{here}'/errors/"$1".*; do cat "$file" >&2; exit "${{file##*.}}"; done; }}
fields= before=
for word; do [ "$before" = --json ] && fields=$word; before=$word; done
case "$1 $2 $fields" in
{special}
'repo view nameWithOwner') says repo-view.json;;
'repo view nameWithOwner,defaultBranchRef') says repo-view-branch.json;;
'issue list number,title,body,state,labels') says issue-list.json;;
'issue view title,state,url') says issue-view.json;;
'issue view title,state,url,comments') says issue-view-comments.json;;
'issue comment ') keep "$@"; echo https://github.com/ada/shop/issues/7#issuecomment-1;;
'issue close ') : > '{closed}'; echo '✓ Closed issue ada/shop#7 (Limit logins)' >&2;;
'pr list number,url,headRepositoryOwner') says pr-list.json;;
'pr create ') keep "$@"; echo https://github.com/ada/shop/pull/9;;
*) printf 'Unknown JSON field: "%s"\n' "$fields" >&2; exit 1;;
esac
"#
    );
    project.write("bin/gh", &script);
    std::fs::set_permissions(project.path("bin/gh"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
}
