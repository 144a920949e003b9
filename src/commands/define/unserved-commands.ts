// The commands that this release does not serve: a request with one of them is refused by its name, with what to do in its place.
import { inPlaceOf } from '../../lib/not-served.ts'

export const unservedCommands: Readonly<Record<string, string>> = {
  llm_tool_output: inPlaceOf.models,
  llm_update: inPlaceOf.models,
  transcribe_status: inPlaceOf.recognition,
}
