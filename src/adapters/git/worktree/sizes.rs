//! Whether the files of a commit have room on the disk, before git writes them.

use crate::adapters::git::command::git;
use crate::adapters::git::error::words;
use crate::adapters::git::paths;
use crate::adapters::room::Room;
use std::collections::HashSet;
use std::path::Path;

/// Fails where they have none. `there`: a commit whose files need no room, because they are there already.
pub(in crate::adapters::git) async fn has_room(
    home_top: &Path,
    commit: &str,
    there: Option<&str>,
    room: &Room,
) -> Result<(), String> {
    let listed = listed(home_top, commit).await?;
    let known = match there {
        Some(there) => self::listed(home_top, there).await?,
        None => Vec::new(),
    };
    let known: HashSet<&[u8]> = entries(&known).collect();
    let size = |entry: &[u8]| {
        let text = paths::shown(entry);
        text.split('\t').next()?.split_whitespace().nth(3)?.parse::<u64>().ok()
    };
    let bytes: u64 = entries(&listed).filter(|entry| !known.contains(entry)).filter_map(size).sum();
    room.for_bytes(bytes)
        .map_err(|error| format!("its files need {} MiB in {}: {error}", (bytes >> 20) + 1, room.folder.display()))
}

async fn listed(home_top: &Path, commit: &str) -> Result<Vec<u8>, String> {
    git(home_top, "ls-tree").args(["-r", "-l", "-z", commit]).thorough().ok().await.map_err(words)
}

fn entries(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|&byte| byte == 0)
}
