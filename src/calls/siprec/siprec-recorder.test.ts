import { describe, expect, it } from 'vitest'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { account, application } from '../../../test/support/scripted-engine/scripted-facts.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { offer, sipResponse } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedInvite, ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'
import type { Alert } from '../../contracts/alert.ts'
import type { CallsOptions } from '../calls.ts'
import { parseVerbs } from '../../verbs/index.ts'

const both = `${offer}m=audio 26002 RTP/AVP 0\r\n`
const first = 'sip:recorder@192.0.2.20'
const second = 'sip:recorder@192.0.2.21'

interface Stage {
  readonly engine: ScriptedEngine
  readonly caller: ScriptedInvite
  readonly alerts: readonly Alert[]
  readonly invite: (n?: number) => ScriptedOutgoing
  readonly events: () => string[]
  readonly problems: () => string[]
}

/** Starts a call whose application runs these verbs and then waits. */
async function called(
  verbs: readonly object[],
  rest: readonly object[] = [{ verb: 'answer' }],
  { to, ...options }: { readonly to?: string } & Partial<CallsOptions> = {},
): Promise<Stage> {
  const alerts: Alert[] = []
  const engine = createScriptedEngine(parseVerbs, {
    ...options,
    alerts: { raise: (alert) => void alerts.push(alert) },
  })
  engine.hooks.on('/call', [...verbs, ...rest, { verb: 'pause', length: 3000 }])
  const { application_sid } = application
  if (to !== undefined) engine.account = { ...account, device_calling_application_sid: application_sid }
  const caller = engine.ring(to === undefined ? {} : { to })
  for (let turn = 0; turn < 6; turn += 1) await settle()
  const journal = () => engine.store.journalOf(engine.store.batches[0]?.call_sid ?? '')
  return {
    engine,
    caller,
    alerts,
    invite(n = 0) {
      const sent = engine.sent[n]
      if (sent === undefined) throw new Error(`there is no INVITE number ${n}`)
      return sent
    },
    events: () => journal().flatMap(({ type }) => (type.startsWith('siprec-') ? [type] : [])),
    problems: () => journal().flatMap((event) => (event.type === 'problem' ? [event.sentence] : [])),
  }
}

const config = (record: object) => ({ verb: 'config', record })
const begin = (siprecServerURL: unknown = first) => config({ action: 'startCallRecording', siprecServerURL })
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn += 1) await settle()
}

describe('a recording by a recording server', () => {
  it('begins when the call is answered, though it was asked for before', async () => {
    const { engine } = await called([begin()], [{ verb: 'pause', length: 5 }, { verb: 'answer' }])
    expect(engine.sent).toHaveLength(0)
    engine.clock.advance(5000)
    await turns()
    expect(engine.sent.map(({ options }) => options.uri)).toEqual([first])
  })

  it('never begins where it was stopped before the answer', async () => {
    const { engine, problems } = await called([begin(), config({ action: 'stopCallRecording' })])
    expect([engine.sent.length, problems()]).toEqual([0, []])
  })

  it('goes to the next server when one is silent, and its INVITE is cancelled', async () => {
    const stage = await called([begin([first, second])])
    stage.invite().isSilent = true
    stage.engine.clock.advance(8000)
    await turns()
    expect(stage.invite().cancelled).toEqual([])
    expect(stage.invite(1).options.uri).toBe(second)
    stage.invite(1).answer(both)
    await turns()
    expect([stage.events(), stage.problems()]).toEqual([['siprec-started'], []])
  })

  it('lets no port stay taken of a server that refuses, takes one stream, or answers without a description', async () => {
    for (const answer of [
      (sent: ScriptedOutgoing) => sent.refuse(486),
      (sent: ScriptedOutgoing) => sent.answer(offer),
      (sent: ScriptedOutgoing) => sent.answer(''),
    ]) {
      const stage = await called([begin()])
      answer(stage.invite())
      await turns()
      expect(stage.problems()).toEqual([expect.stringContaining(`not recorded: ${first}: `)])
      const [ofLeg, ...ofRecording] = stage.engine.media.sessions
      expect([ofLeg?.isClosed, ofRecording.map(({ isClosed }) => isClosed)]).toEqual([false, [true, true]])
    }
  })

  it('begins where a party has a name that only looks like a URI', async () => {
    const stage = await called([begin()], [{ verb: 'answer' }], { to: 'sip%3A%3Cx@example.com' })
    expect(stage.problems()).toEqual([])
    expect(String(stage.invite().options.body?.content)).toContain('aor="sip:sip%3A%3Cx@example.com"')
    stage.invite().refuse(486)
    await turns()
    expect(stage.engine.media.sessions.map(({ isClosed }) => isClosed)).toEqual([false, true, true])
  })

  it('is refused an address that no SIP URI may lead to, and a realm of the platform', async () => {
    for (const [server, why] of [
      ['sip:x@10.0.0.9', 'an address that may not be called'],
      ['sip:x@example.com', 'back into this platform'],
      ['http://x', 'must be a SIP URI'],
    ] as const) {
      const { engine, problems } = await called([begin(server)])
      expect([engine.sent.length, problems()]).toEqual([0, [expect.stringContaining(why)]])
    }
  })

  it.each([
    ['for a closed number', 'sip:+881612345678@192.0.2.20', false, /\+881612345678 may not be called/],
    ['where the operator reserves carriers', first, true, /to a carrier that is not of this account/],
  ])('is not led to a carrier %s', async (_what, server, reservesCarriers, why) => {
    const verbs = [{ verb: 'answer' }, { verb: 'pause', length: 1 }, begin(server)]
    const { engine, problems } = await called(verbs, [], { reservesCarriers })
    const sids = { voip_carrier_sid: 'c1', account_sid: 'another', service_provider_sid: null }
    const carrier = { ...sids, application_sid: null, name: 'c1', registration: undefined }
    engine.carriers = [{ carrier, netmask: 32 }]
    engine.clock.advance(1000)
    await turns()
    expect([engine.sent.length, problems()]).toEqual([0, [expect.stringMatching(why)]])
  })

  it('takes a start, a pause and a stop in their order, however fast they come', async () => {
    const stage = await called([{ verb: 'answer' }, begin(), config({ action: 'pauseCallRecording' })])
    stage.invite().answer(both)
    stage.invite().dialog.answers = () => sipResponse(200, { body: both })
    await turns()
    expect(stage.events()).toEqual(['siprec-started', 'siprec-paused'])
    expect(
      stage
        .invite()
        .dialog.offers.at(-1)
        ?.match(/a=inactive/g),
    ).toHaveLength(2)
    expect(stage.engine.media.sessions.slice(1).map(({ wirings }) => wirings.at(-1))).toEqual([
      { hears: [] },
      { hears: [] },
    ])
  })

  it('ends with the call by a BYE', async () => {
    const stage = await called([begin()])
    stage.invite().answer(both)
    await turns()
    stage.caller.dialog?.hangUp()
    await turns()
    expect(stage.invite().dialog.sentBye).toEqual([])
    expect(stage.events()).toEqual(['siprec-started', 'siprec-ended'])
  })

  it('is given up while its server rings when the call ends', async () => {
    const stage = await called([begin()])
    stage.caller.dialog?.hangUp()
    await turns()
    expect(stage.invite().cancelled).toEqual([])
    expect(stage.engine.media.sessions.every(({ isClosed }) => isClosed)).toBe(true)
    expect(stage.problems()).toEqual([])
  })

  it('is over when the thread of its sound dies, and the server gets a BYE', async () => {
    const stage = await called([begin()])
    stage.invite().answer(both)
    await turns()
    stage.engine.media.sessions[2]?.emit({ type: 'lost' })
    await turns()
    expect(stage.events()).toEqual(['siprec-started', 'siprec-ended'])
    expect(stage.invite().dialog.sentBye).toEqual([])
  })

  it('goes on at the next server when one is lost, paused as it was, as the same session that began before', async () => {
    const stage = await called([begin([first, second]), config({ action: 'pauseCallRecording' })])
    stage.invite().answer(both)
    stage.invite().dialog.answers = () => sipResponse(200, { body: both })
    await turns()
    stage.engine.clock.advance(1000)
    stage.invite().dialog.listener.failed('transport-error')
    await turns()
    const next = stage.invite(1)
    expect(next.options.uri).toBe(second)
    next.answer(both)
    await turns()
    expect(stage.events()).toEqual(['siprec-started', 'siprec-paused', 'siprec-ended', 'siprec-started'])
    expect([stage.problems(), stage.alerts]).toEqual([[], []])
    const [before, after] = [stage.invite(), next].map(({ options }) => String(options.body?.content))
    expect(after?.match(/a=inactive/g)).toHaveLength(2)
    const valueIn = (text: string | undefined, pattern: RegExp) => pattern.exec(text ?? '')?.[1]
    for (const pattern of [/<session session_id="([^"]+)/, /<start-time>([^<]+)/])
      expect(valueIn(after, pattern)).toBe(valueIn(before, pattern))
    const recorded = /<sessionrecordingassoc.*?<associate-time>([^<]+)/
    expect(valueIn(after, recorded)).not.toBe(valueIn(before, recorded))
    expect(stage.engine.media.sessions.slice(3).flatMap(({ wirings }) => wirings)).toEqual([])
    next.dialog.listener.failed('transport-error')
    await turns()
    expect(stage.problems()).toEqual(['the recording is over: the recording server is gone: transport-error'])
  })

  it('has in its metadata who is in the conference with the party, with each who joins and leaves', async () => {
    const stage = await called([{ verb: 'answer' }, begin()], [{ verb: 'conference', name: 'team' }])
    const { engine } = stage
    stage.invite().answer(both)
    const { dialog } = stage.invite()
    dialog.answers = () => sipResponse(200, { body: both })
    await turns()
    const parties = () => {
      const last = dialog.offers.at(-1) ?? String(stage.invite().options.body?.content)
      return [...last.matchAll(/<participant participant_id="([^"]+)"><nameID aor="([^"]+)"/g)].map(
        ([, id, aor]) => [id, aor] as const,
      )
    }
    const aors = () => parties().map(([, aor]) => aor)
    const [own] = aors()
    expect(aors()).toEqual([own])
    engine.hooks.on('/call', [{ verb: 'conference', name: 'team' }])
    const [ann, ben] = [engine.ring(), engine.ring()]
    await turns()
    expect(aors()).toEqual([own, 'sip:+4420@example.com', 'sip:+4420@example.com'])
    const [, , later] = parties()
    ann.dialog?.hangUp()
    await turns()
    expect(parties().slice(1)).toEqual([later])
    ben.dialog?.hangUp()
    await turns()
    expect([aors(), stage.problems()]).toEqual([[own], []])
  })

  it('ends when its server, which is checked repeatedly, no longer has it', async () => {
    const stage = await called([begin()])
    stage.invite().answer(both)
    await turns()
    const { dialog } = stage.invite()
    stage.engine.clock.advance(30_000)
    await turns()
    stage.engine.clock.advance(30_000)
    expect(dialog.requests.map(({ method }) => method)).toEqual(['OPTIONS', 'OPTIONS'])
    dialog.listener.failed('transport-error')
    await turns()
    expect(stage.events()).toEqual(['siprec-started', 'siprec-ended'])
    expect(stage.problems()).toEqual(['the recording is over: the recording server is gone: transport-error'])
    expect(stage.engine.media.sessions.map(({ isClosed }) => isClosed)).toEqual([false, true, true])
  })
})
