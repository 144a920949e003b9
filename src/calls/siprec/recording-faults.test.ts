// Faults of recording servers and media during a recording: it ends or moves to another server, and the call continues.
import { describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { offer, sipRequest, sipResponse } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedDialog } from '../../../test/support/scripted-engine/scripted-dialog.ts'
import type { ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { parseVerbs } from '../../verbs/index.ts'

const both = `${offer}m=audio 26002 RTP/AVP 0\r\n`
const [first, second] = ['sip:recorder@192.0.2.20', 'sip:recorder@192.0.2.21']
const config = (record: object) => ({ verb: 'config', record })
const begin = (siprecServerURL: unknown = first, more: object = {}) =>
  config({ action: 'startCallRecording', siprecServerURL, ...more })
const stop = config({ action: 'stopCallRecording' })

class Recorded {
  readonly engine: ScriptedEngine
  readonly call_sid: string

  constructor(engine: ScriptedEngine) {
    this.engine = engine
    this.call_sid = engine.store.batches[0]?.call_sid ?? ''
  }

  invite(n = 0): ScriptedOutgoing {
    return this.engine.sent[n]!
  }

  get server(): ScriptedDialog {
    return this.invite().dialog
  }

  get #journal() {
    return this.engine.store.journalOf(this.call_sid)
  }

  /** The events of the recording in the journal, and its problems. */
  get story(): string[] {
    return this.#journal.flatMap((event) => {
      if (event.type === 'problem') return [`problem ${event.code}`]
      return event.type.startsWith('siprec-') ? [event.type] : []
    })
  }

  get problems(): string[] {
    return this.#journal.flatMap((event) => (event.type === 'problem' ? [event.sentence] : []))
  }

  /** The two streams to the server. */
  get streams() {
    return this.engine.media.sessions.slice(1)
  }

  get cloudStory(): string[] {
    return this.#journal.flatMap(({ type }) => (type.startsWith('recording-') ? [type] : []))
  }

  async record(record: object): Promise<void> {
    await this.engine.calls.command(account.account_sid, this.call_sid, { record })
    await calm()
  }
}

async function called(
  verbs: readonly object[] = [begin()],
  prepare?: (engine: ScriptedEngine) => void,
): Promise<Recorded> {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }, ...verbs, { verb: 'pause', length: 3000 }])
  prepare?.(engine)
  engine.ring()
  await calm()
  return new Recorded(engine)
}

async function recorded(verbs?: readonly object[]): Promise<Recorded> {
  const call = await called(verbs)
  call.invite().answer(both)
  await calm()
  expect(call.story).toEqual(['siprec-started'])
  return call
}

/** Resolves in the same turn in which the recording has taken the answer of its server. */
async function untilListenedTo(dialog: ScriptedDialog): Promise<void> {
  while (!dialog.isListenedTo) await Promise.resolve()
}

describe('a recording server that is lost before the recording has begun', () => {
  it.each([
    ['hangs up as soon as it has answered', (dialog: ScriptedDialog) => dialog.hangUp()],
    ['is gone as soon as it has answered', (dialog: ScriptedDialog) => dialog.fail('transport-error')],
  ])('%s: the next one is tried, and the journal has one recording', async (_what, lose) => {
    const call = await called([begin([first, second])])
    call.invite().answer(both)
    await untilListenedTo(call.server)
    lose(call.server)
    await calm()
    expect(call.story).toEqual([])
    call.invite(1).answer(both)
    await calm()
    expect(call.story).toEqual(['siprec-started'])
    expect(call.streams.map(({ isClosed }) => isClosed)).toEqual([true, true, false, false])
  })

  it('is the last one: the call can be recorded by another start', async () => {
    const call = await called()
    call.invite().answer(both)
    await untilListenedTo(call.server)
    call.server.hangUp()
    await calm()
    expect(call.problems).toEqual([`the call is not recorded: ${first}: the recording server has hung up`])
    await call.record({ action: 'startCallRecording', siprecServerURL: second })
    call.invite(1).answer(both)
    await calm()
    expect(call.story).toEqual(['problem siprec_failed', 'siprec-started'])
  })

  it('hangs up while media connects its streams: nothing of the call is tapped for it', async () => {
    const call = await called()
    const held = Promise.withResolvers<void>()
    call.engine.media.wiringHeld = held.promise
    call.invite().answer(both)
    await calm()
    call.server.hangUp()
    await calm()
    held.resolve()
    await calm()
    expect(call.story).toEqual(['problem siprec_failed'])
    expect(call.engine.media.sessions[0]?.wiring.taps).toBeUndefined()
  })

  it('rings while the thread of the sound dies: its INVITE is cancelled, and an answer that crosses gets a BYE', async () => {
    const call = await called()
    call.invite().isSilent = true
    call.streams[0]?.emit({ type: 'lost' })
    await calm()
    expect(call.invite().cancelled).toEqual([])
    expect(call.story).toEqual(['problem siprec_failed'])
    call.invite().answer(both)
    await calm()
    expect(call.server.sentBye).toEqual([])
    expect(call.engine.media.sessions.map(({ isClosed }) => isClosed)).toEqual([false, true, true])
  })

  it('answers after it was stopped: it gets a BYE, and nothing is recorded', async () => {
    const call = await called()
    call.invite().isSilent = true
    await call.record({ action: 'stopCallRecording' })
    call.invite().answer(both)
    await calm()
    expect([call.server.sentBye, call.story]).toEqual([[], []])
    expect(call.streams.every(({ isClosed }) => isClosed)).toBe(true)
  })
})

it('without a type a pause and a stop are for the recording server and for the recording of the platform', async () => {
  const call = await recorded([begin(), config({ action: 'startCallRecording', type: 'cloud' })])
  call.server.answers = () => sipResponse(200, { body: both })
  for (const action of ['pauseCallRecording', 'stopCallRecording']) await call.record({ action })
  expect(call.story).toEqual(['siprec-started', 'siprec-paused', 'siprec-ended'])
  expect(call.cloudStory).toEqual(['recording-started', 'recording-paused', 'recording-stopped'])
})

describe('a recording server that does something by itself', () => {
  it('hangs up: the recording is over with a problem, and another start records again', async () => {
    const call = await recorded()
    call.server.hangUp()
    await calm()
    expect(call.story).toEqual(['siprec-started', 'siprec-ended', 'problem siprec_failed'])
    expect(call.problems).toEqual(['the recording is over: the recording server has hung up'])
    expect(call.engine.media.sessions[0]?.wiring.taps).toBeUndefined()
    await call.record({ action: 'startCallRecording', siprecServerURL: second })
    expect(call.invite(1).options.uri).toBe(second)
  })

  it('offers itself: the answer has both streams, sent only, in a dialog whose Contact says who records', async () => {
    const call = await recorded()
    expect(call.invite().options.contactFeature).toBe('+sip.src')
    const reply = await call.server.listener.offered(both, sipRequest('INVITE'))
    expect(reply.status).toBe(200)
    expect(String(reply.body?.content).match(/a=sendonly/g)).toHaveLength(2)
    expect(call.streams.map(({ offers }) => offers.length)).toEqual([1, 1])
  })

  it('asks for an offer while it is paused: it gets one that sends nothing, and its answer in the ACK is taken', async () => {
    const paused = await recorded()
    paused.server.answers = () => sipResponse(200, { body: both })
    await paused.record({ action: 'pauseCallRecording' })
    const reply = await paused.server.listener.offered(undefined, sipRequest('INVITE'))
    expect(String(reply.body?.content).match(/a=inactive/g)).toHaveLength(2)
    const before = paused.streams.map(({ answers }) => answers.length)
    paused.server.listener.confirmed(sipRequest('ACK', { type: 'application/sdp', body: both }))
    await calm()
    expect(paused.streams.map(({ answers }) => answers.length)).toEqual(before.map((count) => count + 1))
  })

  it.each([
    ['wants one stream only', offer],
    ['makes no sense', 'hello'],
  ])('offers what %s: 488, and the recording goes on', async (_what, body) => {
    const call = await recorded()
    expect(await call.server.listener.offered(body, sipRequest('INVITE'))).toMatchObject({
      status: 488,
      headers: expect.arrayContaining([
        expect.objectContaining({ name: 'x-reason' }),
        { name: 'x-reason-code', value: 'media_not_acceptable' },
        expect.objectContaining({ name: 'warning' }),
      ]) as unknown,
    })
    expect(call.story).toEqual(['siprec-started'])
  })

  it('answers one stream only in the ACK: half of a talk is no recording', async () => {
    const call = await recorded()
    await call.server.listener.offered(undefined, sipRequest('INVITE'))
    call.server.listener.confirmed(sipRequest('ACK', { type: 'application/sdp', body: offer }))
    await calm()
    expect(call.story).toEqual(['siprec-started', 'siprec-ended', 'problem siprec_failed'])
    expect(call.server.sentBye).toEqual([])
  })

  it('answers the refresh of the session from another port: both streams follow it', async () => {
    const call = await recorded()
    call.server.listener.refreshed?.(both)
    await calm()
    expect(call.streams.map(({ answers }) => answers.length)).toEqual([2, 2])
    expect(call.story).toEqual(['siprec-started'])
  })

  it('confirms without a description, and sends requests of its own: nothing changes', async () => {
    const call = await recorded()
    call.server.listener.confirmed(sipRequest('ACK'))
    const info = await call.server.listener.requested(sipRequest('INFO'))
    await calm()
    expect([info.status, call.story]).toEqual([200, ['siprec-started']])
  })
})

describe('pause and resume', () => {
  const pause = { action: 'pauseCallRecording' }
  const resume = { action: 'resumeCallRecording' }

  it('resume sends both streams again, from new rings', async () => {
    const call = await recorded()
    call.server.answers = () => sipResponse(200, { body: both })
    await call.record(pause)
    expect(call.engine.media.sessions[0]?.wiring.taps).toBeUndefined()
    await call.record(resume)
    expect(call.story).toEqual(['siprec-started', 'siprec-paused', 'siprec-resumed'])
    expect(call.server.offers.at(-1)?.match(/a=sendonly/g)).toHaveLength(2)
    expect(call.engine.media.sessions[0]?.wiring.taps?.map(({ of }) => of)).toEqual(['in', 'out'])
    expect(call.streams.map(({ wiring }) => wiring.hears.length)).toEqual([1, 1])
  })

  it.each([
    ['refuses', () => sipResponse(488)],
    ['answers without a description', () => sipResponse(200)],
  ])(
    'a server that %s the pause gets nothing all the same, and is heard of in the journal',
    async (_what, answers) => {
      const call = await recorded()
      call.server.answers = answers
      await call.record(pause)
      expect(call.story).toEqual(['siprec-started', 'problem siprec_failed'])
      expect(call.streams.map(({ wiring }) => wiring.hears)).toEqual([[], []])
    },
  )

  it('a server that refuses the resume gets nothing, and a later resume is asked for again', async () => {
    const call = await recorded()
    call.server.answers = () => sipResponse(200, { body: both })
    await call.record(pause)
    call.server.answers = () => sipResponse(500)
    await call.record(resume)
    expect(call.streams.map(({ wiring }) => wiring.hears)).toEqual([[], []])
    call.server.answers = () => sipResponse(200, { body: both })
    await call.record(resume)
    expect(call.story).toEqual(['siprec-started', 'siprec-paused', 'problem siprec_failed', 'siprec-resumed'])
  })

  it.each([pause, resume])('that lose their server meanwhile are not in the journal: %j', async (action) => {
    const call = await recorded()
    call.server.answers = () => sipResponse(200, { body: both })
    if (action === resume) await call.record(pause)
    const done = call.story.length
    call.server.answers = () => {
      call.server.hangUp()
      return sipResponse(200, { body: both })
    }
    await call.record(action)
    expect(call.story.slice(done)).toEqual(['siprec-ended', 'problem siprec_failed'])
    expect(call.streams.every(({ isClosed }) => isClosed)).toBe(true)
  })

  it('without a recording do nothing', async () => {
    const call = await called([config(pause), config(resume), stop])
    expect([call.story, call.engine.sent]).toEqual([[], []])
  })
})

describe('a start', () => {
  it('while the call is recorded is refused, and the recording goes on', async () => {
    const one = await recorded()
    await one.record({ action: 'startCallRecording', siprecServerURL: second })
    expect(one.story).toEqual(['siprec-started', 'problem call_state'])
    expect(one.engine.sent).toHaveLength(1)
  })

  it('leaves out headers that may not be set, and lets recordingID win over a header of that name', async () => {
    const headers = { 'X-Recording-ID': 'other', 'X-Own': '7', Via: 'x', Contact: 'sip:evil@192.0.2.66' }
    const call = await called([begin(first, { recordingID: 'mine', headers })])
    const sent = call.invite().options.headers ?? []
    const valuesOf = (name: string) =>
      sent.flatMap((header) => (header.name.toLowerCase() === name ? [header.value] : []))
    expect([valuesOf('x-recording-id'), valuesOf('x-own'), valuesOf('via')]).toEqual([['mine'], ['7'], []])
    expect(valuesOf('contact')).toEqual([])
    expect(call.invite().options).toMatchObject({ contactUser: 'recorder', contactFeature: '+sip.src' })
    const notes = call.engine.store.batches.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'note' ? [event.sentence] : [])),
    )
    expect(notes).toEqual([expect.stringContaining('were left out: Via, Contact')])
  })

  it('of an account that is gone, or without room for its streams, is a problem, and no port stays taken', async () => {
    const gone = await called([{ verb: 'pause', length: 5 }, begin()])
    gone.engine.clock.advance(4900)
    await calm()
    // This is between two checks for accounts that are gone.
    gone.engine.account = undefined
    gone.engine.clock.advance(100)
    await calm()
    expect(gone.problems).toEqual([`the call is not recorded: ${first}: the account is gone`])
    const full = await called([{ verb: 'pause', length: 5 }, begin()])
    full.engine.media.failure = { at: 'open', error: new AppError('overloaded', 'there is no port left') }
    full.engine.clock.advance(5000)
    await calm()
    expect(full.problems).toEqual([expect.stringContaining('there is no port left')])
    expect(full.engine.media.openSessions).toBe(1)
  })

  it('names the one who is recorded first: of a leg that was dialled, the called party', async () => {
    const call = await called([begin()])
    const body = String(call.invite().options.body?.content)
    const names = [...body.matchAll(/aor="([^"]*)"/g)].map(([, aor]) => aor)
    expect(names).toEqual(['sip:+4420@example.com', expect.stringContaining('sip:app-')])
  })
})
