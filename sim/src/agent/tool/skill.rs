//! The Skill tool: a model calls a skill. The result is its instructions, or the text of the agent that runs it.

use serde_json::Value;

use super::fields::{self, Field, Kind};
use super::{Call, Definition, Effect, Outcome, Running, Tool, ToolError};
use crate::agent::session::Session;
use crate::agent::spawn::slash;

/// The Skill tool.
pub struct SkillTool;

const NAME: &str = "Skill";

const FIELDS: [Field; 2] = [
    Field::required("skill", Kind::Text, "The name of a listed skill"),
    Field::optional("args", Kind::Text, "Arguments for it"),
];

impl Tool for SkillTool {
    fn name(&self) -> &str {
        NAME
    }

    fn definition(&self, _: &Session) -> Definition {
        let description = "Calls a skill by its name. You get its instructions, or the result of the agent that runs it. \
                           Only listed skills exist.";
        Definition { description: description.to_owned(), input_schema: fields::schema(&FIELDS) }
    }

    fn effect(&self, _input: &Value) -> Effect {
        Effect::Session
    }

    fn call(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let input = fields::checked(NAME, &FIELDS, &call.tool_use.input)?;
            let context = &call.context;
            let skills = &context.session.skills;
            let Some((skill, _)) = skills.find(input.text("skill"), &context.agent_type()) else {
                let names: Vec<String> = skills.all().map(|skill| format!("`{}`", skill.name)).collect();
                let wanted = input.text("skill");
                return Err(ToolError::failed(format!(
                    "Skill: there is no `{wanted}`; available: {}",
                    names.join(", ")
                )));
            };
            let arguments = input.text("args");
            if !skill.is_fork() {
                context.session.scoped.note_skill(&context.agent, &skill.name);
                return Ok(Outcome::done(skill.called(arguments)));
            }
            let forked = slash::prepare(context, &skill, arguments, false).map_err(ToolError::Failed)?;
            let text = crate::select! {
                text = forked.end() => text,
                () = call.abort.given() => return Err(ToolError::Aborted),
            };
            Ok(Outcome::done(text))
        })
    }
}
