// Calls in a conference: who hears whom, the audio meanwhile, the requests to the application, and the end.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { createMeeting, statusOf, type Attendee } from '../../../test/support/scripted-engine/meeting.ts'
import { account, client } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { parseVerbs } from '../../verbs/index.ts'

const after = { verb: 'play', url: 'http://app.test/after.wav' }
const music = { verb: 'play', url: 'http://app.test/music.wav' }
const waits = { startConferenceOnEnter: false }
const moderates = { endConferenceOnExit: true }

const meeting = (next: readonly object[] = []) => createMeeting(parseVerbs, next)
const talks = { hears: true, isHeard: true }
const silent = { hears: false, isHeard: false }
const muted = { hears: true, isHeard: false }

async function codeOf(sent: Promise<unknown>): Promise<string> {
  return await sent.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  )
}

describe('conference', () => {
  it('answers, and puts all who name it into one room', async () => {
    const { enter } = meeting()
    const [a, b] = [await enter(), await enter()]
    expect([a.place, b.place]).toEqual([talks, talks])
    expect(a.session.wiring.speaksIn?.room).toBe(b.session.wiring.speaksIn?.room)
    expect([a.story, b.story]).toEqual([['room-joined 1'], ['room-joined 2']])
  })

  it('is the room of an account: another one with the same name is another room', async () => {
    const { engine, enter } = meeting()
    const a = await enter()
    const other = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    engine.account = other
    if (engine.application !== undefined)
      engine.application = { ...engine.application, account_sid: other.account_sid }
    const b = await enter()
    expect(b.place).toEqual(talks)
    expect(a.session.wiring.speaksIn?.room).not.toBe(b.session.wiring.speaksIn?.room)
    expect(b.story).toEqual(['room-joined 1'])
    expect(engine.calls.conferences(account.account_sid)).toHaveLength(1)
    expect(engine.calls.conferences(account.account_sid)[0]?.participants).toHaveLength(1)
    expect(engine.calls.conferences(other.account_sid)[0]?.participants).toMatchObject([
      { call_sid: b.call_sid },
    ])
    expect(await codeOf(b.command({ conf_mute_status: 'mute' }))).toBe('done')
    expect(a.place).toEqual(talks)
  })

  it.each(['room', 'conference'])('is served by the name %s too, in either notation', async (verb) => {
    const { engine, enter } = meeting()
    const a = await enter()
    engine.hooks.on('/call', [{ [verb]: { name: 'team' } }])
    engine.ring()
    await calm()
    expect(a.story).toEqual(['room-joined 1'])
    expect(engine.calls.conferences(account.account_sid)[0]?.participants).toHaveLength(2)
  })

  it('is gone with the last one, and a room of the name begins afresh', async () => {
    const { engine, enter } = meeting()
    const a = await enter({ maxParticipants: 2 })
    const room = a.session.wiring.speaksIn?.room
    await a.hangUp()
    expect(a.story.at(-1)).toBe('room-left: +4420 hung up')
    expect(engine.calls.conferences(account.account_sid)).toEqual([])
    const b = await enter()
    expect(b.session.wiring.speaksIn?.room).not.toBe(room)
    await enter()
    expect((await enter()).story).toEqual(['room-joined 3'])
  })

  it('sends its action hook also of a call that hangs up there, and reads no answer then', async () => {
    const { engine, enter } = meeting([after])
    engine.hooks.on('/left', [{ verb: 'say', text: 'Goodbye.' }])
    const [a, b] = [await enter({ actionHook: '/left' }), await enter()]
    await a.hangUp()
    expect(engine.hooks.payloadsOf('/left')).toMatchObject([
      { call_sid: a.call_sid, call_status: 'completed' },
    ])
    expect([a.session.played, b.place]).toEqual([[], talks])
  })

  it('refuses one call too many, whose next verb runs', async () => {
    const { enter } = meeting([after])
    await enter({ maxParticipants: 2 })
    await enter()
    const c = await enter({ actionHook: '/left' })
    expect(c.session.played).toEqual(['/clips/1000'])
    expect(c.journal.find(({ type }) => type === 'problem')).toMatchObject({ code: 'conference_full' })
    expect(c.engine.hooks.payloadsOf('/left')).toEqual([])
  })
})

describe('a user that dials conference-<name>', () => {
  const to = 'conference-team@example.com'

  it('is in the conference of its account, begins it, and is hung up when that is over', async () => {
    const { enter } = meeting()
    const a = await enter(waits)
    const b = await enter({}, { to })
    expect([a.place, b.place]).toEqual([talks, talks])
    const decision = { type: 'decision', rule: 'user-dialled-conference', outcome: 'team' }
    expect(b.journal).toContainEqual(expect.objectContaining(decision))
    await b.command({ conferenceParticipantAction: { action: 'kick' } })
    expect(b.invite.dialog?.isOver).toBe(true)
    expect(a.place).toEqual(talks)
  })

  it('is refused where its client may dial no applications', async () => {
    const { engine } = meeting()
    engine.client = { ...client, allow_direct_app_calling: false }
    const invite = engine.ring({ to })
    await calm()
    expect(invite.final?.status).toBe(480)
    expect(engine.calls.conferences(account.account_sid)).toEqual([])
  })
})

describe('record', () => {
  const factsOf = (attendee: Attendee) =>
    attendee.journal.flatMap(({ type }) => (type.startsWith('recording') ? [type] : []))

  it('records the first one who has it, while it is in the room, and then the next one', async () => {
    const { recorder, enter } = meeting([{ verb: 'pause', length: 60 }])
    const a = await enter()
    const b = await enter({ record: { path: '/weekly/team.wav' } })
    const c = await enter({ record: { path: 'weekly/' } })
    const orders = () =>
      recorder.begun.map(({ order: { call_sid, prefix, format } }) => ({ call_sid, prefix, format }))
    expect(orders()).toEqual([{ call_sid: b.call_sid, prefix: 'weekly/team-', format: 'wav' }])
    expect(b.session.wiring.taps).toMatchObject([{ of: 'recording' }])
    expect([factsOf(a), factsOf(b), factsOf(c)]).toEqual([[], ['recording-started'], []])
    await b.command({ conferenceParticipantAction: { action: 'kick' } })
    expect(orders().slice(1)).toEqual([{ call_sid: c.call_sid, prefix: 'weekly/', format: 'mp3' }])
    expect(factsOf(b)).toEqual(['recording-started', 'recording-stopped'])
    expect(b.session.wiring.taps).toBeUndefined()
    await c.hangUp()
    expect(factsOf(c)).toEqual(['recording-started', 'recording-stopped', 'recording-ended'])
    expect(recorder.begun).toHaveLength(2)
  })

  it('begins when the conference does, and leaves a call that is recorded anyway as it is', async () => {
    const { recorder, enter } = meeting([after])
    const record = { action: 'startCallRecording', type: 'cloud' }
    const a = await enter({ ...waits, record: {} })
    const b = await enter({ ...waits })
    expect(recorder.begun).toEqual([])
    await b.command({ record })
    const c = await enter()
    expect(recorder.begun.map(({ order }) => order.call_sid)).toEqual([b.call_sid, a.call_sid])
    await a.command({ record })
    await a.hangUp()
    await c.hangUp()
    expect(recorder.begun).toHaveLength(2)
  })

  it('goes on after the room, where the call was recorded before it', async () => {
    const { recorder, enter } = meeting([{ verb: 'pause', length: 60 }])
    const a = await enter({ ...waits, record: { path: 'x' } })
    await a.command({ record: { action: 'startCallRecording', type: 'cloud' } })
    await enter()
    await a.command({ conferenceParticipantAction: { action: 'kick' } })
    expect(factsOf(a)).toEqual(['recording-started'])
    expect(recorder.begun.map(({ order }) => order.prefix)).toEqual([undefined])
    expect(a.journal).toContainEqual(
      expect.objectContaining({
        sentence: 'the call is being recorded already: its storage location does not change',
      }),
    )
  })

  it.each(['../x', '/a//b', 'a/.hidden', '2026/11/22', '2026/11/22/x', 'a b', ''])(
    'refuses the path %j',
    async (path) => {
      const { engine } = meeting()
      engine.hooks.on('/call', [{ verb: 'conference', name: 'team', record: { path } }])
      const invite = engine.ring()
      await calm()
      expect(invite.final?.status).toBe(480)
    },
  )
})

describe('one who does not start it', () => {
  it('waits, hears what waitHook answers again and again, and joins when another one starts it', async () => {
    const { engine, enter, pass, events } = meeting()
    engine.hooks.on('/wait', [music])
    const a = await enter({ ...waits, waitHook: '/wait', ...statusOf })
    expect([a.place, a.story, events()]).toEqual([silent, ['room-waiting'], []])
    expect(a.session.played).toHaveLength(1)
    await pass(1000)
    await pass(1000)
    expect(a.session.played).toHaveLength(3)
    expect(engine.hooks.payloadsOf('/wait')[0]).toMatchObject({
      call_sid: a.call_sid,
      call_status: 'in-progress',
      conference_sid: `conf:${account.account_sid}:team`,
      friendly_name: 'team',
    })
    await enter()
    expect([a.place, a.story]).toEqual([talks, ['room-waiting', 'room-joined 1']])
    expect(events()).toEqual(['start 0', 'join 1', 'join 2'])
    const played = a.session.played.length
    await pass(60_000)
    expect(a.session.played).toHaveLength(played)
  })

  it.each([
    ['has nothing to say', []],
    ['answers other verbs', [{ verb: 'gather' }]],
  ])('waits in silence when its waitHook %s', async (_, answer) => {
    const { engine, enter, pass } = meeting()
    engine.hooks.on('/wait', answer)
    const a = await enter({ ...waits, waitHook: '/wait' })
    await pass(60_000)
    expect(engine.hooks.payloadsOf('/wait')).toHaveLength(1)
    await enter()
    expect(a.place).toEqual(talks)
  })

  it('that hangs up while it waits has never been in', async () => {
    const { engine, enter, events } = meeting()
    const a = await enter({ ...waits, ...statusOf })
    await a.hangUp()
    expect(a.story).toEqual(['room-waiting', 'room-left: +4420 hung up'])
    expect([events(), engine.calls.conferences(account.account_sid)]).toEqual([[], []])
  })

  it('joins at once where the conference goes on', async () => {
    const { enter } = meeting()
    await enter()
    expect((await enter(waits)).place).toEqual(talks)
  })
})

describe('enterHook', () => {
  it('is asked once, when the call is in; it alone hears the verbs', async () => {
    const { engine, enter, pass } = meeting()
    engine.hooks.on('/enter', [music])
    const a = await enter({ ...waits, enterHook: '/enter' })
    expect(engine.hooks.payloadsOf('/enter')).toEqual([])
    const b = await enter()
    expect([a.place, a.session.played, b.session.played]).toEqual([talks, ['/clips/1000'], []])
    await pass(60_000)
    expect(engine.hooks.payloadsOf('/enter')).toHaveLength(1)
  })

  it('that answers too late is not heard', async () => {
    const { engine, enter } = meeting([after])
    const late = heldAnswer()
    engine.hooks.answers.set('/enter', late.answer)
    const a = await enter({ enterHook: '/enter' })
    await a.command({ conferenceParticipantAction: { action: 'kick' } })
    late.release([music])
    await calm()
    expect(a.session.played).toEqual(['/clips/1000'])
  })
})

describe('the end of a conference', () => {
  it('comes when its moderator leaves: the others go on with their next verb', async () => {
    const { engine, enter, events, pass } = meeting([after])
    const m = await enter({ ...moderates, ...statusOf })
    const a = await enter({ actionHook: '/left' })
    await m.hangUp()
    expect(a.place).toEqual(silent)
    expect(a.story.at(-1)).toBe('room-left: the conference has ended: its moderator has left')
    expect(engine.hooks.payloadsOf('/left')).toMatchObject([{ call_sid: a.call_sid }])
    expect(Object.keys(engine.hooks.payloadsOf('/left')[0] ?? {})).not.toContain('event')
    expect(a.session.played).toEqual(['/clips/1000'])
    expect(events()).toEqual(['start 0', 'join 1', 'join 2', 'leave 1', 'leave 0', 'end 0'])
    await pass(1000)
    expect(engine.calls.liveCount).toBe(0)
    expect(engine.store.records).toHaveLength(2)
  })

  it('comes after the grace that the moderator has, unless another one comes', async () => {
    const { enter, pass, events } = meeting([after])
    const m = await enter({ ...moderates, endConferenceDuration: 10, ...statusOf })
    const a = await enter()
    await m.hangUp()
    await pass(9999)
    expect(a.place).toEqual(talks)
    const n = await enter({ ...moderates, endConferenceDuration: 1 })
    await pass(60_000)
    expect([a.place, n.place]).toEqual([talks, talks])
    await n.hangUp()
    await pass(999)
    expect(a.place).toEqual(talks)
    await pass(1)
    expect(a.place).toEqual(silent)
    expect(events().slice(-2)).toEqual(['leave 0', 'end 0'])
  })

  it('leaves no timer behind when all go before the grace is over', async () => {
    const { engine, enter, events } = meeting()
    const m = await enter({ ...moderates, endConferenceDuration: 10, ...statusOf })
    const a = await enter()
    await m.hangUp()
    await a.hangUp()
    await calm()
    expect(events().at(-1)).toBe('end 0')
    expect(engine.clock.pending).toBe(0)
  })
})

describe('a conference of a hundred', () => {
  it('of which 20 come and go in each second changes nothing in media for those that stay', async () => {
    const { engine, enter } = meeting()
    const stay: Attendee[] = []
    while (stay.length < 80) stay.push(await enter())
    let guests: Attendee[] = []
    const wirings = stay.map(({ session }) => session.wirings.length)
    for (let second = 0; second < 5; second += 1) {
      for (const guest of guests) await guest.hangUp()
      guests = []
      for (let count = 0; count < 20; count += 1) guests.push(await enter({ beep: true, ...statusOf }))
      engine.clock.advance(1000)
      expect(engine.calls.conferences(account.account_sid)[0]?.participants).toHaveLength(100)
    }
    expect(stay.map(({ session }) => session.wirings.length)).toEqual(wirings)
    for (const member of [...stay, ...guests]) await member.hangUp()
    expect(engine.store.records).toHaveLength(180)
    expect([engine.media.openSessions, engine.calls.liveCount, engine.clock.pending]).toEqual([0, 0, 0])
  })
})

describe('statusHook', () => {
  it('gets what happened, in order, with the facts of the call; the first one says where and which', async () => {
    const { engine, enter, events } = meeting()
    const a = await enter({ statusHook: '/events', statusEvents: ['start', 'join', 'start-talking'] })
    const b = await enter({ statusHook: '/other', statusEvents: ['leave'] })
    engine.clock.advance(1500)
    b.session.emit({ type: 'talk', isTalking: true })
    b.session.emit({ type: 'talk', isTalking: false })
    await calm()
    await b.hangUp()
    expect(events()).toEqual(['start 0', 'join 1', 'join 2', 'start-talking 2'])
    expect(engine.hooks.payloadsOf('/other')).toEqual([])
    expect(engine.hooks.payloadsOf('/events').at(-1)).toMatchObject({
      event: 'start-talking',
      call_sid: b.call_sid,
      account_sid: account.account_sid,
      call_status: 'in-progress',
      conference_sid: `conf:${account.account_sid}:team`,
      friendly_name: 'team',
      duration: 1.5,
      time: new Date(engine.clock.now()).toISOString(),
      members: 2,
    })
    expect([a, b].map(({ session }) => session.wirings[0]?.speaksIn?.reportsTalk)).toEqual([true, true])
  })

  it('does not make media report who talks when no one wants to know', async () => {
    const { enter } = meeting()
    const a = await enter({ statusHook: '/events', statusEvents: ['start'] })
    expect(a.session.wiring.speaksIn?.reportsTalk).toBe(false)
  })

  it('gets one event after the other, however long it takes', async () => {
    const { engine, enter, events } = meeting()
    const late = heldAnswer()
    engine.hooks.answers.set('/events', late.answer)
    await enter(statusOf)
    await enter()
    expect(events()).toEqual(['start 0'])
    late.release({})
    await calm()
    expect(events()).toEqual(['start 0', 'join 1', 'join 2'])
  })

  it('that fails is a problem once, and the conference goes on', async () => {
    const { engine, enter } = meeting()
    engine.hooks.answers.set('/events', () => Promise.reject(new AppError('hook_timeout', 'too slow')))
    const [a, b] = [await enter(statusOf), await enter()]
    const problems = [a, b].flatMap(({ journal }) => journal.filter(({ type }) => type === 'problem'))
    expect(problems).toMatchObject([{ code: 'hook_timeout' }])
    expect(b.place).toEqual(talks)
  })

  it('is not sent what waits too long or is too much', async () => {
    const { engine, enter, events } = meeting()
    const late = heldAnswer()
    engine.hooks.answers.set('/events', late.answer)
    const a = await enter(statusOf)
    for (let n = 0; n < 300; n += 1) a.session.emit({ type: 'talk', isTalking: n % 2 === 0 })
    engine.clock.advance(61_000)
    late.release({})
    await calm()
    expect(events()).toEqual(['start 0'])
    await enter()
    expect(events()).toEqual(['start 0', 'join 2'])
  })
})

describe('keys in a conference', () => {
  it('are pressed at all others where the one that presses distributes them, ten a second', async () => {
    const { enter, pass } = meeting()
    const [a, b, c] = [await enter({ distributeDtmf: true }), await enter(), await enter()]
    const keys = (...all: Attendee[]): unknown[] => all.map(({ session }) => session.keysSent.join(''))
    a.session.press('12')
    b.session.press('9')
    await calm()
    expect(keys(a, b, c)).toEqual(['', '12', '12'])
    a.session.press('3'.repeat(50))
    await calm(40)
    expect(keys(b)).toEqual([`12${'3'.repeat(8)}`])
    await pass(1000)
    a.session.press('4')
    await a.hangUp()
    await calm()
    expect(keys(c)).toEqual([`12${'3'.repeat(8)}4`])
  })
})

describe('commands', () => {
  it('mute_status mutes and frees one', async () => {
    const { enter } = meeting()
    const [a, b] = [await enter(), await enter({ joinMuted: true })]
    await a.command({ mute_status: 'mute' })
    await b.command({ mute_status: 'unmute' })
    expect([a.place, b.place]).toEqual([muted, talks])
    expect(a.story).toEqual(['room-joined 1', 'room-muted'])
    expect(b.story).toEqual(['room-joined 2', 'room-muted', 'room-unmuted'])
  })

  it('conf_mute_status mutes all but moderators', async () => {
    const { enter } = meeting()
    const [m, a] = [await enter(moderates), await enter()]
    await m.command({ conf_mute_status: 'mute' })
    const b = await enter()
    expect([m.place, a.place, b.place]).toEqual([talks, muted, muted])
    await m.command({ conf_mute_status: 'unmute' })
    expect([m.place, a.place, b.place]).toEqual([talks, talks, talks])
  })

  it('conf_hold_status holds one, which hears its wait_hook meanwhile', async () => {
    const { engine, enter, pass } = meeting()
    engine.hooks.on('/hold', [music])
    const [a, b] = [await enter(), await enter()]
    const wait_hook = { url: 'http://app.test/hold', method: 'POST', username: null, password: null }
    await a.command({ conf_hold_status: 'hold', wait_hook })
    expect([a.place, b.place]).toEqual([silent, talks])
    await pass(1000)
    await pass(1000)
    expect(a.session.played).toHaveLength(3)
    await a.command({ conf_hold_status: 'unhold' })
    await pass(60_000)
    expect([a.place, a.session.played.length]).toEqual([talks, 3])
    expect(a.story).toEqual(['room-joined 1', 'room-held', 'room-resumed'])
  })

  it('conferenceParticipantAction tags and coaches: only those with the tag hear the coach', async () => {
    const { enter } = meeting()
    const [agent, customer, coach] = [
      await enter({ memberTag: 'agent' }),
      await enter(),
      await enter({ speakOnlyTo: 'agent' }),
    ]
    const act = (who: Attendee, action: object): Promise<void> =>
      who.command({ conferenceParticipantAction: action })
    expect(coach.place).toEqual({ ...talks, onlyTo: [agent.session.id] })
    await act(customer, { action: 'tag', tag: 'agent' })
    expect(coach.place.onlyTo).toEqual([agent.session.id, customer.session.id])
    await act(agent, { action: 'untag' })
    expect(coach.place.onlyTo).toEqual([customer.session.id])
    await customer.hangUp()
    expect(coach.place.onlyTo).toEqual([])
    await act(coach, { action: 'uncoach' })
    await act(agent, { action: 'coach', tag: 'none' })
    expect([coach.place, agent.place]).toEqual([talks, { ...talks, onlyTo: [] }])
  })

  it('conferenceParticipantAction mutes, holds and kicks', async () => {
    const { engine, enter } = meeting([after])
    engine.hooks.on('/hold', [music])
    const [a, b] = [await enter(), await enter()]
    const act = (action: string, more: object = {}): Promise<void> =>
      a.command({ conferenceParticipantAction: { action, ...more } })
    await act('mute')
    expect(a.place).toEqual(muted)
    await act('hold', { wait_hook: '/hold' })
    expect([a.place, a.session.played.length]).toEqual([silent, 1])
    await act('unhold')
    expect(a.place).toEqual(muted)
    await act('unmute')
    expect(a.place).toEqual(talks)
    await act('kick')
    expect([a.place, b.place]).toEqual([silent, talks])
    expect(a.story.at(-1)).toBe('room-left: a client removed it')
    expect(a.session.played.at(-1)).toBe('/clips/1000')
  })

  it.each([
    [{ conf_mute_status: 'mute' }, 'call_state'],
    [{ mute_status: 'mute' }, 'call_state'],
    [{ conferenceParticipantAction: { action: 'kick' } }, 'call_state'],
    [{ conferenceParticipantAction: { action: 'tag' } }, 'bad_request'],
    [{ wait_hook: {}, mute_status: 'mute' }, 'bad_request'],
  ])('%j to a call in no conference is refused', async (asked, code) => {
    const { engine, enter } = createMeeting(parseVerbs, [{ verb: 'pause', length: 60 }])
    const a = await enter()
    await a.command({ conferenceParticipantAction: { action: 'kick' } })
    expect(engine.calls.conferences(account.account_sid)).toEqual([])
    expect(await codeOf(a.command(asked))).toBe(code)
  })

  it('another application takes a call out of the conference, whose action hook is sent and not read', async () => {
    const { engine, enter } = meeting()
    engine.hooks.on('/next', [after])
    const [a, b] = [await enter({ actionHook: '/left' }), await enter()]
    const hook = { url: 'http://app.test/next', method: 'POST', username: null, password: null }
    await a.command({ call_hook: hook })
    expect([a.place, b.place, a.session.played]).toEqual([silent, talks, ['/clips/1000']])
    expect(a.story.at(-1)).toBe(
      'room-left: other verbs took over: a client of the REST API sent another application',
    )
    expect(engine.hooks.payloadsOf('/left')).toHaveLength(1)
  })
})

describe('the conferences of an account', () => {
  it('are listed with those who take part', async () => {
    const { engine, enter } = meeting()
    const a = await enter({ ...waits, memberTag: 'x' })
    const [waiting] = engine.calls.conferences(account.account_sid)
    expect(waiting).toMatchObject({ name: 'team', has_started: false })
    const b = await enter({ ...moderates, joinMuted: true, speakOnlyTo: 'x' })
    expect(engine.calls.conferences(account.account_sid)).toEqual([
      {
        name: 'team',
        conference_sid: `conf:${account.account_sid}:team`,
        has_started: true,
        participants: [
          {
            call_sid: a.call_sid,
            from: '+4420',
            to: expect.any(String),
            is_moderator: false,
            is_muted: false,
            is_on_hold: false,
            member_tag: 'x',
          },
          {
            call_sid: b.call_sid,
            from: '+4420',
            to: expect.any(String),
            is_moderator: true,
            is_muted: true,
            is_on_hold: false,
            speak_only_to: 'x',
          },
        ],
      },
    ])
  })
})
