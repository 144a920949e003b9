// The commands that this release does not serve: a request with one of them is refused by its name.

export const unservedCommands: readonly string[] = [
  'listen_status',
  'llm_tool_output',
  'llm_update',
  'stream_status',
  'transcribe_status',
]
