//! Whether a file lies in a folder wherever links lead, also one that is yet to be written.

use std::path::Path;

/// The file lies in the folder: no link on the way leads out of it, nor is the file one. Where that cannot be seen it does not.
pub fn stays_in(folder: &Path, file: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let there = file.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
    !file.is_symlink()
        && there.and_then(|above| above.canonicalize().ok()).is_some_and(|above| above.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_on_the_way_leads_out_of_the_folder() {
        let temp = tempfile::tempdir().unwrap();
        let (inside, outside) = (temp.path().join("in"), temp.path().join("out"));
        fs::create_dir_all(inside.join("src")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        symlink(&outside, inside.join("link")).unwrap();
        symlink(outside.join("file"), inside.join("alias")).unwrap();
        symlink(temp.path().join("absent"), inside.join("dangling")).unwrap();
        let stays = |path: &str| stays_in(&inside, &inside.join(path));
        assert!(stays("src/a.rs") && stays("new/folder/b.rs") && stays("c.rs"));
        assert!(
            !stays("link/shadow")
                && !stays("link/new/x")
                && !stays("alias")
                && !stays("dangling/x")
                && !stays("../out/file")
        );
        assert!(!stays_in(&temp.path().join("gone"), &inside.join("c.rs")), "a folder that is gone holds nothing");
    }
}
