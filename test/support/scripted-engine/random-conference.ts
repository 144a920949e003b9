// One random history of calls that enter conferences, wait, are muted, held, tagged, released and hang up, in an order
// that the seed determines, while their hooks answer, fail or are slow.
import { AppError } from '../../../src/lib/errors.ts'
import type { ParseVerbs } from '../../../src/calls/verb/verb.ts'
import { createRandomBelow } from '../random.ts'
import type { History } from './random-session.ts'
import { account } from './scripted-facts.ts'
import { calm, settle } from './turns.ts'
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts'
import { heldAnswer } from './scripted-hooks.ts'
import type { ScriptedInvite } from './scripted-sip.ts'

const file = { verb: 'play', url: 'http://app.test/music.wav' }
const names = ['team', 'team', 'team', 'other']
const answers = [[], [file], [file, { verb: 'pause', length: 1 }], [{ verb: 'gather' }]]
const tags = ['x', 'y', undefined]

/** Plays a history. `met` is the largest number of calls that were in one conference. */
export async function playConference(
  seed: number,
  parseVerbs: ParseVerbs,
): Promise<History & { readonly met: number }> {
  const random = createRandomBelow(seed)
  const engine = createScriptedEngine(parseVerbs)
  const later = heldAnswer()
  for (const path of ['/wait', '/enter', '/events', '/left', '/hold', '/next'])
    engine.hooks.answers.set(path, (request) => {
      const way = random(8)
      if (way === 0) return Promise.reject(new AppError('hook_unreachable', 'the hook is dead'))
      return way === 1 ? later.answer(request) : Promise.resolve(answers[random(answers.length)])
    })
  const is = (): boolean => random(2) === 0
  const conference = (): object => ({
    verb: 'conference',
    name: names[random(names.length)],
    beep: is(),
    startConferenceOnEnter: random(3) > 0,
    endConferenceOnExit: random(4) === 0,
    endConferenceDuration: random(2) * 2,
    joinMuted: random(4) === 0,
    distributeDtmf: is(),
    waitHook: '/wait',
    enterHook: '/enter',
    statusHook: '/events',
    statusEvents: ['start', 'end', 'join', 'leave', 'start-talking'],
    actionHook: '/left',
    ...(random(3) === 0 ? { maxParticipants: 3 } : {}),
    ...(random(3) === 0 ? { memberTag: 'x' } : {}),
    ...(random(5) === 0 ? { speakOnlyTo: 'x' } : {}),
  })
  const invites: ScriptedInvite[] = []
  let finals = 0
  const ring = (): void => {
    if (invites.length > 8) return
    engine.hooks.answers.set('/call', async () => [conference(), { verb: 'pause', length: 1 }])
    const invite = engine.ring()
    if (invites.length === 0) {
      const accept = invite.accept.bind(invite)
      invite.accept = (reply) => {
        finals += 1
        return accept(reply)
      }
    }
    invites.push(invite)
  }
  const hangUp = (): void => {
    const { dialog } = invites[random(invites.length)] ?? {}
    if (dialog?.isListenedTo === true && !dialog.isOver) dialog.hangUp()
  }
  const command = (): void => {
    const live = engine.calls.list(account.account_sid)
    const sid = live[random(live.length)]?.call_sid
    const tag = tags[random(tags.length)] ?? 'z'
    const actions = ['tag', 'untag', 'coach', 'uncoach', 'mute', 'unmute', 'hold', 'unhold', 'kick']
    const action = actions[random(actions.length)]
    const asked = [
      { conferenceParticipantAction: { action, tag, wait_hook: '/hold' } },
      { conf_mute_status: is() ? 'mute' : 'unmute' },
      { mute_status: is() ? 'mute' : 'unmute' },
      { call_hook: { url: 'http://app.test/next', method: 'POST', username: null, password: null } },
    ][random(10) === 0 ? 3 : random(3)]
    if (sid !== undefined)
      void engine.calls.command(account.account_sid, sid, { ...asked }).catch(() => undefined)
  }
  const session = () => engine.media.sessions[random(engine.media.sessions.length)]
  let met = 0
  const wrongs: string[] = []
  const look = async (): Promise<void> => {
    await calm()
    wrongs.push(...wrongsNow(engine))
    for (const { participants } of engine.calls.conferences(account.account_sid))
      met = Math.max(met, participants.length)
  }
  const steps: (() => unknown)[] = [
    ...Array.from({ length: 5 }, () => ring),
    ...Array.from({ length: 4 }, () => command),
    hangUp,
    hangUp,
    () => engine.clock.advance(1000),
    () => engine.clock.advance(5000),
    () => later.release([file]),
    () => session()?.press('1'),
    () => session()?.emit({ type: 'talk', isTalking: is() }),
    () => random(4) === 0 && session()?.emit({ type: 'lost' }),
    look,
  ]
  ring()
  for (let count = 0; count < 20; count += 1) {
    const turns = random(6)
    if (turns > 3) await calm(3)
    else for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
    await steps[random(steps.length)]?.()
  }
  await look()
  later.release([])
  for (const { dialog } of invites) dialog?.hangUp()
  void engine.calls.hangUpAll('the end')
  await calm()
  engine.clock.advance(5000)
  await calm()
  const idle = engine.calls.drain().then(() => true)
  if (!(await Promise.race([idle, settle().then(() => false)]))) wrongs.push('something is awaited for ever')
  if (engine.calls.conferences(account.account_sid).length > 0) wrongs.push('a conference goes on')
  wrongs.push(...wrongsOfStays(engine))
  const [invite, ...others] = invites
  if (invite === undefined) throw new Error('no call has come')
  return { engine, invite, others, wrongs, finals: () => finals, met }
}

/** Checks that the calls in a conference that has begun, and no others, are in its room. */
function wrongsNow(engine: ScriptedEngine): string[] {
  const seats = engine.media.sessions.filter(
    ({ isClosed, wiring }) => !isClosed && wiring.speaksIn !== undefined,
  )
  const running = engine.calls.conferences(account.account_sid).filter(({ has_started }) => has_started)
  const inRooms = running.reduce((sum, { participants }) => sum + participants.length, 0)
  return seats.length === inRooms ? [] : [`${seats.length} sit in rooms, ${inRooms} take part`]
}

/** Checks that each call left a conference, or the wait for one, as often as it entered. */
function wrongsOfStays(engine: ScriptedEngine): string[] {
  const sids = [...new Set(engine.store.batches.map(({ call_sid }) => call_sid))]
  return sids.flatMap((sid) => {
    const story = engine.store.journalOf(sid).flatMap(({ type }) => (type.startsWith('room-') ? [type] : []))
    const stays = story.filter((type) => type === 'room-waiting' || type === 'room-joined').length
    const begun = story.filter(
      (type, index) => type === 'room-joined' && story[index - 1] === 'room-waiting',
    ).length
    const left = story.filter((type) => type === 'room-left').length
    return stays - begun === left ? [] : [`${sid}: ${story.join(', ')}`]
  })
}
