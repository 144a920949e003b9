import { describe, expect, it } from 'vitest'
import {
  answer,
  rest,
  runVerbs,
  verb,
  type RunningCall,
} from '../../../test/support/scripted-engine/script.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedSession } from '../../../test/support/scripted-engine/scripted-media.ts'
import { nothingYet } from '../../media/session/no-stats.ts'
import type { Alert } from '../../contracts/alert.ts'

const alerts: Alert[] = []

interface Silent extends RunningCall {
  readonly session: ScriptedSession
  readonly pass: (ms: number) => Promise<void>
}

/** An answered call of whose far end no packet came. */
async function silentCall(
  prepare: (session: ScriptedSession) => void = () => undefined,
  verbs = [answer, rest],
): Promise<Silent> {
  alerts.length = 0
  const call = await runVerbs(verbs, {
    options: { alerts: { raise: (alert) => void alerts.push(alert) } },
    before({ media }) {
      const open = media.open.bind(media)
      media.open = async (options) => {
        const session = (await open(options)) as ScriptedSession
        session.figures = nothingYet
        prepare(session)
        return session
      }
    },
  })
  const [session] = call.engine.media.sessions
  if (session === undefined) throw new Error('there is no session')
  const pass = async (ms: number): Promise<void> => {
    call.engine.clock.advance(ms)
    await settle()
  }
  return { ...call, session, pass }
}

const heard = { type: 'first-packet', address: '192.0.2.7', port: 4000, trust: 'sdp' } as const

describe('an answered call whose far end sends nothing', () => {
  it('says so once, 3 s after the answer, and continues', async () => {
    const { journalled, pass, engine } = await silentCall()
    await pass(2999)
    expect(journalled('problem')).toEqual([])
    await pass(1)
    await pass(60_000)
    const [problem, ...more] = journalled('problem')
    expect(problem).toMatchObject({ code: 'no_media_received' })
    expect(problem?.sentence).toContain('192.0.2.7:4000')
    expect(problem?.sentence).toContain('127.0.0.1:26100')
    expect(more).toEqual([])
    expect(alerts).toMatchObject([{ alert_type: 'no-media', message: problem?.sentence }])
    expect(engine.calls.liveCount).toBe(1)
  })

  it.each([
    [
      'of another payload type',
      { packetsNotAgreed: 150 },
      'in payload types that offer and answer do not name',
    ],
    ['from elsewhere', { packetsIgnored: 150 }, 'from places that neither SDP nor signalling names'],
    [
      'under another key',
      { rejected: { forged: 150, replayed: 0 } },
      'that the key of the call does not open',
    ],
  ])('says which packets came instead: %s', async (_, figures, words) => {
    const { journalled, pass } = await silentCall(
      (session) => (session.figures = { ...nothingYet, ...figures }),
    )
    await pass(3000)
    expect(journalled('problem')[0]?.sentence).toContain(words)
  })

  it.each<[string, (session: ScriptedSession) => void]>([
    ['holds the call', (session) => (session.isHeld = true)],
    ['only listens', (session) => (session.onlyListens = true)],
    ['is a browser, whose path reports its own failure', (session) => (session.encryption = 'DTLS-SRTP')],
    [
      'was heard, which the main thread has not read yet',
      (session) => (session.figures = { ...nothingYet, packetsReceived: 1 }),
    ],
  ])('is no alarm if it %s', async (_, prepare) => {
    const { journalled, pass } = await silentCall(prepare)
    await pass(60_000)
    expect([journalled('problem'), alerts]).toEqual([[], []])
  })

  it('is no alarm before the answer, nor of a call that ends before the 3 s', async () => {
    const early = await silentCall(undefined, [
      verb('early', () => undefined, { needs: 'audio', isEarlyMedia: true }),
      rest,
    ])
    await early.pass(10_000)
    expect(early.journalled('problem')).toEqual([])
    const short = await silentCall()
    await short.pass(2000)
    short.dialog().hangUp()
    await short.pass(10_000)
    expect([short.journalled('problem'), alerts]).toEqual([[], []])
    expect(short.engine.clock.pending).toBe(0)
  })

  it('is no alarm once it was heard, however long it is silent then: comfort noise need not be sent', async () => {
    const { journalled, pass, session } = await silentCall()
    await pass(1000)
    session.emit(heard)
    await pass(60_000)
    expect(journalled('problem')).toEqual([])
  })

  it('is heard again 3 s after a hold that came before its first packet', async () => {
    const { journalled, pass, session, dialog } = await silentCall()
    session.isHeld = true
    await dialog().listener.offered('v=0 hold', sipRequest('INVITE'))
    await pass(60_000)
    expect(journalled('problem')).toEqual([])
    session.isHeld = false
    await dialog().listener.offered('v=0 resume', sipRequest('INVITE'))
    await pass(2999)
    expect(journalled('problem')).toEqual([])
    await pass(1)
    expect(journalled('problem')).toMatchObject([{ code: 'no_media_received' }])
  })
})

describe('packets that do not arrive at the far end', () => {
  const undelivered = { type: 'undelivered', to: { address: '10.1.1.1', port: 4000 }, shown: 'lost' } as const

  it('are said once, with where they go', async () => {
    const { journalled, session, pass } = await silentCall()
    session.emit(heard)
    session.emit(undelivered)
    session.emit(undelivered)
    await pass(1)
    expect(journalled('problem')).toMatchObject([
      { code: 'no_media_delivered', sentence: expect.stringContaining('to 10.1.1.1:4000 do not arrive') },
    ])
  })

  it('are noted without an alarm while reports have mentioned none, as some devices never do', async () => {
    const { journalled, session, pass } = await silentCall()
    session.emit(heard)
    session.emit({ ...undelivered, shown: 'unmentioned' })
    session.emit({ ...undelivered, shown: 'unmentioned' })
    await pass(1)
    expect(journalled('note')).toMatchObject([{ sentence: expect.stringContaining('to 10.1.1.1:4000 yet') }])
    expect([journalled('problem'), alerts]).toEqual([[], []])
    session.emit(undelivered)
    await pass(1)
    expect(journalled('problem')).toMatchObject([{ code: 'no_media_delivered' }])
  })

  it('are no alarm while it holds', async () => {
    const { journalled, session, pass } = await silentCall((one) => (one.isHeld = true))
    session.emit(undelivered)
    await pass(1)
    expect(journalled('problem')).toEqual([])
  })
})
