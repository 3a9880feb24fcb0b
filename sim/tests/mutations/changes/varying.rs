//! Volatile content, in the wording of programs.

use forkcast_sim::diagnosis::Volatile;

use super::super::case::{At, Case, Within};
use forkcast_fixtures::Dice;

/// The surrounding words, the value in the older request and the value in the newer one.
type Said = (&'static str, &'static str, &'static str);

const DATES: [Said; 11] = [
    ("Today's date is $.", "2026-11-21", "2026-11-22"),
    ("Today's date: $", "2026/11/30", "2026/12/01"),
    ("Current date: $.", "Saturday, November 21, 2026", "Sunday, November 22, 2026"),
    ("It is $ now.", "Nov 21, 2026", "Nov 22, 2026"),
    ("The date is $.", "21 November 2026", "22 November 2026"),
    ("<env>\nToday's date: $\nPlatform: linux\n</env>", "2026-12-31", "2027-01-01"),
    ("date=$;", "20261121", "20261122"),
    ("Today is $", "11/21/2026", "11/22/2026"),
    ("Today is $", "21.11.2026", "22.11.2026"),
    ("Today is the $", "21st of November", "22nd of November"),
    ("{\"date\": \"$\", \"zone\": \"UTC\"}", "2026-11-21", "2026-11-22"),
];

const TIMES: [Said; 10] = [
    ("Current time: $.", "2026-11-21T10:00:00Z", "2026-11-21T10:00:07Z"),
    ("It is $.", "10:15", "10:16"),
    ("Now: $ UTC", "2026-11-21 10:00:00", "2026-11-21 10:03:12"),
    ("now=$", "1763719200", "1763719262"),
    ("timestamp: $,", "1763719200123", "1763719262456"),
    ("Time: $", "9:59 AM", "10:02 AM"),
    ("generated at $", "Sat Nov 21 10:00:00 UTC 2026", "Sat Nov 21 10:00:09 UTC 2026"),
    ("{\"generated_at\":\"$\"}", "2026-11-21T10:00:00.123456+00:00", "2026-11-21T10:00:01.654321+00:00"),
    ("Last-Modified: $", "Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 11:30:00 GMT"),
    ("uptime since $", "2026-11-21T23:59:59+01:00", "2026-11-22T00:00:03+01:00"),
];

const UUIDS: [Said; 7] = [
    ("Session: $", "123e4567-e89b-12d3-a456-426614174000", "923e4567-e89b-12d3-a456-426614174000"),
    ("request_id=$.", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400f"),
    ("(trace $)", "0195F3A2-7C11-7E0B-8000-3FA2B1C9D001", "0195F3A2-7C12-7E0B-8000-3FA2B1C9D002"),
    ("{\"id\":\"$\"}", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "00f067aa-0ba9-42b7-9123-fbc22caa7a11"),
    ("session id $ begins", "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba942b79123fbc22caa7a11"),
    ("urn:uuid:$", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "4bf92f35-77b3-4da6-a3ce-929d0e0e4737"),
    ("Cache lies in /var/run/$/store", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", "00f067aa-0ba9-42b7-9123-fbc22caa7a11"),
];

const PATHS: [Said; 8] = [
    ("Working directory: $", "/home/ann/shop", "/home/bob/shop"),
    ("cwd: $.", "/tmp/run-8123/shop", "/tmp/run-9044/shop"),
    ("Root is $ here", "C:\\Users\\ann\\shop", "C:\\Users\\bob\\shop"),
    ("Working directory: $", "/private/var/folders/x1/T/shop", "/private/var/folders/q7/T/shop"),
    ("Files lie in ~/$", "shop/a", "shop/b"),
    ("<cwd>$</cwd>", "/srv/one", "/srv/two"),
    ("reads $ first", "src/orders.rs", "src/ledger.rs"),
    ("see file://$", "/mnt/a/x.txt", "/mnt/b/x.txt"),
];

const PROCESSES: [Said; 5] = [
    ("pid $", "4711", "4712"),
    ("PID: $.", "4711", "52"),
    ("The server runs as process $.", "811", "90210"),
    ("{\"pid\":$,\"ok\":true}", "4711", "4718"),
    ("started [pid=$]", "17", "18"),
];

const COUNTERS: [Said; 9] = [
    ("This is turn $ of many.", "3", "4"),
    ("turn $", "9", "10"),
    ("$ tokens left", "98", "97"),
    ("Tokens used: $", "12,345", "12,391"),
    ("Context: $% full", "41", "43"),
    ("attempt #$", "1", "2"),
    ("message_count=$;", "17", "19"),
    ("{\"step\": $, \"of\": 30}", "7", "8"),
    ("cost so far: $$", "0.15", "0.21"),
];

const GITS: [Said; 7] = [
    ("HEAD is commit $", "0a1b2c3", "0a1b2c4"),
    ("Current branch: $", "main", "next"),
    ("git status:\n$", "M src/a.rs", "M src/b.rs"),
    (
        "Recent commits:\n$ Mend the sum",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
        "1f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    ),
    ("gitStatus: the working tree is $.", "clean", "dirty"),
    ("On branch $", "feature/orders", "feature/ledger"),
    ("git rev-parse says $", "0a1b2c3d", "4e5f6a7b"),
];

const FLAGS: [Said; 7] = [
    ("verbose: $", "true", "false"),
    ("verbose=$.", "on", "off"),
    ("Sandbox is $", "enabled", "disabled"),
    ("\"is_git_repo\": $,", "true", "false"),
    ("Is a repository: $", "Yes", "No"),
    ("debug=$", "True", "False"),
    ("<auto>$</auto>", "ON", "OFF"),
];

const ORDERS: [Said; 5] = [
    ("Settings: $", "{\"a\": 1, \"b\": 2, \"c\": 3}", "{\"b\": 2, \"c\": 3, \"a\": 1}"),
    (
        "Known agents:\n$",
        "- explorer: looks\n- planner: plans\n- general: does",
        "- planner: plans\n- general: does\n- explorer: looks",
    ),
    ("Allowed: $.", "Read, Bash, Edit", "Edit, Read, Bash"),
    ("env: $", "A=1;B=2;C=3", "C=3;A=1;B=2"),
    ("{'x': $}", "{'k1': 'v1', 'k2': 'v2'}", "{'k2': 'v2', 'k1': 'v1'}"),
];

fn said(volatile: Volatile) -> &'static [Said] {
    match volatile {
        Volatile::Date => &DATES,
        Volatile::Time => &TIMES,
        Volatile::Uuid => &UUIDS,
        Volatile::Path => &PATHS,
        Volatile::Pid => &PROCESSES,
        Volatile::Counter => &COUNTERS,
        Volatile::Git => &GITS,
        Volatile::Flag => &FLAGS,
        Volatile::MapOrder => &ORDERS,
    }
}

/// Plants volatile content in the system prompt, a tool's text or the early history.
pub fn plant(case: &mut Case, volatile: Volatile) -> Option<Vec<At>> {
    let within = *case.dice.pick(&[Within::System, Within::ToolDescription, Within::UserText, Within::ToolResult]);
    let (words, was, is) = *case.dice.pick(said(volatile));
    let told = |text: &str, dice: &mut Dice| {
        // Between words, as a separate sentence.
        let gaps: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).chain([0, text.len()]).collect();
        let (before, behind) = text.split_at(*dice.pick(&gaps));
        let tell = |thing: &str| format!("{before}\n{}\n{behind}", words.replacen('$', thing, 1));
        Some((tell(was), tell(is)))
    };
    case.retell(within, told)
}
