//! Sizes that a scenario declares (`design.md` 3, `declared`).

/// Tokens that a scenario declares for parts of the prompt. Each is the total of its part and is shared between its
/// blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSizes {
    /// The system prompt.
    pub system: Option<u64>,
    /// All tools.
    pub tools: Option<u64>,
    /// The history at the start of the session.
    pub history: Option<u64>,
    /// The assistant message that starts agents: a forking message, or briefs.
    pub assistant: Option<u64>,
    /// All placeholder results of a fork.
    pub placeholder: Option<u64>,
    /// A fork's own last block.
    pub directive_block: Option<u64>,
    /// The growth per turn: answer and results together.
    pub growth: Option<u64>,
    /// Named agents, which have their own prompts.
    pub agents: Option<AgentSizes>,
}

/// Declared tokens for the prompts of named agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentSizes {
    /// Their system prompt.
    pub system: u64,
    /// All their tools.
    pub tools: u64,
    /// Their whole first message.
    pub brief: u64,
    /// Tokens that they gather at the start: the history that they were not given. A turn that gathers adds its share of
    /// them and nothing else (`economics.md` 3.3).
    pub gathered: u64,
    /// The number of turns in which they gather.
    pub gathering_turns: u32,
}

/// Declared tokens of what an agent of one type sends before its conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixSizes {
    /// Its system prompt.
    pub system: u64,
    /// All its tools.
    pub tools: u64,
}

impl PartSizes {
    /// The growth of an agent's turn after `turns` answers. `is_named` is set for agents that are neither the main
    /// agent nor a fork.
    pub fn growth_of(&self, turns: u32, is_named: bool) -> Option<u64> {
        let growth = self.growth?;
        let gathers = |agents: &AgentSizes| is_named && (1..=agents.gathering_turns).contains(&turns);
        let Some(agents) = self.agents.filter(gathers) else { return Some(growth) };
        let shares = shared_out(agents.gathered, &vec![1; agents.gathering_turns as usize]);
        Some(shares[turns as usize - 1])
    }
}

impl PartSizes {
    /// The declared parts by their names in scenarios, with their tokens.
    pub fn declared(self) -> impl Iterator<Item = (&'static str, u64)> {
        let parts = [
            ("system", self.system),
            ("tools", self.tools),
            ("history", self.history),
            ("assistant", self.assistant),
            ("placeholder", self.placeholder),
            ("directive_block", self.directive_block),
            ("growth", self.growth),
            ("agents", self.agents.map(|agents| agents.system + agents.tools + agents.brief)),
        ];
        parts.into_iter().filter_map(|(name, tokens)| tokens.map(|tokens| (name, tokens)))
    }
}

/// Shares out `total` by `weights` with the largest remainder method: each part is rounded down, and the rest is added
/// one by one to the parts with the largest remainders, the first one if equal. The parts add up to `total`. If all
/// weights are zero, the parts are equal.
pub fn shared_out(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (weights, sum): (Vec<u128>, u128) = match sum {
        0 => (vec![1; weights.len()], weights.len() as u128),
        sum => (weights.iter().map(|weight| u128::from(*weight)).collect(), sum),
    };
    let share = |weight: &u128| (u128::from(total) * weight / sum, u128::from(total) * weight % sum);
    // A share is at most the total.
    let mut parts: Vec<u64> = weights.iter().map(|weight| u64::try_from(share(weight).0).unwrap_or(total)).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(share(&weights[*index]).1));
    let given: u64 = parts.iter().sum();
    for (index, _) in order.into_iter().zip(given..total) {
        parts[index] += 1;
    }
    parts
}
