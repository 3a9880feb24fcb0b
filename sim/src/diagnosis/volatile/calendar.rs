//! Dates and times of day, as programs write them.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Names of days and months in German, French and Spanish where English has others.
const OTHER_NAMES: [&str; 47] = [
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
    "lundi",
    "mardi",
    "mercredi",
    "jeudi",
    "vendredi",
    "samedi",
    "dimanche",
    "janvier",
    "février",
    "mars",
    "avril",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "domingo",
    "enero",
    "febrero",
    "marzo",
    "abril",
    "junio",
    "julio",
    "septiembre",
    "diciembre",
];

/// A full name or, in English, its first three letters.
fn is_name(word: &str, names: &[&str]) -> bool {
    let word = word.trim_end_matches(['.', ',']).to_lowercase();
    names.iter().any(|name| word == *name || word == name[..3]) || OTHER_NAMES.contains(&word.as_str())
}

/// `2026年11月30日` as `2026-11-30`, with what follows.
fn with_dashes(word: &str) -> Option<String> {
    let (before, rest) = word.split_once('年')?;
    let (month, rest) = rest.split_once(['月'])?;
    let (day, _) = rest.split_once(['日', '号'])?;
    let year = before.trim_start_matches(|c: char| !c.is_ascii_digit());
    Some(format!("{year}-{month}-{day}"))
}

/// `2026-W47` or `2026-W47-1`.
fn is_week(word: &str) -> bool {
    let digits = |part: &str, len: usize| part.len() == len && part.chars().all(|c| c.is_ascii_digit());
    word.split_once("-W").is_some_and(|(year, rest)| {
        let (week, day) = rest.split_once('-').map_or((rest, None), |(week, day)| (week, Some(day)));
        digits(year, 4) && digits(week, 2) && day.is_none_or(|day| digits(day, 1))
    })
}

/// `2026-11-21`, `2026/11/21`, `21.11.2026`, `11/21/2026`, `20261121`, `2026-W47`, alone or at the start of a longer word.
pub(super) fn is_date(word: &str) -> bool {
    let word = word.rsplit('=').next().unwrap_or(word);
    if is_week(word) {
        return true;
    }
    if let Some(dashed) = with_dashes(word) {
        return is_date(&dashed);
    }
    let day = word.split(['T', 'Z', '+']).next().unwrap_or(word);
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let is_year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let small = |part: &str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|number| (1..=31).contains(&number));
    match parts[..] {
        _ if !parts.iter().all(|part| digits(part)) => false,
        [year, month, day] if is_year(year) => small(month) && small(day),
        [one, two, year] => is_year(year) && small(one) && small(two),
        [all] => all.len() == 8 && is_year(&all[..4]) && small(&all[4..6]) && small(&all[6..]) && all[4..6] <= *"12",
        _ => false,
    }
}

/// A week day, a month, or a number next to a month or a word for a day.
pub(super) fn is_day(word: &str, before: &str, behind: &str) -> bool {
    if is_name(word, &DAYS) || is_name(word, &MONTHS) {
        return true;
    }
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ordinal = matches!(&word[number.len()..], "st" | "nd" | "rd" | "th");
    let is_number = !number.is_empty() && number.len() <= 4 && number.chars().all(|c| c.is_ascii_digit());
    let mut last = before.rsplit([' ', ',', '"', '\n']).filter(|word| !word.is_empty());
    let (one, two) = (last.next().unwrap_or_default(), last.next().unwrap_or_default());
    let mut next = behind.split([' ', ',', '"', '\\', '<']).filter(|word| !word.is_empty() && *word != "of");
    let month = [one, two, next.next().unwrap_or_default()].into_iter().any(|word| is_name(word, &MONTHS));
    is_number && (ordinal || number.len() == word.len()) && (month || (ordinal && one == "the"))
}

/// Seconds or milliseconds since 1970, with or without a fraction.
pub(super) fn is_epoch(word: &str) -> bool {
    let word = word.rsplit(['=', ':']).next().unwrap_or(word);
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    matches!(whole.len(), 10 | 13) && whole.starts_with('1') && digits(whole) && digits(fraction)
}

/// `21/Nov/2026:10:01:33`, as servers write it into their logs.
fn is_logged(word: &str) -> bool {
    let parts: Vec<&str> = word.splitn(3, '/').collect();
    let digits = |part: &str, len: usize| part.len() == len && part.chars().all(|c| c.is_ascii_digit());
    match parts[..] {
        [day, month, rest] if is_name(month, &MONTHS) && digits(day, 2) => {
            let parts: Vec<&str> = rest.split(':').collect();
            parts.len() == 4 && digits(parts[0], 4) && parts[1..].iter().all(|part| digits(part, 2))
        }
        _ => false,
    }
}

/// `20261130T140506Z`.
fn is_compact(word: &str) -> bool {
    let time = word.split_once('T').filter(|(day, _)| is_date(day) && day.len() >= 8);
    time.is_some_and(|(_, time)| time.len() >= 4 && time.chars().take(4).all(|c| c.is_ascii_digit()))
}

/// `14時05分`, also after a date.
fn has_hour_sign(word: &str) -> bool {
    let hour = word.find(['時', '时', '点']);
    hour.is_some_and(|at| word[..at].ends_with(|c: char| c.is_ascii_digit()))
}

/// `12:34` or `9:34:56`, also after a date.
pub(super) fn holds_time(word: &str) -> bool {
    if is_logged(word) || is_compact(word.rsplit('=').next().unwrap_or(word)) || has_hour_sign(word) {
        return true;
    }
    let bytes = word.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let colons = bytes.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
    colons.into_iter().any(|at| {
        let from = if at > 1 && digit(at - 2) { at.saturating_sub(2) } else { at.saturating_sub(1) };
        // A line and column of a file follow a colon or a letter.
        let begins = from == 0 || matches!(bytes[from - 1], b'T' | b' ' | b'=' | b'@' | b'_' | b'-');
        at > 0 && digit(at - 1) && digit(at + 1) && digit(at + 2) && !digit(at + 3) && begins
    })
}
