// One random history of queues: callers arrive, wait and leave, others take them, in an order that the seed determines,
// while the hooks answer, fail or are slow.
import { AppError } from '../../../src/lib/errors.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createRandomBelow } from '../random.ts'
import type { History } from './random-session.ts'
import { account } from './scripted-facts.ts'
import { calm, settle } from './turns.ts'
import { createScriptedEngine } from './scripted-engine.ts'
import { heldAnswer } from './scripted-hooks.ts'
import { ScriptedReferral } from './scripted-referral.ts'
import { sipRequest } from './scripted-messages.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

const file = { verb: 'play', url: '/after.wav' }
const leave = { verb: 'leave' }
const waits = [
  [],
  [file],
  [{ verb: 'say', text: 'one moment' }, leave],
  [leave],
  [{ verb: 'gather' }],
  'none',
]
const eventHook = { url: 'http://app.test/events', method: 'POST', username: null, password: null } as const
const hookAt = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const

const maxCalls = 7

/** Plays a history. `handedOver` is the number of callers that were taken out of a queue. */
export async function playQueues(
  seed: number,
  parseVerbs: ParseVerbs,
): Promise<History & { readonly handedOver: number }> {
  const random = createRandomBelow(seed)
  const chance = (below: number, options: object): object => (random(below) === 0 ? options : {})
  const engine = createScriptedEngine(parseVerbs)
  engine.queueEventHook = random(4) === 0 ? null : eventHook
  const late = heldAnswer()
  engine.hooks.answers.set('/wait', (request) => {
    const way = random(6)
    if (way === 0) return Promise.reject(new AppError('hook_unreachable', 'the hook is dead'))
    return way === 1 ? late.answer(request) : Promise.resolve(waits[random(waits.length)])
  })
  const enqueue = (): object => ({
    verb: 'enqueue',
    name: random(4) === 0 ? 'other' : 'support',
    actionHook: '/left',
    ...chance(3, { priority: random(3) }),
    ...chance(2, { waitHook: '/wait' }),
  })
  const live = (): string[] => engine.calls.list(account.account_sid).map(({ call_sid }) => call_sid)
  const dequeue = (): object => ({
    verb: 'dequeue',
    name: random(4) === 0 ? 'other' : 'support',
    actionHook: '/taken',
    ...chance(3, { timeout: 1 + random(3) }),
    ...chance(3, { beep: true }),
    ...chance(4, { callSid: live()[random(maxCalls)] ?? 'none' }),
  })
  const some = (): object => (random(2) === 0 ? enqueue() : dequeue())
  engine.hooks.answers.set('/left', () => Promise.resolve(random(4) === 0 ? [some()] : []))
  engine.hooks.answers.set('/taken', () => Promise.resolve(random(4) === 0 ? [some()] : []))
  engine.hooks.answers.set('/other', () => Promise.resolve([some()]))
  engine.hooks.answers.set('/call', () =>
    Promise.resolve([some(), ...(random(2) === 0 ? [some()] : []), ...(random(3) === 0 ? [file] : [])]),
  )
  const invites: ScriptedInvite[] = []
  const ring = (): void => {
    if (invites.length < maxCalls)
      invites.push(engine.ring(random(6) === 0 ? { to: 'queue-support@example.com' } : {}))
  }
  ring()
  let finals = 0
  const [first] = invites
  if (first === undefined) throw new Error('no call came')
  const accept = first.accept.bind(first)
  first.accept = (reply) => {
    finals += 1
    return accept(reply)
  }
  const one = (): ScriptedInvite | undefined => invites[random(invites.length)]
  const command = (): void => {
    const sids = live()
    const sid = sids[random(sids.length)]
    if (sid === undefined) return
    const asked = [
      { call_hook: hookAt('/other') },
      { call_status: 'completed' },
      { whisper: { verb: 'pause', length: 1 } },
      { mute_status: 'mute' },
    ][random(4)]
    void engine.calls.command(account.account_sid, sid, asked ?? {}).catch(() => undefined)
  }
  const offer = (): void => {
    const index = random(engine.media.sessions.length + 1)
    const session = engine.media.sessions[index]
    if (session !== undefined) session.isHeld = random(2) === 0
    const dialog = one()?.dialog
    if (dialog?.isListenedTo === true && !dialog.isOver)
      void dialog.listener.offered('v=0', sipRequest('INVITE'))
  }
  const refer = (): void => {
    const [by, other] = [one()?.dialog, one()?.dialog]
    if (by?.isListenedTo !== true || by.isOver) return
    by.listener.referred?.(new ScriptedReferral({ replaces: other ?? null }))
  }
  const steps: (() => unknown)[] = [
    ...Array.from({ length: 6 }, () => ring),
    () => one()?.dialog?.hangUp(),
    () => one()?.dialog?.hangUp(),
    () => one()?.cancel(),
    command,
    command,
    offer,
    refer,
    () => late.release([file]),
    () => engine.clock.advance(500),
    () => engine.clock.advance(2000),
    () => random(4) === 0 && engine.media.sessions[random(maxCalls)]?.emit({ type: 'lost' }),
  ]
  for (let count = 0; count < 20; count += 1) {
    const turns = random(6)
    if (turns > 3) await settle()
    else for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    await steps[random(steps.length)]?.()
  }
  const wrongs: string[] = []
  late.release([])
  for (const invite of invites) {
    invite.cancel()
    invite.dialog?.hangUp()
  }
  void engine.calls.hangUpAll('the end')
  await calm()
  engine.clock.advance(5000)
  await calm()
  const idle = engine.calls.drain().then(() => true)
  if (!(await Promise.race([idle, settle().then(() => false)]))) wrongs.push('something is awaited for ever')
  const left = engine.calls.queues(account.account_sid)
  if (left.length > 0) wrongs.push(`callers are left in ${left.map(({ name }) => name).join(', ')}`)
  const events = engine.store.batches.flatMap(({ call_sid, events: all }) =>
    all.map((event) => ({ ...event, of: call_sid })),
  )
  const handedOver = events.filter((event) => event.type === 'handed-over' && event.caller_sid === event.of)
  wrongs.push(...wrongsOfQueues(engine, new Set(events.map(({ of }) => of))))
  return {
    engine,
    invite: first,
    others: invites.slice(1),
    wrongs,
    finals: () => finals,
    handedOver: handedOver.length,
  }
}

/** Checks that each leg leaves a queue once for each time it joins, and that the account is notified of both. */
function wrongsOfQueues(engine: History['engine'], sids: ReadonlySet<string>): string[] {
  return [...sids].flatMap((sid) => {
    const own = engine.store.journalOf(sid).flatMap((event) => {
      if (event.type === 'queued') return [`join ${event.queue}`]
      return event.type === 'unqueued' ? [`leave ${event.queue} ${event.leave_reason}`] : []
    })
    const told = engine.store.batches
      .filter(({ call_sid }) => call_sid === sid)
      .flatMap(({ notifications }) => notifications)
      .map(({ payload }) => payload as Record<string, unknown>)
      .flatMap(({ event, queue, leave_reason }) => {
        if (event === 'join') return [`join ${String(queue)}`]
        return event === 'leave' ? [`leave ${String(queue)} ${String(leave_reason)}`] : []
      })
    const story = own.join(', ')
    const isPaired = own.every((text, index) => text.startsWith(index % 2 === 0 ? 'join' : 'leave'))
    return [
      ...(isPaired && own.length % 2 === 0 ? [] : [`${sid}: ${story}`]),
      ...(engine.queueEventHook === null || told.join(', ') === story
        ? []
        : [`${sid}: ${story}, and the account heard ${told.join(', ')}`]),
    ]
  })
}
