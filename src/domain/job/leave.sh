# Brings out what was done: as a branch, or as a patch on the volume. The Job fails if it cannot, or if the run has failed.
set -eu
code=$(head -c 4 "$WORK/code")
case $code in
'' | *[!0-9]*)
  echo "the run has left no exit code" >&2
  exit 1
  ;;
esac
# All that Claude has written is read as commits alone: a folder, a link or a file that names a repository could lead git to settings that
# run something.
if [ ! -f "$WORK/done.bundle" ] || [ -h "$WORK/done.bundle" ]; then
  echo "the run has left no commits" >&2
  exit 1
fi
case $(head -c 15 "$WORK/done.bundle") in
'# v2 git bundle' | '# v3 git bundle') ;;
*)
  echo "the run has left no commits" >&2
  exit 1
  ;;
esac
rm -rf "$HOME/leave"
git init -q --bare --template= "$HOME/leave"
cd "$HOME/leave"
env -u GIT_TOKEN git fetch -q "$WORK/done.bundle" HEAD:refs/heads/done
if [ -n "$PUSH" ]; then
  helper='!f() { echo username=x-access-token; echo "password=$GIT_TOKEN"; }; f'
  pushed=0
  git -c credential.helper="$helper" push "$REPO" "refs/heads/done:refs/heads/$PUSH" || pushed=$?
  if [ "$pushed" = 0 ]; then
    echo "pushed $PUSH"
    exit "$code"
  fi
fi
base=$(git rev-parse --verify --end-of-options "$(cat "$WORK/base")^{commit}")
env -u GIT_TOKEN git diff --binary "$base" refs/heads/done > "$WORK/out/$ID.patch.part"
mv "$WORK/out/$ID.patch.part" "$WORK/out/$ID.patch"
echo "written: out/$ID.patch on the volume"
[ -z "$PUSH" ] || echo "$PUSH could not be pushed" >&2
# git ends so where the branch is refused: a second try is refused, too.
[ "${pushed:-0}" != 1 ] || exit 6
[ -z "$PUSH" ] || exit 1
exit "$code"
