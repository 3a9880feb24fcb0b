//! The last step of every drawing: a title and a description for those who do not see it, and colours for dark screens.
//!
//! It works on the text that plotters writes: colours are attributes `fill` or `stroke` of the form `#RRGGBB`, and names
//! hold no quotation marks of their own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use forkcast_sim::diagnosis::CAUSES;
use forkcast_sim::outside::visible;
use plotters::style::RGBColor;

use crate::report::CAUSES_HINT;

/// What a picture says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Caption {
    /// The answer that the picture gives, with its figure.
    pub title: String,
    /// What it rests on.
    pub note: String,
    /// The drawn objects, and their numbers.
    pub description: String,
}

/// Luminance of paper on a dark screen, and what the formula of contrast adds to any (WCAG 2.2).
const DARK_PAPER: f64 = 0.0089;
const FLARE: f64 = 0.05;

/// Contrasts with white from which on a colour is one of an area, how much more it needs on dark paper, where light
/// comes from it and not from around it, and the contrast that is enough.
const AREA: f64 = 1.4;
const AREA_MORE: f64 = 1.55;
const ENOUGH: f64 = 14.0;

/// The part of each channel in luminance.
const LUMINANCE: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// A drawing of plotters as a picture for everybody.
pub(super) fn finished(drawing: &str, caption: &Caption) -> String {
    let Some((root, parts)) = drawing.split_once('>') else { return drawing.to_owned() };
    let mut description = [&caption.note, &caption.description].map(|text| text.trim_end_matches('.')).join(". ");
    if CAUSES.iter().any(|cause| [drawing, &caption.title].iter().any(|text| text.contains(cause.word()))) {
        description.extend([". ", CAUSES_HINT]);
    }
    let (title, description) = (escaped(&caption.title), escaped(&description));
    // Everything is opaque.
    let parts = with_round_sizes(&parts.replace(" opacity=\"1\"", ""));
    format!(
        "{root} role=\"img\">\n<title>{title}</title>\n<desc>{description}.</desc>\n<style>{}</style>{parts}",
        dark_style(&parts)
    )
}

/// The sizes of texts without the last digits of a division: plotters writes sizes divided by a factor of its own.
fn with_round_sizes(parts: &str) -> String {
    const MARK: &str = "font-size=\"";
    let mut rounded = String::with_capacity(parts.len());
    for (at, part) in parts.split(MARK).enumerate() {
        let size = part.split_once('"').filter(|_| at > 0);
        match size.and_then(|(size, rest)| Some((size.parse::<f64>().ok()?, rest))) {
            // Writing to memory cannot fail.
            Some((size, rest)) => drop(write!(rounded, "{MARK}{}\"{rest}", (size * 100.0).round() / 100.0)),
            None if at > 0 => rounded.extend([MARK, part]),
            None => rounded.push_str(part),
        }
    }
    rounded
}

/// For each colour of a drawing its colour on a dark screen.
fn dark_style(parts: &str) -> String {
    let mut style = "@media (prefers-color-scheme: dark) {\n".to_owned();
    for property in ["fill", "stroke"] {
        let mark = format!("{property}=\"");
        let colours: BTreeSet<&str> = parts.split(&mark).skip(1).filter_map(|rest| rest.get(..7)).collect();
        for colour in colours {
            if let Some(RGBColor(red, green, blue)) = parsed(colour).map(dark) {
                // Writing to memory cannot fail.
                let _ = writeln!(style, "[{mark}{colour}\"] {{ {property}: #{red:02X}{green:02X}{blue:02X} }}");
            }
        }
    }
    style.push_str("}\n");
    style
}

fn parsed(colour: &str) -> Option<RGBColor> {
    let channel = |at: usize| u8::from_str_radix(colour.get(at..at + 2)?, 16).ok();
    Some(RGBColor(channel(1)?, channel(3)?, channel(5)?)).filter(|_| colour.starts_with('#'))
}

/// The colour that has about the same contrast with dark paper as this one with white, areas more: two colours then
/// differ as much as on white. Light is the square of a channel here: roots are exact on every machine, powers are not.
fn dark(colour: RGBColor) -> RGBColor {
    let light = [colour.0, colour.1, colour.2].map(f64::from).map(|channel| channel * channel / (255.0 * 255.0));
    let luminance: f64 = light.iter().zip(LUMINANCE).map(|(light, part)| light * part).sum();
    let contrast = (1.0 + FLARE) / (luminance + FLARE);
    let contrast = if contrast < AREA { contrast } else { (contrast * AREA_MORE).min(ENOUGH).max(contrast) };
    let wanted = (contrast * (DARK_PAPER + FLARE) - FLARE).clamp(0.0, 1.0);
    let [red, green, blue] = light.map(|light| {
        let light = match wanted < luminance {
            true => light * wanted / luminance,
            false => light + (1.0 - light) * (wanted - luminance) / (1.0 - luminance),
        };
        (light.sqrt() * 255.0).round() as u8
    });
    RGBColor(red, green, blue)
}

/// A text between tags.
fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::canvas::ink;
    use super::{Caption, dark, finished};
    use plotters::style::RGBColor;

    #[test]
    fn a_drawing_has_a_title_a_description_and_a_dark_style() {
        let caption = Caption {
            title: "a <b> & \u{202e}".to_owned(),
            note: "Two bars.".to_owned(),
            description: "One is high".to_owned(),
        };
        let drawing = "<svg width=\"2\">\n<rect opacity=\"1\" fill=\"#FFFFFF\" stroke=\"none\"/>\n</svg>\n";
        let expected = "<svg width=\"2\" role=\"img\">\n<title>a &lt;b&gt; &amp; \\u{202e}</title>\n\
            <desc>Two bars. One is high.</desc>\n<style>@media (prefers-color-scheme: dark) {\n\
            [fill=\"#FFFFFF\"] { fill: #181818 }\n}\n</style>\n<rect fill=\"#FFFFFF\" stroke=\"none\"/>\n</svg>\n";
        assert_eq!(finished(drawing, &caption), expected);
    }

    #[test]
    fn a_drawing_that_names_a_cause_says_where_causes_are_explained() {
        let caption = Caption { note: "Two bars.".to_owned(), ..Caption::default() };
        let named = finished("<svg><text>tools_added</text></svg>", &caption);
        assert!(named.contains("forkcast list causes: the meaning of each cause.</desc>"), "{named}");
        let unnamed = finished("<svg><text>tools</text></svg>", &caption);
        assert!(!unnamed.contains("forkcast list causes"), "{unnamed}");
    }

    #[test]
    fn sizes_of_texts_are_round() {
        let drawing = "<svg><text font-size=\"13.000000000000002\">a</text><text font-size=\"9.5\">b</text>";
        let finished = finished(drawing, &Caption::default());
        assert!(finished.ends_with("<text font-size=\"13\">a</text><text font-size=\"9.5\">b</text>"), "{finished}");
    }

    #[test]
    fn on_a_dark_screen_paper_is_dark_and_text_light() {
        assert_eq!(dark(ink::PAPER), RGBColor(24, 24, 24));
        assert_eq!(dark(RGBColor(0, 0, 0)), RGBColor(255, 255, 255));
    }

    #[test]
    fn areas_are_brighter_on_a_dark_screen_than_their_contrast_with_white() {
        for colour in [ink::ANSWER, ink::READ, ink::INPUT] {
            let (light, on_dark) = (contrast(colour, ink::PAPER), contrast(dark(colour), dark(ink::PAPER)));
            assert!(on_dark >= 1.2 * light, "{colour:?}: {light} and {on_dark}");
        }
    }

    /// Relative luminance and contrast by WCAG 2.2.
    fn contrast(one: RGBColor, other: RGBColor) -> f64 {
        let linear = |channel: u8| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = |c: RGBColor| 0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2);
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// In grey only luminance is left: all kinds of tokens must differ in it, from each other and from paper.
    #[test]
    fn kinds_of_tokens_differ_in_grey_on_light_and_on_dark_paper() {
        let same = |colour: RGBColor| colour;
        let kinds = [ink::MISSED, ink::WRITTEN, ink::READ, ink::INPUT, ink::ANSWER, ink::PAPER];
        for paper in [same, dark] {
            let between = |one, other| contrast(paper(one), paper(other));
            for pair in kinds.windows(2) {
                assert!(between(pair[0], pair[1]) >= 1.45, "{pair:?}: {}", between(pair[0], pair[1]));
            }
            assert!(between(ink::READ, ink::MISSED) >= 2.5, "{}", between(ink::READ, ink::MISSED));
            assert!(between(ink::TEXT, ink::PAPER) >= 7.0, "{}", between(ink::TEXT, ink::PAPER));
            assert!(between(ink::FAINT, ink::PAPER) >= 4.5, "{}", between(ink::FAINT, ink::PAPER));
            assert!(between(ink::MISSED, ink::PAPER) >= 4.5, "{}", between(ink::MISSED, ink::PAPER));
        }
    }
}
