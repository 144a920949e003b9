// The commands that this release does not serve: a request with one of them is refused by its name.

export const unservedCommands: readonly string[] = ['llm_tool_output', 'llm_update', 'transcribe_status']
