// The moderator of a conference leaves, in every way in which a call can: the others, in every state, are let go once.
import { describe, expect, it } from 'vitest'
import {
  createMeeting,
  statusOf,
  type Attendee,
  type Meeting,
} from '../../../test/support/scripted-engine/meeting.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { parseVerbs } from '../../verbs/index.ts'

const moderates = { endConferenceOnExit: true }
const music = { verb: 'play', url: '/music.wav', loop: 0 }
const rest = { verb: 'pause', length: 600 }
const letGo = 'room-left: the conference has ended: its moderator has left'

const ways: readonly [string, string, (moderator: Attendee, meeting: Meeting) => unknown][] = [
  ['hangs up', '+4420 hung up', ({ invite }) => invite.dialog?.hangUp()],
  ['is lost', 'the platform hung up on +4420', ({ invite }) => invite.dialog?.fail('transport-error')],
  ['loses its media', 'the platform hung up on +4420', ({ session }) => session.emit({ type: 'lost' })],
  [
    'is hung up on by a client',
    'a client',
    ({ call_sid }, { engine }) => engine.calls.hangUp(account.account_sid, call_sid),
  ],
  [
    'is sent to another application',
    'other verbs took over',
    (moderator) => moderator.command({ call_hook: '/next' }),
  ],
  [
    'is kicked',
    'a client removed it',
    (moderator) => moderator.command({ conferenceParticipantAction: { action: 'kick' } }),
  ],
]

interface Crowd extends Meeting {
  readonly moderator: Attendee
  readonly others: Readonly<Record<string, Attendee>>
}

/** Returns a conference with one member in each possible state. */
async function crowd(grace = {}): Promise<Crowd> {
  const meeting = createMeeting(parseVerbs, [rest])
  const { engine, enter } = meeting
  engine.hooks.on('/hold', [music])
  engine.hooks.on('/enter', [music])
  engine.hooks.on('/next', [rest])
  const late = heldAnswer()
  engine.hooks.answers.set('/late', late.answer)
  const early = await enter({ startConferenceOnEnter: false, waitHook: '/hold', ...statusOf })
  const moderator = await enter({ ...moderates, ...grace })
  const others = {
    'one that has waited for the start': early,
    'one that talks': await enter(),
    'one that is muted': await enter({ joinMuted: true }),
    'one that is held': await enter(),
    'one that hears its enterHook': await enter({ enterHook: '/enter' }),
    'one whose enterHook is being asked': await enter({ enterHook: '/late' }),
    'one that coaches': await enter(),
  }
  await others['one that is held'].command({ conf_hold_status: 'hold', wait_hook: '/hold' })
  await others['one that talks'].command({ conferenceParticipantAction: { action: 'tag', tag: 'agent' } })
  await others['one that coaches'].command({ conferenceParticipantAction: { action: 'coach', tag: 'agent' } })
  return { ...meeting, moderator, others }
}

describe('a moderator that', () => {
  it.each(ways)('%s lets the others go, whatever state they are in', async (_what, because, leaves) => {
    const meeting = await crowd()
    const { engine, moderator, others } = meeting
    void leaves(moderator, meeting)
    await calm(12)
    expect(moderator.story.at(-1)).toContain(because)
    for (const [who, member] of Object.entries(others)) {
      expect([member.story.at(-1), member.isInRoom], who).toEqual([letGo, false])
      expect(
        member.story.filter((fact) => fact.startsWith('room-left')),
        who,
      ).toHaveLength(1)
      expect(member.session.wiring.hears, who).toEqual([])
      expect(member.invite.dialog?.isOver, who).toBe(false)
    }
    expect(engine.calls.conferences(account.account_sid)).toEqual([])
    expect(meeting.events().slice(-2)).toEqual(['leave 0', 'end 0'])
    for (const { invite } of [moderator, ...Object.values(others)]) invite.dialog?.hangUp()
    await calm(12)
    expect([engine.calls.liveCount, engine.media.openSessions, engine.lent.size]).toEqual([0, 0, 0])
    expect(engine.store.records).toHaveLength(8)
    expect(engine.clock.pending).toBe(0)
  })

  it.each(ways)(
    '%s within its grace leaves the others where they are, and lets them go after it',
    async (...row) => {
      const meeting = await crowd({ endConferenceDuration: 5 })
      void row[2](meeting.moderator, meeting)
      await calm(12)
      const inRoom = () => Object.values(meeting.others).filter(({ isInRoom }) => isInRoom).length
      expect(inRoom()).toBe(7)
      await meeting.pass(4999)
      expect(inRoom()).toBe(7)
      await meeting.pass(1)
      expect(inRoom()).toBe(0)
      expect(Object.values(meeting.others).map(({ story }) => story.at(-1))).toEqual(Array(7).fill(letGo))
    },
  )
})

describe('of two moderators', () => {
  it('the first that leaves ends nothing, the second does', async () => {
    const { enter } = createMeeting(parseVerbs, [rest])
    const [a, b, guest] = [await enter(moderates), await enter(moderates), await enter()]
    await a.hangUp()
    expect([b.isInRoom, guest.isInRoom]).toEqual([true, true])
    await b.hangUp()
    expect(guest.story.at(-1)).toBe(letGo)
  })

  it('that leave in one turn end it once', async () => {
    const { enter, engine, events } = createMeeting(parseVerbs, [rest])
    const [a, b] = [await enter({ ...moderates, ...statusOf }), await enter(moderates)]
    const guest = await enter()
    a.invite.dialog?.hangUp()
    b.invite.dialog?.hangUp()
    await calm(12)
    expect(guest.story.filter((fact) => fact === letGo)).toHaveLength(1)
    expect(events().filter((event) => event.startsWith('end'))).toEqual(['end 0'])
    expect(engine.calls.conferences(account.account_sid)).toEqual([])
  })

  it('the one that comes in the very turn in which the other leaves begins another conference', async () => {
    const { enter, engine } = createMeeting(parseVerbs, [rest])
    const a = await enter(moderates)
    const guest = await enter()
    a.invite.dialog?.hangUp()
    const b = await enter(moderates)
    expect([guest.story.at(-1), b.isInRoom]).toEqual([letGo, true])
    expect(engine.calls.conferences(account.account_sid)).toMatchObject([{ participants: [{}] }])
    expect(b.session.wiring.speaksIn?.room).not.toBe(
      guest.session.wirings.find(({ speaksIn }) => speaksIn)?.speaksIn?.room,
    )
  })

  it('the one that comes back within the grace of the other keeps all in, and its own leaving ends it', async () => {
    const { enter, pass } = createMeeting(parseVerbs, [rest])
    const a = await enter({ ...moderates, endConferenceDuration: 5 })
    const guest = await enter()
    await a.hangUp()
    await pass(4999)
    const b = await enter(moderates)
    await pass(60_000)
    expect(guest.isInRoom).toBe(true)
    await b.hangUp()
    expect(guest.story.at(-1)).toBe(letGo)
  })
})

describe('a moderator that waits for the start', () => {
  it('and hangs up ends nothing: the others wait on, and the conference starts without it', async () => {
    const { enter } = createMeeting(parseVerbs, [rest])
    const waits = { startConferenceOnEnter: false }
    const moderator = await enter({ ...moderates, ...waits })
    const guest = await enter(waits)
    await moderator.hangUp()
    expect([moderator.story, guest.story]).toEqual([
      ['room-waiting', expect.stringContaining('room-left: ')],
      ['room-waiting'],
    ])
    await enter()
    expect(guest.story).toEqual(['room-waiting', 'room-joined 1'])
  })
})

describe('a platform that stops', () => {
  it('ends the conference and all its calls, moderators first or not, with one record each', async () => {
    const { engine, moderator, others } = await crowd({ endConferenceDuration: 600 })
    const stopped = engine.calls.hangUpAll('the platform is stopping')
    await calm(12)
    await stopped
    expect([engine.calls.liveCount, engine.media.openSessions, engine.clock.pending]).toEqual([0, 0, 0])
    expect(engine.store.records).toHaveLength(8)
    for (const { story } of [moderator, ...Object.values(others)])
      expect(story.filter((fact) => fact.startsWith('room-left'))).toHaveLength(1)
  })
})
