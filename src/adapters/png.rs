//! An SVG as a PNG, with the fonts that are installed.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels for each of the SVG's.
const SCALE: f32 = 2.0;

/// Draws the SVG. The error is words for people.
pub fn drawn(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    if options.fontdb.is_empty() {
        return Err("no font is installed; write an .svg instead, or install a monospaced font".to_owned());
    }
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut canvas = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the picture is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut canvas.as_mut());
    canvas.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_size_of_its_window() {
        let square = |words: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\"><rect width=\"40\" height=\"30\"/>{words}</svg>"
            )
        };
        match drawn(&square("")) {
            // Width and height in big-endian bytes.
            Ok(png) => assert_eq!(png[16..24], [0, 0, 0, 80, 0, 0, 0, 60]),
            Err(why) => assert!(why.contains("font"), "{why}"),
        }
        assert!(drawn("<svg").is_err());
    }
}
