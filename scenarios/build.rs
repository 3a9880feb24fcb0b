//! Lists the scenarios of the catalog, so that a new scenario is one new file. Their texts are embedded, because file
//! paths would make the program depend on the folder in which it was built (`.ci/release`).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=catalog");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("catalog");
    let mut listed = String::from("[\n");
    for group in sorted(&root)? {
        println!("cargo::rerun-if-changed={}", group.display());
        for file in sorted(&group)?.iter().filter(|file| file.extension().is_some_and(|end| end == "yaml")) {
            let name = format!("{}/{}", stem(&group), stem(file));
            let text = fs::read_to_string(file)?;
            listed.push_str(&format!("    ({name:?}, {text:?}),\n"));
        }
    }
    listed.push_str("]\n");
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("catalog.rs"), listed)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.retain(|path| path.is_dir() || path.is_file());
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
