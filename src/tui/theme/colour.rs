//! Arithmetic of colours: how legible one is on another, and the nearest of those that a terminal has.

use ratatui::style::Color;

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// Contrast of text that can be read with ease, by WCAG 2.
pub const LEGIBLE: f64 = 4.5;

/// The six steps of each channel in the colours 16 to 231 of 256.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Contrast by WCAG 2, from 1 to 21.
pub fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Black text stands out from it more than white does.
pub fn is_light(colour: Rgb) -> bool {
    luminance(colour) > 0.18
}

fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = colour.map(|channel| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// A tenth of `top` over `bottom`.
pub fn tinted(bottom: Rgb, top: Rgb) -> Rgb {
    std::array::from_fn(|at| ((u16::from(bottom[at]) * 9 + u16::from(top[at])) / 10) as u8)
}

/// The nearest of the 256 colours. The first sixteen are the person's own and may be anything.
pub fn indexed(colour: Rgb) -> u8 {
    let distance = |at: &u8| -> u32 {
        let other = of_index(*at);
        colour.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    (16..=255).min_by_key(distance).unwrap_or(16)
}

/// What one of the colours 16 to 255 looks like.
pub fn of_index(index: u8) -> Rgb {
    let at = index.saturating_sub(16);
    match index {
        232.. => [8 + 10 * (index - 232); 3],
        _ => [at / 36, at / 6 % 6, at % 6].map(|step| STEPS[usize::from(step % 6)]),
    }
}

/// Red, green and blue of a colour that is the same everywhere.
pub fn rgb(colour: Color) -> Option<Rgb> {
    match colour {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(index @ 16..) => Some(of_index(index)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_standard() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.01);
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
        assert!(is_light([0xfd, 0xf6, 0xe3]) && !is_light([0x2e, 0x34, 0x40]));
    }

    #[test]
    fn each_of_the_256_is_its_own_nearest() {
        for index in 16..=255 {
            assert_eq!(of_index(indexed(of_index(index))), of_index(index), "{index}");
        }
        assert_eq!(indexed([0x1e, 0x1e, 0x2e]), 235);
    }
}
