//! Sub-agents: routing, waiting, background, takeover (contract AGENT, SYNC, ASYNC, LIFE, RESULT).
