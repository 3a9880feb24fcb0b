//! Blocks and prefixes: equal ones are one.

use forkcast_sim::time::Duration;
use forkcast_sim::wire::{
    BlockKind, Blocks, Content, Index, Level, NodeSizes, Place, Prefixes, Role, Sizes, Ttl, estimated_tokens,
};

const TEXT: Content<'_> = Content { level: Level::Messages, role: Role::User, kind: BlockKind::Text, bytes: b"a" };

#[test]
fn a_block_is_its_bytes_and_their_kind() {
    let mut blocks = Blocks::default();
    assert!(blocks.is_empty());
    let distinct = [
        TEXT,
        Content { bytes: b"b", ..TEXT },
        Content { bytes: b"", ..TEXT },
        Content { level: Level::System, ..TEXT },
        Content { role: Role::Assistant, ..TEXT },
        Content { kind: BlockKind::Opaque, ..TEXT },
    ];
    let ids = distinct.map(|content| blocks.intern(content));
    let digests = ids.map(|id| blocks.digest(id));
    for (at, content) in distinct.into_iter().enumerate() {
        assert_eq!(blocks.intern(content), ids[at]);
        assert_eq!(blocks.bytes(ids[at]), content.bytes);
        assert_eq!(blocks.len_bytes(ids[at]), content.bytes.len() as u64);
        let found = (blocks.kind(ids[at]), blocks.level(ids[at]), blocks.role(ids[at]));
        assert_eq!(found, (content.kind, content.level, content.role));
        assert!(ids[..at].iter().all(|other| *other != ids[at]));
        assert!(digests[..at].iter().all(|other| *other != digests[at]));
    }
    assert_eq!((blocks.len(), blocks.total_bytes(), blocks.is_empty()), (6, 5, false));
}

#[test]
fn plain_blocks_of_unread_messages_are_kept_as_digests() {
    let (mut read, mut unread) = (Blocks::default(), Blocks::default().unread());
    let long = |word: &str| format!("{{\"text\":\"{}\"}}", format!("{word} ").repeat(30)).into_bytes();
    let texts = [long("one"), long("two"), long("one and two"), b"short".to_vec()];
    let (image, reference) = (long("\"media_type\":\"image/png\""), long("\"type\":\"tool_reference\""));
    let result = Content { kind: BlockKind::ToolResult, ..TEXT };
    let kept = [
        Content { bytes: &texts[3], ..TEXT },
        Content { bytes: &texts[0], level: Level::System, ..TEXT },
        Content { bytes: &texts[0], kind: BlockKind::Opaque, ..TEXT },
        Content { bytes: &image, ..result },
        Content { bytes: &reference, ..result },
    ];
    let plain = [TEXT, result, Content { kind: BlockKind::ToolUse, ..TEXT }];
    let plain = plain.iter().flat_map(|content| texts[..3].iter().map(|bytes| Content { bytes, ..*content }));
    let contents: Vec<Content<'_>> = plain.chain(kept).collect();
    for (at, content) in contents.iter().enumerate().chain(contents.iter().enumerate()) {
        let (id, digest) = (read.intern(*content), unread.intern(*content));
        assert_eq!(id, digest, "the same blocks are equal");
        assert_eq!(read.len_bytes(id), unread.len_bytes(id));
        assert_eq!(estimated_tokens(&read, id), estimated_tokens(&unread, id));
        let found = (unread.kind(id), unread.level(id), unread.role(id));
        assert_eq!(found, (content.kind, content.level, content.role));
        assert_eq!(unread.bytes(id) == content.bytes, at >= contents.len() - kept.len(), "{content:?}");
    }
    assert_eq!(read.len(), contents.len());
}

#[test]
fn a_digest_does_not_depend_on_earlier_blocks() {
    let (mut one, mut other) = (Blocks::default(), Blocks::default());
    other.intern(Content { bytes: b"first", ..TEXT });
    let (a, b) = (one.intern(TEXT), other.intern(TEXT));
    assert_eq!(one.digest(a), other.digest(b));
}

#[test]
fn scopes_and_models_never_share_a_prefix() {
    let mut prefixes = Prefixes::default();
    let roots =
        [("a", "m"), ("b", "m"), ("a", "n"), ("", "am"), ("am", ""), ("a\0b", "c"), ("a", "b\0c"), ("1:a", "m")];
    let ids = roots.map(|(scope, model)| prefixes.root(scope, model));
    for (at, (scope, model)) in roots.into_iter().enumerate() {
        assert_eq!(prefixes.root(scope, model), ids[at]);
        assert!(ids[..at].iter().all(|other| *other != ids[at]), "{scope} {model}");
        assert_eq!((prefixes.parent(ids[at]), prefixes.block(ids[at]), prefixes.depth(ids[at])), (None, None, 0));
        assert_eq!(prefixes.ancestors(ids[at]).count(), 0);
    }
    assert_eq!(prefixes.len(), roots.len());
}

#[test]
fn lines_are_paths_of_first_children() {
    let (mut blocks, mut prefixes) = (Blocks::default(), Prefixes::default());
    assert!(prefixes.is_empty());
    let [a, b] = [b"a", b"b"].map(|bytes| blocks.intern(Content { bytes, ..TEXT }));
    let root = prefixes.root("s", "m");
    let (trunk, new) = prefixes.extend(root, a, BlockKind::Text);
    let (fork, _) = prefixes.extend(root, b, BlockKind::Thinking);
    let (tip, _) = prefixes.extend(trunk, b, BlockKind::Text);
    assert!(new);
    assert_eq!(prefixes.extend(root, a, BlockKind::Text), (trunk, false));
    assert_eq!((prefixes.line(root), prefixes.line(trunk)), (prefixes.line(tip), prefixes.line(tip)));
    assert_ne!(prefixes.line(fork), prefixes.line(root));
    assert_eq!((prefixes.branch(prefixes.line(fork)), prefixes.branch(prefixes.line(root))), (Some(root), None));
    assert_eq!((prefixes.kind(fork), prefixes.block(tip), prefixes.depth(tip)), (BlockKind::Thinking, Some(b), 2));
    assert_eq!(prefixes.ancestors(tip).collect::<Vec<_>>(), [tip, trunk]);
    assert_eq!((prefixes.len(), prefixes.is_empty()), (4, false));
    assert!(prefixes.total_bytes() >= 4 * 16 && prefixes.total_bytes() % 4 == 0);
}

#[test]
fn a_run_is_blocks_of_one_kind_in_a_row_on_one_path() {
    let (mut blocks, mut prefixes) = (Blocks::default(), Prefixes::default());
    let [a, b] = [b"a", b"b"].map(|bytes| blocks.intern(Content { bytes, ..TEXT }));
    let root = prefixes.root("s", "m");
    let mut extend = |parent, block, kind| prefixes.extend(parent, block, kind).0;
    let head = extend(root, a, BlockKind::Parameters);
    let text = extend(head, a, BlockKind::Text);
    let call = extend(text, a, BlockKind::ToolUse);
    let second = extend(call, a, BlockKind::ToolUse);
    let result = extend(second, a, BlockKind::ToolResult);
    let other = extend(call, b, BlockKind::ToolUse);
    let again = extend(result, b, BlockKind::ToolUse);
    let all = [root, head, text, call, second, result, other, again];
    let starts = [root, head, text, call, call, result, call, again];
    assert_eq!(all.map(|node| prefixes.run_start(node)), starts, "a root has no block, so no run begins there");
}

#[test]
fn a_path_of_a_million_prefixes_is_walked_and_dropped_without_a_stack() {
    const DEPTH: u32 = 1_000_000;
    let (mut blocks, mut prefixes, mut sizes) = (Blocks::default(), Prefixes::default(), NodeSizes::default());
    let block = blocks.intern(TEXT);
    let mut end = prefixes.root("s", "m");
    for _ in 0..DEPTH {
        end = prefixes.extend(end, block, BlockKind::Text).0;
        sizes.declare(&prefixes, end, 3);
    }
    assert_eq!(prefixes.depth(end), DEPTH);
    assert_eq!(prefixes.ancestors(end).count(), DEPTH as usize);
    assert_eq!(sizes.tokens_at(end), 3 * u64::from(DEPTH));
    drop(prefixes.clone());
}

#[test]
fn the_index_is_a_map_that_cannot_be_iterated() {
    let mut index: Index<&str, u32> = Index::default();
    assert!(index.is_empty());
    assert_eq!((index.insert("a", 1), index.insert("a", 2)), (None, Some(1)));
    *index.get_or_insert_with("a", || 9) += 1;
    *index.get_or_insert_with("b", || 9) += 1;
    *index.get_mut(&"b").unwrap() += 1;
    assert_eq!((index.get(&"a"), index.get(&"b"), index.get(&"c")), (Some(&3), Some(&11), None));
    assert_eq!(index.get_mut(&"c"), None);
    assert_eq!((index.len(), index.is_empty(), index.contains(&"a"), index.contains(&"c")), (2, false, true, false));
    assert_eq!((index.remove(&"a"), index.remove(&"a"), index.len()), (Some(3), None, 1));
}

#[test]
fn levels_roles_lifetimes_and_places_have_their_words() {
    assert_eq!([Level::Tools, Level::System, Level::Messages].map(Level::name), ["tools", "system", "messages"]);
    let roles = [Role::None, Role::User, Role::Assistant, Role::System, Role::Other];
    assert_eq!(roles.map(Role::name), ["", "user", "assistant", "system", "other"]);
    let named = ["user", "assistant", "system", "developer", ""].map(Role::named);
    assert_eq!(named, [Role::User, Role::Assistant, Role::System, Role::Other, Role::Other]);
    assert_eq!([Ttl::FiveMinutes, Ttl::OneHour].map(Ttl::name), ["5m", "1h"]);
    assert_eq!(
        [Ttl::FiveMinutes, Ttl::OneHour].map(Ttl::duration),
        [Duration::from_secs(300), Duration::from_secs(3_600)]
    );
    let place = Place { level: Level::Messages, item: 3, part: 1, keys: false };
    let table = [
        (place, "messages[3].content[1]"),
        (Place { keys: true, ..place }, "messages[3]"),
        (Place { level: Level::Tools, ..place }, "tools[3]"),
        (Place { level: Level::System, ..place }, "system[3]"),
        (Place::head(Level::System), "system"),
        (Place::head(Level::Messages), "messages"),
    ];
    for (place, path) in table {
        assert_eq!(place.to_string(), path);
    }
}
