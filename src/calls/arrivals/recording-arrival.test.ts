import { describe, expect, it } from 'vitest'
import { carrierOf, matchOf, numberOf } from '../../../test/support/scripted-engine/carriers.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { AppError } from '../../lib/errors.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { toAlert } from '../journal/alerts.ts'
import { parseVerbs } from '../../verbs/index.ts'

const { account_sid, service_provider_sid } = account
const { application_sid } = application
const mine = { account_sid, service_provider_sid }
const line = (port: number): string => `m=audio ${port} RTP/AVP 0\r\na=sendonly\r\n`
const two = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n${line(4000)}${line(4002)}`
const asked = { name: 'require', value: 'siprec' }
const participant = (value: string): HeaderField => ({ name: 'x-cisco-recording-participant', value })
const parties = [
  participant('sip:alice@a.example;media-index="1"'),
  participant('sip:bob@b.example;media-index="0"'),
]

function platform(facts: Partial<ScriptedEngine> = {}): ScriptedEngine {
  const engine = createScriptedEngine(parseVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }, { verb: 'gather', timeout: 0 }])
  const carriers = [matchOf('c', mine), matchOf('d', mine)]
  return Object.assign(engine, {
    account: { ...account, siprec_hook_sid: application_sid },
    carriers,
    ...facts,
  })
}

async function ring(engine: ScriptedEngine, headers = parties, body = two): Promise<ScriptedInvite> {
  const invite = engine.ring({ to: 'recorder@192.0.2.1', headers, body })
  await settle()
  return invite
}

const reasonOf = ({ final }: ScriptedInvite): unknown => [
  final?.status,
  final?.headers?.find(({ name }) => name === 'x-reason')?.value,
]
const rulesOf = (engine: ScriptedEngine): readonly string[] =>
  engine.store.batches.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'decision' ? [event.rule] : [])),
  )
const notesOf = (engine: ScriptedEngine): readonly string[] =>
  engine.store.batches.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'note' ? [event.sentence] : [])),
  )

describe('a recording session that comes in', () => {
  it('leaves no port taken where media cannot join its two streams', async () => {
    const engine = platform()
    engine.media.failure = { at: 'wire', error: new AppError('media_lost', 'media did not respond in time') }
    const invite = await ring(engine)
    expect([invite.final?.status, engine.media.sessions.length]).toEqual([503, 2])
    expect(engine.media.openSessions).toBe(0)
  })

  it('goes to the application of the account whose carriers are at the address, and is heard in two sessions', async () => {
    const engine = platform({ application: { ...application, record_all_calls: true } })
    const invite = await ring(engine)
    expect(rulesOf(engine)).toEqual(['caller-carrier-address', 'siprec-account', 'siprec-application'])
    expect(engine.hooks.payloadsOf('/call')[0]?.['participants']).toEqual([
      { participant: 'caller', uri_user: 'bob', uri_host: 'b.example' },
      { participant: 'callee', uri_user: 'alice', uri_host: 'a.example' },
    ])
    expect([invite.accepted === undefined, invite.contactFeature]).toEqual([false, '+sip.srs'])
    const [caller, called] = engine.media.sessions
    expect([caller?.offers[0]?.includes('4000'), called?.offers[0]?.includes('4002')]).toEqual([true, true])
    // A recording of the call gets both voices, as for any call.
    expect(caller?.wiring).toMatchObject({
      hears: [{ from: { kind: 'session', id: called?.id } }],
      tapsUnsent: true,
      taps: [{ of: 'recording' }],
    })
    expect(called?.wirings).toEqual([])
    invite.dialog?.listener.ended(invite.request)
    await settle()
    expect(engine.media.sessions.map(({ isClosed }) => isClosed)).toEqual([true, true])
  })

  it('is not served as a call where the account has no application for it, whatever numbers and carriers have', async () => {
    const numbers = [numberOf('recorder', 'c', { account_sid, application_sid })]
    const engine = platform({ account, numbers })
    const invite = await ring(engine)
    expect(reasonOf(invite)).toEqual([404, 'the account has no application for recording sessions'])
    expect(rulesOf(engine)).toEqual(['caller-carrier-address', 'carrier-number', 'siprec-no-application'])
  })

  it('is refused where the carriers at the address are of several accounts, and where no carrier is', async () => {
    const engine = platform()
    engine.carriers = [
      matchOf('c', mine),
      { carrier: carrierOf('e', { ...mine, account_sid: 'another' }), netmask: 32 },
    ]
    expect((await ring(engine)).final?.status).toBe(404)
    const user = platform({ carriers: [] })
    const invite = user.ring({ to: 'recorder@example.com', headers: [asked], body: two })
    await settle()
    expect(reasonOf(invite)).toEqual([404, 'recording sessions are taken from carriers alone'])
  })

  it('follows a client that removes its lines and adds others for the next party (RFC 7866 §7.1.1.2)', async () => {
    const engine = platform()
    const { dialog, request } = await ring(engine)
    const [caller, called] = engine.media.sessions
    const off = two.replaceAll(/m=audio \d+/g, 'm=audio 0')
    const half = two.replace('m=audio 4002', 'm=audio 0') + line(4004)
    expect((await dialog?.listener.offered(half, request))?.status).toBe(200)
    expect(
      [caller, called].map((session) => /m=audio (\d+)/.exec(session?.offers.at(-1) ?? '')?.[1]),
    ).toEqual(['4000', '4004'])
    const whole = await dialog?.listener.offered(off + line(0) + line(4006) + line(4008), request)
    expect(
      [caller, called].map((session) => /m=audio (\d+)/.exec(session?.offers.at(-1) ?? '')?.[1]),
    ).toEqual(['4006', '4008'])
    expect(String(whole?.body?.content).match(/m=audio 0 /g)).toHaveLength(3)
    dialog?.listener.refreshed?.(off + line(0) + line(4010) + line(4012))
    await settle()
    expect(
      [caller, called].map((session) => /m=audio (\d+)/.exec(session?.answers.at(-1) ?? '')?.[1]),
    ).toEqual(['4010', '4012'])
    // RFC 3264 §8: our offer keeps the lines that are not in use.
    const ours = await dialog?.listener.offered(undefined, request)
    expect(String(ours?.body?.content).match(/m=audio 0 /g)).toHaveLength(3)
    // Without another line the recording stays as it was.
    expect((await dialog?.listener.offered(off, request))?.status).toBe(488)
  })

  it('is recorded without names if no participant is named, with a problem in the journal and an alert', async () => {
    const engine = platform()
    const invite = await ring(engine, [asked])
    expect(invite.accepted).toBeDefined()
    expect(engine.hooks.payloadsOf('/call')[0]?.['participants']).toEqual([])
    expect(notesOf(engine)).toContain('a recording session without names')
    const events = engine.store.batches.flatMap((batch) => batch.events)
    const problem = events.find((event) => event.type === 'problem')
    expect(problem).toMatchObject({ code: 'siprec_unreadable' })
    expect(problem && toAlert(problem)).toMatchObject({ alert_type: 'recording-failure' })
  })

  it('is refused with 488 if it has one stream', async () => {
    const one = await ring(platform(), parties, two.slice(0, two.indexOf(line(4002))))
    expect(reasonOf(one)).toEqual([488, 'a recording session has two streams of sound'])
  })

  it('runs only the verbs that hear, later ones too; with none of them it is refused with 480', async () => {
    const engine = platform()
    engine.hooks.on('/call', [{ verb: 'say', text: 'x' }, { verb: 'answer' }, { verb: 'say', text: 'y' }])
    const invite = await ring(engine)
    expect(notesOf(engine).filter((note) => note.includes('does not run here'))).toHaveLength(2)
    expect(invite.accepted).toBeDefined()
    const none = platform()
    none.hooks.on('/call', [{ verb: 'say', text: 'x' }])
    expect(reasonOf(await ring(none))).toEqual([
      480,
      expect.stringContaining('no verb of the answer may run here'),
    ])
  })

  it('goes on when one stream is silent, and ends when both are', async () => {
    const engine = platform()
    const invite = await ring(engine)
    const [caller, called] = engine.media.sessions
    if (caller === undefined || called === undefined) throw new Error('there are no two sessions')
    const silent = { type: 'timeout', cause: 'silent', silentMs: 60_000, limitMs: 60_000 } as const
    let packetsReceived = 100
    const stats = called.stats.bind(called)
    called.stats = async () => ({ ...(await stats()), packetsReceived })
    engine.clock.advance(60_000)
    await settle()
    caller.emit(silent)
    await settle()
    packetsReceived = 200
    caller.emit(silent)
    await settle()
    expect(invite.dialog?.sentBye).toBeUndefined()
    caller.emit(silent)
    await settle()
    expect(invite.dialog?.sentBye).toBeDefined()
  })
})
