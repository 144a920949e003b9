// Commands of an application over WebSocket that the REST API does not have: redirect to verbs, config, dial.
import { AppError } from '../../lib/errors.ts'
import type { CommandFrame } from '../channel/frames.ts'
import type { ReadyCommand, RunnableCommand } from './command.ts'
import type { Leg } from '../leg/leg.ts'
import type { ParseVerbs } from '../verb/verb.ts'
import type { VerbLoop } from './verb-loop.ts'
import type { ScriptNeeds } from './needs.ts'

export interface FrameVerbsOptions {
  readonly queue: VerbLoop
  readonly needs: ScriptNeeds
}

const because = 'the application sent other verbs'
const configuring: ReadonlySet<string> = new Set(['config'])

/**
 * Returns undefined for a frame of another kind. `refuse` gets later failures. Throws AppError hook_invalid_payload or
 * bad_request.
 */
export function verbsIn(
  { command, isQueued, data }: CommandFrame,
  { queue, needs }: FrameVerbsOptions,
  refuse: (error: unknown) => void,
): readonly RunnableCommand[] | undefined {
  const parse = needs.verbs
  if (command === 'config') return [configure(data)]
  if (command === 'dial') return [order(data, needs, refuse)]
  if (command !== 'redirect') return undefined
  if (Array.isArray(data)) {
    const verbs = parse(data)
    return [
      toCommand('verbs', ({ script }) => {
        if (script === undefined) throw noScript()
        const apply = isQueued ? () => queue.append(verbs) : () => script.interrupt(verbs, because)
        return { outcome: isQueued ? 'more verbs' : 'other verbs', apply }
      }),
    ]
  }
  const { parent_call, child_call } = partsOf(data)
  const parts = [
    ...(child_call === undefined ? [] : [childVerbs(child_call, parse)]),
    ...(parent_call === undefined ? [] : [parentVerbs(parent_call, parse)]),
  ]
  return parts.length === 0 ? undefined : parts
}

function partsOf(data: unknown): Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {}
}

function parentVerbs(list: unknown, parse: ParseVerbs): RunnableCommand {
  const verbs = parse(list)
  return toCommand('parent_call', ({ script }) => {
    if (script === undefined) throw noScript()
    return { outcome: 'other verbs', apply: () => script.interrupt(verbs, because) }
  })
}

function childVerbs(list: unknown, parse: ParseVerbs): RunnableCommand {
  const verbs = parse(list)
  return toCommand('child_call', ({ bridge }) => {
    if (bridge === undefined)
      throw new AppError('call_state', 'the call is not bridged with another one', {
        cure: 'Wait until the call talks with one that it has dialled.',
      })
    return { outcome: 'the called side becomes a call of its own', apply: bridge.part(verbs) }
  })
}

function configure(data: unknown): RunnableCommand {
  return toCommand('config', (leg) => {
    const beside = leg.script?.beside ?? leg.bridge?.beside
    if (beside === undefined) throw noScript()
    return { outcome: 'config', apply: beside([{ ...partsOf(data), verb: 'config' }], configuring) }
  })
}

/** Makes another call. Its own journal and hooks report its progress; a call that cannot be made is refused here. */
function order(
  data: unknown,
  { order: make }: ScriptNeeds,
  refuse: (error: unknown) => void,
): RunnableCommand {
  return toCommand('dial', ({ journal }) => ({
    outcome: 'another call',
    async start() {
      try {
        const call_sid = await make(journal.facts.started.account_sid, data)
        journal.note({ type: 'note', sentence: `the application made the call ${call_sid}` })
      } catch (error) {
        refuse(error)
      }
    },
  }))
}

function toCommand(name: string, ready: (leg: Leg) => ReadyCommand): RunnableCommand {
  return { name, needs: 'nothing', isUrgent: false, ready: ({ leg }) => ready(leg) }
}

function noScript(): AppError {
  return new AppError('call_state', 'no verbs of an application run that leg', {
    cure: 'Send verbs to the call that dials, or to the other leg with child_call.',
  })
}
