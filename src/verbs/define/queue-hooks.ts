// How the verbs of queues, rooms and audio servers ask their action hooks: also when the call is over, since others watch what
// becomes of those.
import type { HookForm } from '../../calls/application/hook-form.ts'
import type { Given } from './define-verb.ts'

export async function askAbout(
  hook: HookForm,
  fields: Readonly<Record<string, unknown>>,
  { hooks, signal }: Given<'hooks'>,
): Promise<void> {
  // Verbs that have replaced this one are not replaced by what its hook answers, and do not wait for it.
  if (signal.aborted) void hooks.report(hook, fields)
  else await hooks.ask(hook, fields, signal)
}
