// The action hooks of verbs for queues, rooms and audio servers. They are also sent when the call is over, as
// applications rely on them.
import type { HookForm } from '../../calls/verb.ts'
import type { Given } from './define-verb.ts'

export async function askAbout(
  hook: HookForm,
  fields: Readonly<Record<string, unknown>>,
  { hooks, signal }: Given<'hooks'>,
): Promise<void> {
  // Verbs that have replaced this one neither wait for its hook nor are replaced by the answer of the hook.
  if (signal.aborted) void hooks.report(hook, fields)
  else await hooks.ask(hook, fields, signal)
}
