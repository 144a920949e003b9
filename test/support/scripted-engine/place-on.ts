// A call that an API request places.
import type { CallRequest, PreparedCall } from '../../../src/calls/calls.ts'
import type { ScriptedEngine } from './scripted-engine.ts'

/** Places a call as an API request does. */
export async function placeOn(
  { calls }: Pick<ScriptedEngine, 'calls'>,
  request: CallRequest,
): Promise<PreparedCall> {
  const call = await calls.prepare(request)
  await call.begin()
  return call
}
