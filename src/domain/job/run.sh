# Works through the ticket, and commits what was done whatever it came to. The last container gets its exit code and a bundle of
# the commits: git is never run in this repository where the token is.
set -u
rm -rf "$WORK/code" "$WORK/done.bundle"
cd "$WORK/repo/$FOLDER" || exit 1
programmator run -- "$WORK/repo/$TICKET"
code=$?
cd "$WORK/repo" || exit 1
git add -A || exit 1
if ! git diff --cached --quiet; then
  git -c user.name=programmator -c user.email=programmator@localhost commit -q -m "Work on $ID" || exit 1
fi
git bundle create -q "$WORK/done.bundle" HEAD || exit 1
echo "$code" > "$WORK/code.part" && mv "$WORK/code.part" "$WORK/code"
