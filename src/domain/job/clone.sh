# Clones the repository into the volume, once: a second try of the Job goes on with what the first has left. Exit code 2: no try
# would come to more.
set -eu
refuse() {
  echo "$1" >&2
  exit 2
}
mkdir -p "$WORK/home" "$WORK/state" "$WORK/config" "$WORK/out"
if [ -d "$WORK/repo" ]; then
  cmp -s "$FROM" "$WORK/ticket.md" ||
    refuse "the volume has the work on another text of the ticket: delete it, and the Job and the ConfigMap with it: kubectl delete job,pvc,cm $NAME"
  exit 0
fi
rm -rf "$WORK/repo.part"
helper='!f() { echo username=x-access-token; echo "password=$GIT_TOKEN"; }; f'
git -c credential.helper="$helper" clone ${BRANCH:+--branch "$BRANCH"} -- "$REPO" "$WORK/repo.part"
git -C "$WORK/repo.part" rev-parse HEAD > "$WORK/base"
[ -d "$WORK/repo.part/$FOLDER" ] || refuse "the repository has no folder $FOLDER on that branch: push it, or name the branch with --branch"
part=$TICKET
while [ "$part" != . ]; do
  [ ! -L "$WORK/repo.part/$part" ] || refuse "$part is a link in the repository: the ticket is not written through it; move the ticket to a place without one"
  part=$(dirname -- "$part")
done
[ ! -d "$WORK/repo.part/$TICKET" ] || refuse "$TICKET is a folder in the repository: the ticket cannot be written there"
mkdir -p "$(dirname "$WORK/repo.part/$TICKET")"
rm -f "$WORK/repo.part/$TICKET"
cp "$FROM" "$WORK/repo.part/$TICKET"
cp "$FROM" "$WORK/ticket.md"
mv "$WORK/repo.part" "$WORK/repo"
