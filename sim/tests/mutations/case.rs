//! A request, the next one, and the change planted between them.

use super::json::Json;
use super::prompt::{Block, Prompt};
use forkcast_fixtures::Dice;

/// Two requests of a chain: the newer one only appends until a change is planted.
pub struct Case {
    pub older: Prompt,
    pub newer: Prompt,
    pub dice: Dice,
}

/// Where a planted change must be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// At this block: changed, new or gone.
    Block(u32),
    /// Where the two requests first differ.
    First,
    /// At a parameter of the request.
    Parameter(&'static str, &'static str),
    /// At this path in the newer request, as a parameter of this level.
    Standing(String, &'static str),
}

/// Texts that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    System,
    ToolDescription,
    ToolSchema,
    ToolName,
    UserText,
    AssistantText,
    ToolResult,
    ToolInput,
}

pub const WITHIN: [Within; 8] = [
    Within::System,
    Within::ToolDescription,
    Within::ToolSchema,
    Within::ToolName,
    Within::UserText,
    Within::AssistantText,
    Within::ToolResult,
    Within::ToolInput,
];

/// The type of a block.
pub fn kind(json: &Json) -> String {
    json.get("type").and_then(Json::said).unwrap_or_default()
}

/// Not part of the prompt: a tool loaded later, a client's billing header.
pub fn is_excluded(json: &Json) -> bool {
    let header = json.get("text").and_then(Json::said);
    json.get("defer_loading").is_some() || header.is_some_and(|text| text.starts_with("x-anthropic-billing-header"))
}

impl Case {
    /// Messages that both requests have.
    pub fn history(&self) -> usize {
        self.older.messages.len()
    }

    /// Changes both requests in the same way.
    pub fn both(&mut self, mut change: impl FnMut(&mut Prompt)) {
        change(&mut self.older);
        change(&mut self.newer);
    }

    /// Blocks of the shared history with one of these types, and the index of their message.
    pub fn of_kind(&self, kinds: &[&str]) -> Vec<(usize, Block)> {
        let messages = self.older.messages.iter().enumerate();
        let blocks = messages.flat_map(|(at, message)| message.content.iter().map(move |block| (at, block)));
        blocks
            .filter(|(_, block)| kinds.contains(&kind(&block.json).as_str()))
            .map(|(at, block)| (at, block.clone()))
            .collect()
    }

    /// The index of a message in the newer request, by one of its blocks.
    pub fn message_of(&self, id: u32) -> Option<usize> {
        self.newer.messages.iter().position(|message| message.content.iter().any(|block| block.id == id))
    }

    /// Blocks with texts of this sort.
    pub fn holders(&self, within: Within) -> Vec<u32> {
        let plain = |blocks: &[Block]| -> Vec<u32> {
            blocks.iter().filter(|block| !is_excluded(&block.json)).map(|block| block.id).collect()
        };
        let said = |role: &str, kinds: &[&str]| -> Vec<u32> {
            let of_role = |at: usize| role.is_empty() || self.older.messages[at].role == role;
            self.of_kind(kinds).iter().filter(|(at, _)| of_role(*at)).map(|(_, block)| block.id).collect()
        };
        let mut found = match within {
            Within::System => plain(&self.older.system),
            Within::ToolDescription | Within::ToolSchema | Within::ToolName => plain(&self.older.tools),
            Within::UserText => said("user", &["text"]),
            Within::AssistantText => said("assistant", &["text"]),
            Within::ToolResult => said("", &["tool_result"]),
            Within::ToolInput => said("", &["tool_use"]),
        };
        let mut older = self.older.clone();
        found.retain(|id| older.block_mut(*id).is_some_and(|block| !texts(within, &mut block.json).is_empty()));
        found
    }

    /// Replaces a text by two: the older request gets the first, the newer one the second.
    pub fn retell(
        &mut self,
        within: Within,
        tell: impl FnOnce(&str, &mut Dice) -> Option<(String, String)>,
    ) -> Option<Vec<At>> {
        let holders = self.holders(within);
        let id = self.dice.any(&holders)?;
        let block = self.older.block_mut(id)?;
        let all = texts(within, &mut block.json).len();
        let which = self.dice.below(all);
        let said = texts(within, &mut self.older.block_mut(id)?.json)[which].said()?;
        let (was, is) = tell(&said, &mut self.dice)?;
        for (prompt, text) in [(&mut self.older, was), (&mut self.newer, is)] {
            let block = prompt.block_mut(id)?;
            *texts(within, &mut block.json)[which] = Json::text(&text);
        }
        Some(vec![At::Block(id)])
    }
}

/// The non-empty texts of this sort in a block.
pub fn texts(within: Within, json: &mut Json) -> Vec<&mut Json> {
    let mut found = Vec::new();
    match within {
        Within::System | Within::UserText | Within::AssistantText => found.extend(json.get_mut("text")),
        Within::ToolDescription => found.extend(json.get_mut("description")),
        Within::ToolName => found.extend(json.get_mut("name")),
        Within::ToolSchema => {
            json.get_mut("input_schema").into_iter().for_each(|schema| schema.strings_mut(&mut found));
        }
        Within::ToolInput => json.get_mut("input").into_iter().for_each(|input| input.strings_mut(&mut found)),
        Within::ToolResult => match json.get_mut("content") {
            Some(Json::List(items)) => found.extend(items.iter_mut().filter_map(|item| item.get_mut("text"))),
            Some(content) => found.push(content),
            None => {}
        },
    }
    found.retain(|text| text.said().is_some_and(|text| !text.is_empty()));
    found
}
