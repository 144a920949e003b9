// One random history of calls that do everything with each other: they dial, hold, transfer, replace, meet in conferences and
// queues, obey commands, lose their media and end, in an order that the seed determines.
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import type { Replaced } from '../../../src/sip/sip.ts'
import { createRandomBelow } from '../random.ts'
import type { History } from './random-session.ts'
import { account, phone } from './scripted-facts.ts'
import type { ScriptedDialog } from './scripted-dialog.ts'
import { createScriptedEngine } from './scripted-engine.ts'
import { heldAnswer } from './scripted-hooks.ts'
import { sipRequest } from './scripted-messages.ts'
import { ScriptedReferral } from './scripted-referral.ts'
import type { ScriptedInvite } from './scripted-sip.ts'
import { calm, settle } from './turns.ts'

const maxCalls = 5
const hookAt = (path: string) =>
  ({ url: `http://app.test${path}`, method: 'POST', username: null, password: null }) as const

export async function playCompany(seed: number, parseVerbs: ParseVerbs): Promise<History> {
  const random = createRandomBelow(seed)
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const late = heldAnswer()
  const user = { verb: 'dial', target: [{ type: 'user', name: 'alice' }], timeout: 2 }
  const kinds: readonly object[] = [
    user,
    { ...user, timeLimit: 1, actionHook: '/next' },
    { verb: 'dial', target: [{ type: 'sip', sipUri: 'sip:bob@192.0.2.9' }], referHook: '/other', timeout: 2 },
    { verb: 'conference', name: 'team', actionHook: '/next', waitHook: '/wait' },
    { verb: 'conference', name: 'team', startConferenceOnEnter: false, waitHook: '/wait' },
    { verb: 'conference', name: 'team', endConferenceOnExit: true },
    { verb: 'enqueue', name: 'support', waitHook: '/wait', actionHook: '/next' },
    { verb: 'dequeue', name: 'support', timeout: 2, actionHook: '/next' },
    { verb: 'pause', length: 1 },
  ]
  const some = (): object => kinds[random(kinds.length)] ?? {}
  engine.hooks.answers.set('/call', () => Promise.resolve([some(), some()]))
  engine.hooks.answers.set('/other', () => Promise.resolve(random(3) === 0 ? [] : [some()]))
  engine.hooks.answers.set('/next', () => Promise.resolve(random(3) === 0 ? [some()] : []))
  engine.hooks.answers.set('/wait', (request) =>
    random(4) === 0 ? late.answer(request) : Promise.resolve([[], [{ verb: 'leave' }]][random(2)]),
  )
  const first = engine.ring()
  const invites: ScriptedInvite[] = [first]
  let finals = 0
  const accept = first.accept.bind(first)
  first.accept = (reply) => {
    finals += 1
    return accept(reply)
  }
  const dialogs = (): ScriptedDialog[] =>
    [...invites, ...engine.sent].flatMap(({ dialog }) =>
      dialog?.isListenedTo === true && !dialog.isOver ? [dialog] : [],
    )
  const one = (): ScriptedDialog | undefined => {
    const all = dialogs()
    return all[random(all.length)]
  }
  const ringing = () => engine.sent.findLast(({ result }) => result === undefined)
  const ring = (options: { readonly replaces?: Replaced; readonly to?: string } = {}): void => {
    if (invites.length < maxCalls) invites.push(engine.ring(options))
  }
  const takePlace = (): void => {
    const [dialog, invite] = [one(), ringing()]
    if (invite !== undefined && random(2) === 0) return ring({ replaces: { kind: 'ringing', invite } })
    if (dialog !== undefined) ring({ replaces: { kind: 'confirmed', dialog } })
  }
  const asked: readonly Readonly<Record<string, unknown>>[] = [
    { call_hook: hookAt('/other') },
    { child_call_hook: hookAt('/other') },
    { call_hook: hookAt('/other'), child_call_hook: hookAt('/other') },
    { call_status: 'completed' },
    { mute_status: 'mute' },
    { conf_hold_status: 'hold' },
    { conf_mute_status: 'mute' },
    { conferenceParticipantAction: { action: 'leave' } },
    { whisper: { verb: 'pause', length: 1 } },
  ]
  const command = (): void => {
    const sids = engine.calls.list(account.account_sid).map(({ call_sid }) => call_sid)
    const sid = sids[random(sids.length)]
    if (sid === undefined) return
    void engine.calls
      .command(account.account_sid, sid, asked[random(asked.length)] ?? {})
      .catch(() => undefined)
  }
  const hold = (): void => {
    const session = engine.media.sessions[random(engine.media.sessions.length + 1)]
    if (session !== undefined) session.isHeld = random(2) === 0
    void one()?.listener.offered('v=0', sipRequest('INVITE'))
  }
  const steps: (() => unknown)[] = [
    ...Array.from(
      { length: 4 },
      () => () => ring(random(8) === 0 ? { to: 'queue-support@example.com' } : {}),
    ),
    ...Array.from({ length: 4 }, () => () => ringing()?.answer()),
    ...Array.from({ length: 3 }, () => command),
    hold,
    takePlace,
    () => one()?.listener.referred?.(new ScriptedReferral({ replaces: one() ?? null })),
    () => one()?.listener.referred?.(new ScriptedReferral()),
    () => one()?.hangUp(),
    () => one()?.fail('transport-error'),
    () => invites[random(invites.length)]?.cancel(),
    () => ringing()?.refuse(486),
    () => late.release([]),
    () => engine.clock.advance(500),
    () => engine.clock.advance(1000),
    () => engine.media.sessions[random(engine.media.sessions.length * 4 + 1)]?.emit({ type: 'lost' }),
  ]
  for (let count = 0; count < 18; count += 1) {
    const turns = random(6)
    if (turns > 3) await settle()
    else for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    await steps[random(steps.length)]?.()
  }
  late.release([])
  void engine.calls.hangUpAll('the end')
  for (const invite of invites) {
    invite.cancel()
    invite.dialog?.hangUp()
  }
  for (const sent of engine.sent) sent.dialog.hangUp()
  await calm(4)
  engine.clock.advance(5000)
  await calm(4)
  const idle = engine.calls.drain().then(() => true)
  const isIdle = await Promise.race([idle, settle().then(() => false)])
  const wrongs = isIdle ? [] : ['something is awaited for ever']
  return { engine, invite: first, others: invites.slice(1), wrongs, finals: () => finals }
}
