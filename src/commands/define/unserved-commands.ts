// The commands that this release does not serve. They are refused by name, with what to use instead.
import { inPlaceOf } from '../../lib/not-served.ts'

const playInstead = 'Let the application of a member say or play it: each hears only its own.'
const speakInstead = 'Speak whole texts with `say`.'
const recogniseInstead =
  'Change `recognizer` with the verb `config`: the next verb that recognises speech has the new one.'

/** The members of a REST body. */
export const unservedCommands: Readonly<Record<string, string>> = {
  agent_update: inPlaceOf.models,
  llm_status: inPlaceOf.models,
  llm_tool_output: inPlaceOf.models,
  llm_update: inPlaceOf.models,
  noise_isolation_level: inPlaceOf.leftOut,
  noise_isolation_model: inPlaceOf.leftOut,
  noise_isolation_status: inPlaceOf.leftOut,
  noise_isolation_vendor: inPlaceOf.leftOut,
  room_play: playInstead,
  room_say: playInstead,
  transfer: 'Send the call elsewhere with `call_hook`, and let it answer with `dial` or `sip:refer`.',
}

/** The frames of an application over WebSocket. */
export const unservedFrames: ReadonlyMap<string, string> = new Map([
  ['agent:update', inPlaceOf.models],
  ['llm:tool-output', inPlaceOf.models],
  ['llm:update', inPlaceOf.models],
  ['noiseIsolation:status', inPlaceOf.leftOut],
  ['room:play', playInstead],
  ['room:say', playInstead],
  ['stt:reconfigure', recogniseInstead],
  ['tts:clear', speakInstead],
  ['tts:flush', speakInstead],
  ['tts:tokens', speakInstead],
])
