"""Bodies of a small agent whose system prompt is kept or moves."""


def system(turn, moves):
    return f"The house rules. It is {f'10:0{turn}' if moves else 'November'}."


def messages(turn):
    said = [{"role": "user", "content": "What does the parser do with an empty file?"}]
    for step in range(turn):
        said += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": f"Go on with part {step}."}]
    return said


def bodies(moves=False):
    fixed = {"model": "claude-opus-4-8", "max_tokens": 1024, "cache_control": {"type": "ephemeral"}}
    return [{**fixed, "system": system(turn, moves), "messages": messages(turn)} for turn in range(3)]
