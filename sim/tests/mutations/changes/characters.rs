//! One character of many sorts, in a text of any sort.

use super::super::case::{At, Case, WITHIN, Within};
use forkcast_fixtures::Dice;

/// The text before and after the change; `None` if the text lacks the required part.
pub type Sort = fn(&str, &mut Dice) -> Option<(String, String)>;

/// Plants a change of this sort in a text of any sort except a tool's name.
pub fn somewhere(case: &mut Case, sort: Sort) -> Option<Vec<At>> {
    let mut places: Vec<Within> = WITHIN.into_iter().filter(|within| *within != Within::ToolName).collect();
    case.dice.shuffle(&mut places);
    places.into_iter().find_map(|within| case.retell(within, sort))
}

/// Plants a change of any sort in a text of this one.
pub fn inside(case: &mut Case, within: Within) -> Option<Vec<At>> {
    let sorts: [Sort; 6] = [letter, space, emoji, quote, newline, dropped];
    let sort = if within == Within::ToolName { letter } else { *case.dice.pick(&sorts) };
    case.retell(within, sort)
}

/// A place between two characters.
fn cut<'a>(text: &'a str, dice: &mut Dice) -> (&'a str, &'a str) {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    text.split_at(*dice.pick(&places))
}

fn inserted(text: &str, what: &str, dice: &mut Dice) -> Option<(String, String)> {
    let (before, behind) = cut(text, dice);
    Some((text.to_owned(), format!("{before}{what}{behind}")))
}

/// Puts `was` into the older text and `is` into the newer one, at the same position.
fn planted(text: &str, was: &str, is: &str, dice: &mut Dice) -> Option<(String, String)> {
    let (before, behind) = cut(text, dice);
    Some((format!("{before}{was}{behind}"), format!("{before}{is}{behind}")))
}

pub fn letter(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    let letters: Vec<usize> = text.char_indices().filter(|(_, c)| c.is_ascii_lowercase()).map(|(at, _)| at).collect();
    let at = dice.any(&letters)?;
    let other = if text.as_bytes()[at] == b'q' { "w" } else { "q" };
    Some((text.to_owned(), format!("{}{other}{}", &text[..at], &text[at + 1..])))
}

pub fn digit(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "3", "7", dice)
}

pub fn space(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, " ", dice)
}

pub fn newline(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\n", dice)
}

pub fn tab(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, " ", "\t", dice)
}

pub fn quote(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\"", dice)
}

pub fn backslash(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\\", dice)
}

pub fn composed(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "\u{e9}", "e\u{301}", dice)
}

pub fn chinese(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "\u{884c}", "\u{5217}", dice)
}

pub fn emoji(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\u{1f600}", dice)
}

pub fn zero_width(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\u{200b}", dice)
}

pub fn no_break_space(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, " ", "\u{a0}", dice)
}

pub fn nul(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    inserted(text, "\u{0}", dice)
}

pub fn line_end(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "\n", "\r\n", dice)
}

pub fn trailing_space(text: &str, _: &mut Dice) -> Option<(String, String)> {
    Some((text.to_owned(), format!("{text} ")))
}

pub fn case(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "k", "K", dice)
}

pub fn first(text: &str, _: &mut Dice) -> Option<(String, String)> {
    Some((text.to_owned(), format!("~{text}")))
}

pub fn last(text: &str, _: &mut Dice) -> Option<(String, String)> {
    let (at, _) = text.char_indices().next_back()?;
    Some((text.to_owned(), format!("{}~", &text[..at])))
}

pub fn dropped(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    let all: Vec<(usize, char)> = text.char_indices().collect();
    let (at, c) = dice.any(&all).filter(|_| all.len() > 1)?;
    Some((text.to_owned(), format!("{}{}", &text[..at], &text[at + c.len_utf8()..])))
}

pub fn byte_order_mark(text: &str, _: &mut Dice) -> Option<(String, String)> {
    Some((text.to_owned(), format!("\u{feff}{text}")))
}

pub fn look_alike(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    planted(text, "a", "\u{430}", dice)
}

pub fn twice(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    let (before, behind) = cut(text, dice);
    Some((text.to_owned(), format!("{before}<{behind}>")))
}

/// An empty text; an empty result would count as cleared.
pub fn emptied(case: &mut Case) -> Option<Vec<At>> {
    let within = *case.dice.pick(&[Within::System, Within::ToolDescription, Within::UserText, Within::AssistantText]);
    case.retell(within, |text, _| Some((text.to_owned(), String::new())))
}

pub fn plain_words(text: &str, dice: &mut Dice) -> Option<(String, String)> {
    let (before, behind) = cut(text, dice);
    let told = |what: &str| format!("{before} Then {what} the row. {behind}");
    Some((told("sort"), told("count")))
}
