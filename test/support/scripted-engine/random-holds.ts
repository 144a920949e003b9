// One random history of two parties that talk: either holds and resumes, is whispered to, is transferred or hangs up,
// in an order that the seed determines, while the hook for the audio on hold answers, fails or is slow.
import { AppError } from '../../../src/lib/errors.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createRandomBelow } from '../random.ts'
import type { History } from './random-session.ts'
import { account, phone } from './scripted-facts.ts'
import { calm, settle } from './turns.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { heldAnswer } from './scripted-hooks.ts'
import { ScriptedReferral } from './scripted-referral.ts'
import { sipRequest } from './scripted-messages.ts'
import type { ScriptedDialog } from './scripted-dialog.ts'

const file = { verb: 'play', url: '/on-hold.wav' }
const holds = [
  [],
  [file],
  [
    { verb: 'say', text: 'one moment' },
    { verb: 'pause', length: 1 },
  ],
  [{ verb: 'gather' }],
]

/** Plays a history. `hasSounded` is whether audio was heard on hold. */
export async function playHolds(
  seed: number,
  parseVerbs: ParseVerbs,
): Promise<History & { readonly hasSounded: boolean }> {
  const random = createRandomBelow(seed)
  const engine = createScriptedEngine(parseVerbs)
  engine.phones.set('alice@example.com', [phone])
  const hasMusic = random(2) === 0
  const hasHook = random(3) > 0
  const dial = {
    verb: 'dial',
    target: [{ type: 'user', name: 'alice' }],
    ...(hasHook ? { onHoldHook: '/hold' } : {}),
  }
  const music = hasMusic ? [{ verb: 'config', onHoldMusic: '/music.wav' }] : []
  engine.hooks.on('/call', [...music, dial, { verb: 'pause', length: 1 }])
  const later = heldAnswer()
  engine.hooks.answers.set('/hold', (request) => {
    const way = random(6)
    if (way === 0) return Promise.reject(new AppError('hook_unreachable', 'the hook is dead'))
    return way === 1 ? later.answer(request) : Promise.resolve(holds[random(holds.length)])
  })
  const invite = engine.ring()
  let finals = 0
  const accept = invite.accept.bind(invite)
  invite.accept = (reply) => {
    finals++
    return accept(reply)
  }
  await calm()
  engine.sent[0]?.answer()
  await calm()

  const dialogs = (): (ScriptedDialog | undefined)[] => [invite.dialog, engine.sent[0]?.dialog]
  const up = (index: number): ScriptedDialog | undefined => {
    const dialog = dialogs()[index]
    return dialog?.isListenedTo === true && !dialog.isOver ? dialog : undefined
  }
  const offer = (index: number): void => {
    const session = engine.media.sessions[index]
    if (session !== undefined) session.isHeld = random(3) > 0
    void up(index)?.listener.offered('v=0', sipRequest('INVITE'))
  }
  const whisper = (): void => {
    const live = engine.calls.list(account.account_sid)
    const sid = live[random(live.length)]?.call_sid
    if (sid === undefined) return
    const asked = { whisper: { verb: 'pause', length: 1 } }
    void engine.calls.command(account.account_sid, sid, asked).catch(() => undefined)
  }
  const wrongs: string[] = []
  const look = async (): Promise<void> => {
    await calm()
    wrongs.push(...wrongsNow(engine, hasHook || hasMusic))
  }
  const steps: (() => unknown)[] = [
    ...Array.from({ length: 8 }, () => () => offer(random(2))),
    whisper,
    whisper,
    () => engine.clock.advance(500),
    () => engine.clock.advance(3000),
    () => later.release([file]),
    () => random(3) === 0 && up(random(2))?.hangUp(),
    () => random(3) === 0 && up(random(2))?.listener.referred?.(new ScriptedReferral()),
    look,
  ]
  for (let count = 0; count < 14; count++) {
    const turns = random(6)
    if (turns > 3) await settle()
    else for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    await steps[random(steps.length)]?.()
  }
  await look()
  later.release([])
  for (const dialog of dialogs()) dialog?.hangUp()
  void engine.calls.hangUpAll('the end')
  for (const sent of engine.sent) sent.dialog.hangUp()
  await calm()
  engine.clock.advance(5000)
  await calm()
  const idle = engine.calls.drain().then(() => true)
  if (!(await Promise.race([idle, settle().then(() => false)]))) wrongs.push('something is awaited for ever')
  const hasSounded = engine.store.batches.some(({ events }) =>
    events.some(({ type }) => type === 'hold-sound'),
  )
  return { engine, invite, others: [], wrongs, finals: () => finals, hasSounded }
}

/** Checks that the two hear only each other while they talk and neither holds; without other audio, always. */
function wrongsNow(engine: ScriptedEngine, maySound: boolean): string[] {
  const [a, b, ...others] = engine.media.sessions
  if (a === undefined || b === undefined || others.length > 0 || a.isClosed || b.isClosed) return []
  if (a.isHeld || b.isHeld) return maySound ? [] : wrongsOfHearing([a, b])
  return wrongsOfHearing([a, b])
}

function wrongsOfHearing(sides: readonly ScriptedEngine['media']['sessions'][number][]): string[] {
  const names = sides.map(({ wiring }) => wiring.hears.map(({ id }) => id).join(' and '))
  return names.flatMap((name, index) =>
    name === 'far' ? [] : [`side ${index} hears "${name}" while the two talk`],
  )
}
