// The commands that this release does not serve. They are refused by name, with what to use instead.
import { inPlaceOf } from '../../lib/not-served.ts'

export const unservedCommands: Readonly<Record<string, string>> = {
  llm_tool_output: inPlaceOf.models,
  llm_update: inPlaceOf.models,
  transcribe_status: inPlaceOf.recognition,
}
