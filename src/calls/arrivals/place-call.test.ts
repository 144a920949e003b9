import { describe, expect, it } from 'vitest'
import { AppError, catalogue } from '../../lib/errors.ts'
import type { Binding, Remote } from '../../sip/sip.ts'
import type { CallRequest } from '../call-request.ts'
import type { PreparedCall } from '../calls.ts'
import type { JournalEvent, RefusalFact } from '../journal/journal.ts'
import { failureFields, timerFields } from '../../../test/support/reason-fields.ts'
import {
  account,
  application,
  callRequest,
  outboundCarrier,
  phone,
} from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { placeOn } from '../../../test/support/scripted-engine/place-on.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import type { ScriptedOutgoing } from '../../../test/support/scripted-engine/scripted-sip.ts'

function platformWith(verbs: unknown): ScriptedEngine {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', verbs)
  engine.phones.set(phone.aor, [phone])
  return engine
}

interface Placed extends Pick<PreparedCall, 'call_sid' | 'call_id'> {
  readonly engine: ScriptedEngine
  readonly invite: ScriptedOutgoing
  readonly journal: () => readonly JournalEvent[]
}

/** Makes a call whose INVITE has been sent. */
async function place(
  changes: Partial<CallRequest> = {},
  verbs: unknown = [{ verb: 'speak' }],
): Promise<Placed> {
  const engine = platformWith(verbs)
  const placed = await placeOn(engine, { ...callRequest, ...changes })
  const [invite] = engine.sent
  if (invite === undefined) throw new Error('no INVITE was sent')
  const journal = () => engine.store.journalOf(placed.call_sid)
  return { ...placed, engine, invite, journal }
}

const sipUri = (text: string): Partial<CallRequest> => ({ to: { type: 'sip', sipUri: text } })

describe('a call that is placed', () => {
  it('rings, is answered, runs the application and leaves one record', async () => {
    const { engine, invite, call_sid, call_id } = await place()
    expect(engine.hooks.asked).toEqual([])
    invite.progress(180)
    expect(engine.calls.count(account.account_sid)).toEqual({ inbound: 0, outbound: 1 })
    invite.answer()
    await settle()
    expect(engine.hooks.payloadsOf('/call')).toMatchObject([
      {
        call_sid,
        call_id,
        direction: 'outbound',
        call_status: 'in-progress',
        from: '+4420',
        to: 'alice@example.com',
        caller_name: '',
        application_sid: application.application_sid,
        // Each leads to the other, because the trace of a call is looked up by its id.
        trace_id: call_sid.replaceAll('-', ''),
      },
    ])
    expect(engine.hooks.payloadsOf('/call')[0]).not.toHaveProperty('sip')
    expect(engine.hooks.payloadsOf('/call')[0]).not.toHaveProperty('originating_sip_ip')
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(engine.store.notifications.at(-1)).toMatchObject({
      duration: 1,
      call_termination_by: 'jambonz',
      direction: 'outbound',
    })
    expect(engine.store.records).toMatchObject([
      {
        call_sid,
        sip_call_id: call_id,
        direction: 'outbound',
        answered: true,
        from: '4420',
        to: 'alice@example.com',
        trunk: 'user',
        remote_host: phone.remote.address,
        duration: 1,
        termination_reason: 'caller hungup',
      },
    ])
    expect(invite.dialog.sentBye).toEqual([])
    expect(engine.media.openSessions).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })

  it('goes to where the phone registered from, with an offer', async () => {
    const { invite, call_id } = await place({
      callerName: 'The Office',
      fromHost: 'pbx.example.org',
      headers: [{ name: 'x-campaign', value: '7' }],
    })
    expect(invite.options).toMatchObject({
      uri: phone.contact,
      to: 'sip:alice@example.com',
      from: '"The Office" <sip:+4420@pbx.example.org>',
      contactUser: '+4420',
      callId: call_id,
      destination: phone.remote,
      headers: [{ name: 'x-campaign', value: '7' }],
      body: { type: 'application/sdp', content: 'v=0 offer' },
    })
  })

  it('is hung up by the far end: completed, by the called party', async () => {
    const { engine, invite } = await place()
    invite.answer()
    await settle()
    invite.dialog.hangUp([{ name: 'reason', value: 'Q.850 ; cause=16' }])
    await settle()
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'completed',
      call_termination_by: 'caller',
      sip_reason_header: 'Q.850;cause=16',
    })
    expect(engine.store.records).toMatchObject([{ termination_reason: 'called party hungup' }])
  })

  it('carries its tag in every payload', async () => {
    const { engine, invite } = await place({ tag: { order: 7 } })
    invite.answer()
    await settle()
    for (const payload of [...engine.store.notifications, ...engine.hooks.payloadsOf('/call')])
      expect(payload['customerData']).toEqual({ order: 7 })
  })

  it('runs hooks of its own without an application', async () => {
    const script = { ...application, app_json: '[{"verb":"speak"}]', env_vars: null }
    const { engine, invite } = await place({ runs: { script } })
    invite.answer()
    await settle()
    expect(engine.media.sessions[0]?.played).toEqual(['/clips/1000'])
    expect(engine.store.notifications[0]).not.toHaveProperty('application_sid')
  })

  it.each([
    ['no list of verbs', { verb: 'speak' }],
    ['an empty list', []],
    ['an unknown verb', [{ verb: 'juggle' }]],
  ])('is hung up with X-Reason when the call hook answers %s', async (_, answer) => {
    const { engine, invite } = await place({}, answer)
    invite.answer()
    await settle()
    expect(invite.dialog.sentBye).toMatchObject([
      { name: 'x-reason' },
      { name: 'x-reason-code', value: 'hook_invalid_payload' },
      { name: 'reason' },
    ])
    expect(engine.store.records).toMatchObject([{ answered: true, termination_reason: 'caller hungup' }])
  })

  it('says in its journal where its requests go, when that is not where they should', async () => {
    const { invite, journal } = await place()
    invite.answer()
    await settle()
    const sentence = 'sip:proxy.invalid;lr cannot be resolved'
    invite.dialog.listener.noted?.(sentence)
    await settle()
    expect(journal()).toContainEqual(expect.objectContaining({ type: 'note', sentence }))
  })

  it('takes digits that come as INFO', async () => {
    const { invite, journal } = await place({}, [{ verb: 'wait', ms: 60_000 }])
    invite.answer()
    await settle()
    const info = sipRequest('INFO', { type: 'application/dtmf-relay', body: 'Signal=5\r\nDuration=100' })
    expect(await invite.dialog.listener.requested(info)).toEqual({ status: 200 })
    expect(journal()).toContainEqual(expect.objectContaining({ type: 'digit', digit: '5' }))
  })

  it('is hung up after its time limit, counted from the answer', async () => {
    const { engine, invite } = await place({ maxCallMs: 5000 }, [{ verb: 'wait', ms: 60_000 }])
    engine.clock.advance(30_000)
    expect(engine.store.statuses).toEqual(['trying'])
    invite.answer()
    await settle()
    engine.clock.advance(5000)
    await settle()
    expect(invite.dialog.sentBye).toEqual(timerFields('call_duration_limit', 'Max Call Duration'))
    expect(engine.store.records).toMatchObject([{ duration: 5 }])
  })
})

describe('a key by INFO of a callee that has not answered', () => {
  const press = ({ invite }: Placed) =>
    invite.options.early?.requested?.(sipRequest('INFO', { type: 'application/dtmf', body: '7' }))

  it('counts', async () => {
    const placed = await place()
    placed.invite.progress(183, 'v=0 early')
    expect(await press(placed)).toEqual({ status: 200 })
    await settle()
    const keys = placed.journal().filter(({ type }) => type === 'digit')
    expect(keys).toMatchObject([{ digit: '7', source: 'info' }])
  })

  it('is ignored once the call was given up', async () => {
    const placed = await place()
    placed.invite.progress(183, 'v=0 early')
    placed.invite.isSilent = true
    placed.engine.clock.advance(3_600_000)
    await settle()
    expect(placed.invite.cancelled).toBeDefined()
    expect(await press(placed)).toEqual({ status: 200 })
    await settle()
    expect(placed.journal().filter(({ type }) => type === 'digit')).toEqual([])
  })
})

describe('the media of a call that is placed', () => {
  it('is heard before the answer: early-media, and no ringing after it', async () => {
    const { engine, invite } = await place()
    invite.progress(180)
    invite.progress(183, 'v=0 early')
    invite.progress(180)
    invite.progress(183, 'v=0 early')
    await settle()
    expect(engine.media.sessions[0]?.answers).toEqual(['v=0 early'])
    invite.answer('v=0 early')
    await settle()
    expect(engine.media.sessions[0]?.answers).toEqual(['v=0 early'])
    expect(engine.store.statuses).toEqual(['trying', 'ringing', 'early-media', 'in-progress'])
    expect(engine.store.notifications[2]).toMatchObject({ sip_status: 183, sip_reason: 'Session Progress' })
  })

  it('follows the fork that spoke last until one answers, and the ringing of others is reported', async () => {
    const { engine, invite } = await place()
    invite.progress(183, 'v=0 one', 'one')
    invite.progress(180, undefined, 'two')
    invite.progress(183, 'v=0 two', 'two')
    invite.progress(180, undefined, 'one')
    await settle()
    expect(engine.media.sessions[0]?.answers).toEqual(['v=0 one', 'v=0 two'])
    invite.answer('', 'one')
    await settle()
    expect(engine.media.sessions[0]?.answers).toEqual(['v=0 one', 'v=0 two', 'v=0 one'])
    expect(engine.store.statuses.slice(0, 5)).toEqual([
      'trying',
      'early-media',
      'ringing',
      'early-media',
      'in-progress',
    ])
  })

  it('changes a bounded number of times before the answer', async () => {
    const { engine, invite } = await place()
    for (let count = 0; count < 500; count += 1) invite.progress(183, `v=0 ${count}`, `t${count}`)
    await settle()
    expect(engine.media.sessions[0]?.answers).toHaveLength(64)
  })

  it('is that of the 200, which may be another than the early one', async () => {
    const { engine, invite } = await place()
    invite.progress(183, 'v=0 early')
    invite.answer('v=0 final')
    await settle()
    expect(engine.media.sessions[0]?.answers).toEqual(['v=0 early', 'v=0 final'])
  })

  it('is the early one when the 200 has none', async () => {
    const { engine, invite } = await place()
    invite.progress(183, 'v=0 early')
    invite.answer('')
    await settle()
    expect(engine.store.statuses.at(-1)).toBe('in-progress')
  })

  it('that comes early and does not fit is a problem, and the call goes on ringing', async () => {
    const { engine, invite, journal } = await place()
    const [session] = engine.media.sessions
    if (session === undefined) throw new Error('there is no session')
    const accept = session.acceptAnswer.bind(session)
    session.acceptAnswer = () => Promise.reject(new AppError('media_not_acceptable', 'video alone'))
    invite.progress(183, 'v=0 video')
    await settle()
    expect(journal()).toContainEqual(
      expect.objectContaining({ type: 'problem', code: 'media_not_acceptable', sentence: 'video alone' }),
    )
    session.acceptAnswer = accept
    invite.answer('v=0 audio')
    await settle()
    expect(engine.store.statuses.at(-1)).toBe('in-progress')
  })

  it('that never comes ends the call with X-Reason', async () => {
    const { engine, invite } = await place()
    invite.answer('')
    await settle()
    expect(invite.dialog.sentBye).toEqual(
      failureFields('media_not_acceptable', 'the far end did not answer the offer'),
    )
    expect(engine.hooks.asked).toEqual([])
    expect(engine.media.openSessions).toBe(0)
  })

  it('without a free port fails the call before any INVITE', async () => {
    const engine = platformWith([])
    engine.media.failure = { at: 'open', error: new AppError('no_media_port', 'no RTP port is free') }
    const { call_sid } = await placeOn(engine, callRequest)
    expect(engine.sent).toEqual([])
    expect(engine.store.records).toMatchObject([{ call_sid, sip_status: 503, termination_reason: 'failed' }])
    expect(engine.store.statuses).toEqual(['failed'])
  })
})

describe('a call that is not answered', () => {
  it.each([
    [486, 'busy', 'failed'],
    [600, 'busy', 'failed'],
    [603, 'busy', 'failed'],
    [408, 'failed', 'failed'],
    [480, 'failed', 'failed'],
    [487, 'no-answer', 'caller abandoned'],
    [404, 'failed', 'failed'],
    [503, 'failed', 'failed'],
    [302, 'failed', 'failed'],
  ])('%i is %s, with the Reason header of the response', async (status, call_status, termination_reason) => {
    const { engine, invite } = await place()
    const spoken = { name: 'to', value: '<sip:bob@example.com>;tag=phone' }
    invite.refuse(status, [spoken, { name: 'reason', value: 'Q.850 ;cause=17 ; text="busy"' }])
    await settle()
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status,
      sip_status: status,
      sip_reason_header: 'Q.850;cause=17;text="busy"',
      call_termination_by: 'caller',
    })
    expect(engine.store.records).toMatchObject([{ answered: false, sip_status: status, termination_reason }])
    expect(engine.media.openSessions).toBe(0)
    expect(engine.clock.pending).toBe(0)
  })

  it.each([
    [408, /^no response came from .+ within 32 s$/],
    [503, /^the INVITE could not be sent to .+, or its connection was lost/],
  ])('%i that no far end has sent is sip_unreachable wherever its end is said', async (status, sentence) => {
    const { engine, invite, call_sid } = await place()
    engine.clock.advance(32_000)
    invite.refuse(status)
    await settle()
    const { sentence: reason, cure } = engine.store
      .journalOf(call_sid)
      .find((event) => event.type === 'refusal') as RefusalFact
    expect(reason).toMatch(sentence)
    expect(cure).toBe(catalogue.sip_unreachable.cure)
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'failed',
      sip_status: status,
      call_termination_by: 'jambonz',
      failure: { code: 'sip_unreachable', sentence: reason, cure },
    })
    expect(engine.store.records).toMatchObject([
      { sip_status: status, termination_reason: `failed: ${reason}` },
    ])
  })

  it('is cancelled after its ring time: no-answer 487', async () => {
    const { engine, invite } = await place({ ringMs: 20_000 })
    invite.progress(180)
    engine.clock.advance(19_999)
    expect(invite.cancelled).toBeUndefined()
    engine.clock.advance(1)
    await settle()
    expect(invite.cancelled).toEqual([
      { name: 'x-reason', value: 'Ring Timeout' },
      { name: 'reason', value: 'Q.850;cause=102;text="Ring Timeout"' },
    ])
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'no-answer',
      sip_status: 487,
      call_termination_by: 'jambonz',
    })
    expect(engine.store.records).toMatchObject([{ sip_status: 487, termination_reason: 'caller abandoned' }])
  })

  it('is cancelled by the API, once, and ends once', async () => {
    const { engine, invite, call_sid } = await place()
    invite.progress(180)
    expect(await engine.calls.hangUp(account.account_sid, call_sid)).toBe(true)
    expect(await engine.calls.hangUp(account.account_sid, call_sid)).toBe(false)
    await settle()
    expect(invite.cancelled).toEqual([])
    expect(engine.store.records).toHaveLength(1)
    expect(engine.store.statuses).toEqual(['trying', 'ringing', 'no-answer'])
  })

  it('hears nothing of responses that come after its end', async () => {
    const { engine, invite, call_sid } = await place()
    await engine.calls.hangUp(account.account_sid, call_sid)
    invite.progress(183, 'v=0 late')
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'no-answer'])
  })
})

describe('a call to a user', () => {
  it.each([
    ['is not registered', (engine: ScriptedEngine) => engine.phones.clear()],
    ['is no client', (engine: ScriptedEngine) => void (engine.client = undefined)],
    [
      'was switched off',
      (engine: ScriptedEngine) => void (engine.client = { ...engine.client!, is_active: false }),
    ],
  ])('who %s fails with 404 and says why', async (_, arrange) => {
    const engine = platformWith([])
    arrange(engine)
    const { call_sid } = await placeOn(engine, callRequest)
    expect(engine.sent).toEqual([])
    expect(engine.store.notifications).toMatchObject([{ call_status: 'failed', sip_status: 404 }])
    expect(engine.store.records).toMatchObject([{ call_sid, sip_status: 404, termination_reason: 'failed' }])
    expect(engine.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ type: 'refusal', code: 'user_not_registered' }),
    )
  })
})

describe('a call to a user with several phones', () => {
  const second: Binding = {
    ...phone,
    key: 'second',
    contact: 'sip:alice@10.0.0.6:5070',
    remote: { transport: 'tcp', address: '192.0.2.8', port: 41_000 },
  }
  const third: Binding = {
    ...phone,
    key: 'third',
    contact: 'sip:alice@10.0.0.7:5070',
    remote: { ...phone.remote, address: '192.0.2.9' },
  }
  const spoken = [{ name: 'to', value: '<sip:alice@example.com>;tag=far' }]
  const elsewhere = [{ name: 'reason', value: 'SIP;cause=200;text="Call completed elsewhere"' }]

  async function ring(bindings: readonly Binding[] = [phone, second]) {
    const engine = platformWith([{ verb: 'speak' }])
    engine.phones.set(phone.aor, bindings)
    const { call_sid } = await placeOn(engine, callRequest)
    await settle()
    const journal = () => engine.store.journalOf(call_sid)
    const decisions = () =>
      journal().flatMap((event) => (event.type === 'decision' ? [`${event.rule}: ${event.outcome}`] : []))
    return { engine, call_sid, journal, decisions, sent: engine.sent }
  }

  it('makes each an offer that faces it, and media faces the one that answers', async () => {
    const { engine, sent } = await ring()
    const [session, ...others] = engine.media.sessions
    expect(others).toEqual([])
    expect(session?.peers).toEqual([phone.remote.address, second.remote.address])
    sent[0]?.answer()
    await settle()
    expect(session?.peers.at(-1)).toBe(phone.remote.address)
  })

  it('knows the offers of phones behind one address apart, and which of them is answered', async () => {
    const secure: Binding = { ...second, remote: { ...phone.remote, transport: 'tls', port: 5061 } }
    const { engine, sent } = await ring([secure, phone])
    const [session] = engine.media.sessions
    expect(session?.protections).toEqual(['possible', undefined])
    sent[0]?.answer()
    await settle()
    const { branches = [], peers } = session ?? {}
    expect(peers).toEqual(Array.from({ length: 3 }, () => phone.remote.address))
    expect(branches[2]).toBe(branches[0])
    expect(branches[1]).not.toBe(branches[0])
  })

  it('offers SRTP alone to a phone that wants it while the others ring', async () => {
    const secure: Binding = { ...second, remote: { ...phone.remote, transport: 'tls', port: 5061 } }
    const { engine, sent, decisions } = await ring([secure, phone])
    sent[1]?.progress(180)
    sent[0]?.refuse(488)
    await settle()
    expect(sent.map(({ options }) => options.uri)).toEqual([second.contact, phone.contact, second.contact])
    expect(engine.media.sessions[0]?.protections).toEqual(['possible', undefined, 'required'])
    expect(decisions()).toContainEqual(expect.stringMatching(/^failover: 488 from tls:.*SRTP alone/))
    sent[2]?.refuse(488)
    sent[1]?.refuse(488)
    await settle()
    expect(sent).toHaveLength(3)
    expect(engine.store.records).toMatchObject([{ sip_status: 488 }])
  })

  it('rings them all with one Call-ID, and the journal says where', async () => {
    const { engine, sent, decisions } = await ring()
    expect(sent.map(({ options }) => [options.uri, options.destination])).toEqual([
      [phone.contact, phone.remote],
      [second.contact, second.remote],
    ])
    expect(new Set(sent.map(({ callId }) => callId)).size).toBe(1)
    expect(decisions()).toContain('registrar: alice@example.com at udp:192.0.2.7:40000, tcp:192.0.2.8:41000')
    for (const invite of sent) invite.progress(180)
    expect(engine.store.statuses).toEqual(['trying', 'ringing'])
    expect(engine.calls.count(account.account_sid)).toEqual({ inbound: 0, outbound: 1 })
  })

  it('is that of the first to answer: the others are cancelled as completed elsewhere, and one record says where', async () => {
    const { engine, sent, call_sid } = await ring([phone, second, third])
    sent[1]!.answer()
    await settle()
    expect(sent.map(({ cancelled }) => cancelled)).toEqual([elsewhere, undefined, elsewhere])
    expect(engine.hooks.payloadsOf('/call')).toHaveLength(1)
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.records).toMatchObject([
      { call_sid, answered: true, trunk: 'user', remote_host: second.remote.address },
    ])
    expect(engine.clock.pending).toBe(0)
  })

  it('that are picked up at once goes on with one of them, and ends at the other with a reason', async () => {
    const { engine, sent } = await ring()
    for (const invite of sent) invite.answer()
    await settle()
    expect(sent.map(({ dialog }) => dialog.sentBye)).toEqual([undefined, elsewhere])
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
  })

  it.each<[string, readonly number[], string, number]>([
    ['is busy when all are', [486, 486], 'busy', 486],
    ['is not busy when one is not', [486, 480], 'failed', 480],
    ['says what the best of them said', [503, 404], 'failed', 404],
  ])('%s', async (_, statuses, call_status, sip_status) => {
    const { engine, sent, decisions } = await ring()
    for (const [index, status] of statuses.entries()) {
      expect(engine.store.records).toEqual([])
      sent[index]!.refuse(status, spoken)
      await settle()
    }
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status, sip_status })
    expect(engine.store.records).toHaveLength(1)
    expect(decisions().filter((decision) => decision.startsWith('branch: '))).toHaveLength(2)
  })

  it('is busy when the one that spoke is, and the other was silent', async () => {
    const { engine, sent } = await ring()
    sent[0]!.refuse(486, spoken)
    sent[1]!.refuse(408)
    await settle()
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'busy', sip_status: 486 })
  })

  it('is over when one of them declines for all', async () => {
    const { engine, sent } = await ring([phone, second, third])
    sent[1]!.refuse(603, spoken)
    await settle()
    const declined = [{ name: 'reason', value: 'SIP;cause=603;text="Decline"' }]
    expect(sent.map(({ cancelled }) => cancelled)).toEqual([declined, undefined, declined])
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'busy', sip_status: 603 })
  })

  it('notes of one that another was quicker than that it was withdrawn, if its INVITE was not sent yet', async () => {
    const { engine, sent, call_sid } = await ring()
    sent[0]!.wasSent = false
    sent[1]!.answer()
    await settle()
    const ends = engine.store.journalOf(call_sid).filter((event) => event.type === 'attempt-ended')
    expect(ends).toMatchObject([{ outcome: 'answered' }, { outcome: 'withdrawn' }])
    expect(ends[1]).not.toHaveProperty('sip_status')
  })

  it('is cancelled at all of them when it is given up', async () => {
    const { engine, sent, call_sid } = await ring()
    await engine.calls.hangUp(account.account_sid, call_sid)
    expect(sent.every(({ cancelled }) => cancelled !== undefined)).toBe(true)
    expect(engine.store.notifications.at(-1)).toMatchObject({ call_status: 'no-answer', sip_status: 487 })
    expect(engine.clock.pending).toBe(0)
  })

  it('goes to those that can be reached, and says why one cannot', async () => {
    const engine = platformWith([{ verb: 'speak' }])
    engine.phones.set(phone.aor, [phone, second])
    engine.reach = ({ remote }) =>
      remote.transport === 'udp'
        ? Promise.resolve(remote)
        : Promise.reject(new AppError('sip_unreachable', 'its connection is gone'))
    const { call_sid } = await placeOn(engine, callRequest)
    await settle()
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ rule: 'branch', outcome: 'its connection is gone: tcp:192.0.2.8:41000' }),
    )
    engine.sent[0]!.answer()
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'in-progress'])
  })

  it('rings a phone with two flows once, by the one it used last', async () => {
    const instance = '<urn:uuid:1>'
    const flows = [
      { ...second, instance: `${instance};2` },
      { ...phone, instance: `${instance};1` },
    ]
    const { sent } = await ring(flows)
    expect(sent.map(({ options }) => options.destination)).toEqual([second.remote])
  })
})

describe('media of a call', () => {
  const secure: Binding = { ...phone, remote: { ...phone.remote, transport: 'tls' } }
  const ring = async (to: CallRequest['to'], binding = phone) => {
    const engine = platformWith([{ verb: 'speak' }])
    engine.phones.set(phone.aor, [binding])
    const { call_sid } = await placeOn(engine, { ...callRequest, to })
    const [session] = engine.media.sessions
    return { engine, protections: session?.protections, journal: () => engine.store.journalOf(call_sid) }
  }

  it.each<[string, CallRequest['to'], Binding, string | undefined]>([
    ['is plain to a phone whose keys others could read', callRequest.to, phone, undefined],
    ['is left to a phone that signals over TLS', callRequest.to, secure, 'possible'],
    ['is plain to a SIP URI', { type: 'sip', sipUri: 'sip:bob@192.0.2.9' }, phone, undefined],
    [
      'is encrypted to a SIP URI where the dial says so',
      { type: 'sip', sipUri: 'sip:bob@192.0.2.9', srtpEncryption: 'sdes' },
      phone,
      'required',
    ],
    [
      'is encrypted by a handshake to a SIP URI where the dial says so',
      { type: 'sip', sipUri: 'sip:bob@192.0.2.9', srtpEncryption: 'dtls' },
      phone,
      'ice',
    ],
  ])('%s', async (_, to, binding, protection) => {
    expect((await ring(to, binding)).protections).toEqual([protection])
  })

  it('is offered encrypted alone to a phone that refuses the choice, once', async () => {
    const { engine, protections, journal } = await ring(callRequest.to, secure)
    engine.sent[0]?.refuse(488)
    await settle()
    expect(protections).toEqual(['possible', 'required'])
    expect(engine.sent).toHaveLength(2)
    engine.sent[1]?.refuse(488)
    await settle()
    expect(engine.sent).toHaveLength(2)
    expect(engine.store.records).toMatchObject([{ sip_status: 488 }])
    expect(journal()).toContainEqual(expect.objectContaining({ rule: 'failover' }))
  })
})

describe('a call to a SIP URI', () => {
  it('has the headers of the URI that an application may set, and the journal names the others', async () => {
    const evil = 'Via=x&Route=%3Csip:a@b%3E&body=x&P-Asserted-Identity=%3Csip:1@b%3E&X-Line=a%0d%0aVia:%20b'
    const headers = [{ name: 'x-two', value: 'own' }]
    const { engine, invite, call_sid } = await place({
      to: { type: 'sip', sipUri: `sip:bob@192.0.2.9?X-Foo=bar%20r&X-Two=b&${evil}` },
      headers,
    })
    expect(invite.options).toMatchObject({
      uri: 'sip:bob@192.0.2.9',
      to: 'sip:bob@192.0.2.9',
      headers: [...headers, { name: 'x-foo', value: 'bar r' }],
    })
    const notes = engine.store
      .journalOf(call_sid)
      .flatMap((event) => (event.type === 'note' ? [event.sentence] : []))
    expect(notes).toEqual([
      'these headers of the SIP URI are sent: X-Foo, X-Two',
      'these headers of the SIP URI may not be set and were left out: Via, Route, X-Line, body, P-Asserted-Identity',
    ])
  })

  it('goes there, without the headers of the URI', async () => {
    const { engine, invite } = await place(sipUri('sip:bob@192.0.2.9:5080;user=phone?Subject=x'))
    const uri = 'sip:bob@192.0.2.9:5080;user=phone'
    expect(invite.options).toMatchObject({
      uri,
      to: uri,
      destination: { transport: 'udp', address: '192.0.2.9', port: 5080 },
    })
    invite.refuse(404)
    await settle()
    expect(engine.store.records).toMatchObject([{ trunk: 'sipUri', remote_host: '192.0.2.9' }])
  })

  it('goes by way of its proxy, which is the address that is checked, with its credentials', async () => {
    const auth = { username: 'u', password: 'p' }
    const proxy = 'sip:192.0.2.1;transport=udp;x=1'
    const { invite } = await place({ to: { type: 'sip', sipUri: 'sip:bob@b.example', proxy, auth } })
    expect(invite.options).toMatchObject({
      uri: 'sip:bob@b.example',
      routes: ['<sip:192.0.2.1;transport=udp;lr>'],
      destination: { address: '192.0.2.1' },
      credentials: auth,
    })
  })

  it.each([
    ['in the network of the platform', 'sip:bob@10.0.0.1', 403, 'sip_refused_address'],
    ['of a proxy of the operator', 'sip:bob@192.0.2.250', 403, 'sip_refused_address'],
    ['of a realm of the platform', 'sip:alice@example.com', 482, 'loop_detected'],
    ['without an address', 'sip:bob@nowhere.example', 480, 'sip_unreachable'],
    ['of scheme sips, without a port of TLS', 'sips:bob@192.0.2.9', 480, 'sip_unreachable'],
    ['that is none', 'bob', 400, 'bad_request'],
  ])('%s is not sent at all', async (_, text, sip_status, code) => {
    const engine = platformWith([])
    engine.hasTls = false
    const { call_sid } = await placeOn(engine, { ...callRequest, ...sipUri(text) })
    expect(engine.sent).toEqual([])
    expect(engine.store.notifications).toMatchObject([{ call_status: 'failed', sip_status }])
    expect(engine.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ type: 'refusal', code }),
    )
  })
})

describe('a call to a phone', () => {
  const to = { type: 'phone', number: '+15550100' } as const
  const gateway = (host: string) => ({ sip_gateway_sid: host, host, port: 5060, protocol: 'udp' }) as const
  const carriers = [outboundCarrier('first', { gateways: [gateway('10.0.0.9'), gateway('5.5.5.5')] })]

  function arrange(changes: Partial<ScriptedEngine> = {}): ScriptedEngine {
    return Object.assign(platformWith([{ verb: 'speak' }]), { waysOut: carriers }, changes)
  }
  const placeFrom = (engine: ScriptedEngine) => placeOn(engine, { ...callRequest, to })
  const uris = ({ sent }: ScriptedEngine) => sent.map(({ options }) => options.uri)

  it('is tried at one gateway after another, those inside last, and recorded once with the last', async () => {
    const engine = arrange()
    const { call_id } = await placeFrom(engine)
    engine.sent[0]?.progress(180)
    engine.sent[0]?.refuse(503)
    await settle()
    expect(uris(engine)).toEqual([
      'sip:15550100@5.5.5.5;transport=udp',
      'sip:15550100@10.0.0.9;transport=udp',
    ])
    expect(engine.sent.map(({ callId }) => callId)).toEqual([call_id, call_id])
    engine.clock.advance(3000)
    engine.sent[1]?.answer()
    await settle()
    engine.clock.advance(1000)
    await settle()
    expect(engine.store.statuses).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(engine.store.records).toMatchObject([
      { trunk: 'first', remote_host: '10.0.0.9', to: '15550100', answered: true },
    ])
  })

  it('is ended when its node has been cut off from the database for a minute, and a call that costs nothing stays', async () => {
    const engine = arrange({})
    await engine.calls.start()
    engine.hooks.on('/call', [{ verb: 'wait', ms: 9_000_000 }])
    const inbound = engine.ring()
    await placeFrom(engine)
    engine.sent[0]?.answer()
    await settle()
    engine.store.listener?.cutOff?.()
    await settle()
    expect(engine.store.records).toMatchObject([
      { trunk: 'first', answered: true, failure: { code: 'database_unavailable' } },
    ])
    expect(inbound.dialog?.sentBye).toBeUndefined()
  })

  it('goes on with the next carrier of its route', async () => {
    const [a, b] = [outboundCarrier('a'), outboundCarrier('b', { tech_prefix: '99' })]
    const entries = [a, b].map(({ voip_carrier_sid }, priority) => ({
      voip_carrier_sid,
      priority,
      workload: 1,
    }))
    const dialPlan = { routes: [{ regex: '1', size: 5, matches: () => true, entries }], fallback: undefined }
    const engine = arrange({ waysOut: [b, a], dialPlan })
    await placeFrom(engine)
    engine.sent[0]?.refuse(500)
    await settle()
    engine.sent[1]?.refuse(500)
    await settle()
    expect(uris(engine)).toEqual([
      'sip:15550100@192.0.2.10;transport=udp',
      'sip:9915550100@192.0.2.10;transport=udp',
    ])
    expect(engine.store.records).toMatchObject([{ trunk: 'b', sip_status: 500 }])
  })

  it('names each gateway of a host by its port, where that is not the usual one', async () => {
    const gateways = [gateway('5.5.5.5'), { ...gateway('5.5.5.5'), sip_gateway_sid: 'other', port: 5080 }]
    const engine = arrange({ waysOut: [outboundCarrier('first', { gateways })] })
    const { call_sid } = await placeFrom(engine)
    engine.sent[0]?.refuse(503, tagged)
    await settle()
    engine.sent[1]?.refuse(503, tagged)
    await settle()
    expect(endsOf(engine, call_sid).map((text) => text.split(': ')[0])).toEqual(['5.5.5.5', '5.5.5.5:5080'])
  })

  it.each([486, 487, 600, 603, 604])('that is refused with %i is not tried elsewhere', async (status) => {
    const engine = arrange()
    await placeFrom(engine)
    engine.sent[0]?.refuse(status)
    await settle()
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.records).toMatchObject([{ sip_status: status }])
  })

  it('that was heard already is not tried elsewhere', async () => {
    const engine = arrange()
    await placeFrom(engine)
    engine.sent[0]?.progress(183, 'v=0 announcement')
    engine.sent[0]?.refuse(503)
    await settle()
    expect(engine.sent).toHaveLength(1)
  })

  const endsOf = ({ store }: ScriptedEngine, call_sid: string) =>
    store
      .journalOf(call_sid)
      .flatMap((event) =>
        event.type === 'attempt-ended'
          ? [`${event.place}: ${event.outcome}, ${event.cause}, ${event.post_dial_delay_ms} ms`]
          : [],
      )
  const tagged = [{ name: 'to', value: '<sip:15550100@5.5.5.5>;tag=gw' }]

  it('waits two seconds for a gateway that says nothing, and journals what came of each', async () => {
    const engine = arrange()
    const { call_sid } = await placeFrom(engine)
    engine.clock.advance(1_999)
    await settle()
    expect(engine.sent).toHaveLength(1)
    engine.clock.advance(1)
    await settle()
    expect(engine.sent).toHaveLength(2)
    expect(engine.sent[0]?.cancelled).toBeDefined()
    // The last place is given the time of its transaction.
    engine.clock.advance(20_000)
    engine.sent[1]?.progress(180)
    engine.clock.advance(3_000)
    engine.sent[1]?.answer()
    await settle()
    expect(endsOf(engine, call_sid)).toEqual([
      '5.5.5.5: silent, no response, 2000 ms',
      '10.0.0.9: answered, 200 OK, 20000 ms',
    ])
    expect(engine.gatewaySigns).toEqual(['5.5.5.5: silent', '10.0.0.9: alive'])
    await engine.calls.hangUp(account.account_sid, call_sid)
    await settle()
    expect(engine.store.records[0]?.attempts).toMatchObject([
      { trunk: 'first', sip_gateway_sid: '5.5.5.5', outcome: 'silent', post_dial_delay_ms: 2000 },
      { trunk: 'first', sip_gateway_sid: '10.0.0.9', outcome: 'answered', post_dial_delay_ms: 20_000 },
    ])
  })

  it('names a gateway unreachable that no INVITE could be sent to, by a lost connection or within two seconds', async () => {
    for (const after of [503, 'silence'] as const) {
      const engine = arrange()
      const { call_sid } = await placeFrom(engine)
      engine.sent[0]!.wasSent = false
      if (after === 503) engine.sent[0]?.refuse(503)
      else engine.clock.advance(2_000)
      await settle()
      engine.sent[1]!.wasSent = false
      engine.sent[1]?.refuse(503)
      await settle()
      const waited = after === 503 ? 0 : 2_000
      expect(endsOf(engine, call_sid)).toEqual([
        `5.5.5.5: unreachable, the INVITE could not be sent, ${waited} ms`,
        '10.0.0.9: unreachable, the INVITE could not be sent, 0 ms',
      ])
      expect(engine.gatewaySigns).toEqual(['5.5.5.5: silent', '10.0.0.9: silent'])
      expect(engine.store.records[0]).toMatchObject({
        termination_reason: expect.stringMatching(/^failed: the INVITE could not be sent to \S+$/),
      })
    }
  })

  it('tries each address of a gateway for two seconds, and finds the gateway dead with the last one', async () => {
    const engine = arrange()
    const alternative = { transport: 'udp', address: '192.0.2.55', port: 5060 } as const
    engine.elsewhere = (uri) => (uri.includes('5.5.5.5') ? { alternatives: [alternative] } : {})
    const { call_sid } = await placeFrom(engine)
    engine.clock.advance(2_000)
    await settle()
    expect(engine.sent.map(({ options }) => options.destination?.address)).toEqual(['5.5.5.5', '192.0.2.55'])
    expect(engine.gatewaySigns).toEqual([])
    engine.sent[1]?.refuse(503, tagged)
    await settle()
    expect(engine.sent).toHaveLength(3)
    expect(engine.resting).toEqual(['5.5.5.5', '192.0.2.55'])
    expect(engine.gatewaySigns).toEqual(['5.5.5.5: alive'])
    expect(endsOf(engine, call_sid)).toEqual([
      '5.5.5.5: silent, no response, 2000 ms',
      '5.5.5.5: refused, 503 Service Unavailable, 0 ms',
    ])
    // A hang-up by the caller does not count against the place.
    await engine.calls.hangUp(account.account_sid, call_sid)
    await settle()
    expect(engine.resting).toHaveLength(2)
  })

  it('stays with a gateway that has said Trying, however long it takes', async () => {
    const engine = arrange()
    const { call_sid } = await placeFrom(engine)
    engine.sent[0]?.progress(100)
    engine.clock.advance(30_000)
    await settle()
    expect(engine.sent).toHaveLength(1)
    engine.sent[0]?.refuse(404, tagged)
    await settle()
    expect(endsOf(engine, call_sid)).toEqual(['5.5.5.5: refused, 404 Not Found, 30000 ms'])
    expect(engine.store.records).toMatchObject([{ sip_status: 404 }])
  })

  it.each([
    [[{ name: 'retry-after', value: '30' }], 'overloaded'],
    [[], 'alive'],
  ])('with 503 and %o finds the gateway %2$s', async (headers, kind) => {
    const engine = arrange()
    await placeFrom(engine)
    engine.sent[0]?.refuse(503, [...tagged, ...headers])
    await settle()
    expect(engine.gatewaySigns).toEqual([`5.5.5.5: ${kind}`])
    expect(engine.sent).toHaveLength(2)
  })

  it.each([
    ['one that is down', ['5.5.5.5'], ['10.0.0.9'], 'phone-gateway-down: 5.5.5.5 of first'],
    ['none where all are down', ['5.5.5.5', '10.0.0.9'], ['5.5.5.5'], undefined],
  ])('leaves out %s', async (_, down, called, decision) => {
    const engine = arrange()
    for (const sid of down) engine.gatewaysDown.add(sid)
    const { call_sid } = await placeFrom(engine)
    expect(engine.sent.map(({ options }) => options.destination?.address)).toEqual(called)
    const decisions = engine.store
      .journalOf(call_sid)
      .flatMap((event) => (event.type === 'decision' ? [`${event.rule}: ${event.outcome}`] : []))
    expect(decisions.find((text) => text.startsWith('phone-gateway-down'))).toBe(decision)
  })

  it('passes over a gateway that has no address', async () => {
    const gateways = [gateway('gone.example'), gateway('192.0.2.12')]
    const engine = arrange({ waysOut: [outboundCarrier('first', { gateways })] })
    await placeFrom(engine)
    expect(uris(engine)).toEqual(['sip:15550100@192.0.2.12;transport=udp'])
  })

  it('passes over a gateway whose certificate is not believed, and ends with that where there is no other', async () => {
    const secure = (host: string) => ({ sip_gateway_sid: host, host, port: 5061, protocol: 'tls' }) as const
    const open = async ({ name }: Remote): Promise<void> => {
      if (name !== '192.0.2.12') throw new AppError('sip_certificate', 'the certificate has expired')
    }
    const gateways = [secure('192.0.2.11'), secure('192.0.2.12')]
    const engine = arrange({ open, waysOut: [outboundCarrier('first', { gateways })] })
    await placeFrom(engine)
    expect(uris(engine)).toEqual(['sip:15550100@192.0.2.12;transport=tls'])
    const alone = arrange({ open, waysOut: [outboundCarrier('first', { gateways: [secure('192.0.2.11')] })] })
    const { call_sid } = await placeFrom(alone)
    expect(alone.sent).toEqual([])
    expect(alone.store.journalOf(call_sid)).toContainEqual(
      expect.objectContaining({ type: 'refusal', code: 'sip_certificate' }),
    )
  })

  it('fails with 480 when no gateway has one', async () => {
    const engine = arrange({ waysOut: [outboundCarrier('first', { gateways: [gateway('gone.example')] })] })
    await placeFrom(engine)
    expect(engine.store.notifications).toMatchObject([{ call_status: 'failed', sip_status: 480 }])
  })

  it('given up between two gateways is not tried at the next', async () => {
    const engine = arrange()
    const { call_sid } = await placeFrom(engine)
    engine.sent[0]?.refuse(503)
    await engine.calls.hangUp(account.account_sid, call_sid)
    await settle()
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.statuses).toEqual(['trying', 'no-answer'])
  })

  it('fails with 603 when no carrier takes it, and says which rule found none', async () => {
    const engine = arrange({ waysOut: [] })
    const { call_sid } = await placeFrom(engine)
    expect(engine.store.notifications).toMatchObject([{ call_status: 'failed', sip_status: 603 }])
    const journal = engine.store.journalOf(call_sid)
    expect(journal).toContainEqual(expect.objectContaining({ type: 'decision', rule: 'phone-no-carrier' }))
    expect(journal).toContainEqual(expect.objectContaining({ type: 'refusal', code: 'no_carrier' }))
  })
})

describe('calls are not placed', () => {
  it('while the engine stops', async () => {
    const engine = platformWith([])
    await engine.calls.drain()
    await expect(placeOn(engine, callRequest)).rejects.toMatchObject({ code: 'stopping' })
    expect(engine.store.batches).toEqual([])
  })

  it('that come, by their From, from the SIP realm of another account', async () => {
    const engine = platformWith([])
    const other = { ...engine.account, account_sid: 'b', sip_realm: 'sales.two.example' }
    Object.assign(engine, { otherAccounts: [other] })
    const asked = engine.calls.prepare({ ...callRequest, fromHost: 'Sales.two.example' })
    await expect(asked).rejects.toMatchObject({ code: 'bad_request' })
    await engine.calls.prepare({ ...callRequest, fromHost: engine.account?.sip_realm ?? '' })
  })

  it('when the engine has begun to stop since they were prepared: they fail, with a record', async () => {
    const engine = platformWith([])
    const { call_sid, begin } = await engine.calls.prepare(callRequest)
    expect(engine.store.batches).toEqual([])
    await engine.calls.drain()
    await begin()
    await settle()
    expect(engine.sent).toEqual([])
    expect(engine.store.records).toMatchObject([{ call_sid, answered: false, sip_status: 503 }])
    expect(engine.calls.liveCount).toBe(0)
  })

  it('beyond what the engine carries, inbound and outbound together', async () => {
    const engine = createScriptedEngine(parsePlainVerbs, { maxCalls: 2 })
    engine.phones.set(phone.aor, [phone])
    engine.hooks.on('/call', [{ verb: 'wait', ms: 60_000 }])
    engine.ring()
    await placeOn(engine, callRequest)
    await expect(placeOn(engine, callRequest)).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('for an account that was switched off', async () => {
    const engine = platformWith([])
    engine.account = { ...account, is_active: false }
    await expect(placeOn(engine, callRequest)).rejects.toMatchObject({ code: 'account_inactive' })
  })

  it.each([
    ['an unknown application', undefined, 'bad_request'],
    ['one without hook and verbs', { ...application, call_hook: null }, 'no_application'],
  ])('for %s', async (_, found, code) => {
    const engine = platformWith([])
    engine.application = found
    await expect(placeOn(engine, callRequest)).rejects.toMatchObject({ code })
    expect(engine.store.batches).toEqual([])
  })

  it('beyond the limit of the account, which counts outbound calls by themselves', async () => {
    const engine = platformWith([{ verb: 'wait', ms: 60_000 }])
    engine.limits = { account: 1 }
    engine.ring()
    await placeOn(engine, callRequest)
    await settle()
    const { call_sid } = await placeOn(engine, callRequest)
    expect(engine.sent).toHaveLength(1)
    expect(engine.store.records).toMatchObject([{ call_sid, sip_status: 503, direction: 'outbound' }])
    expect(engine.store.notifications.at(-1)).toMatchObject({
      call_status: 'failed',
      sip_reason: 'Max Account Calls In Progress',
    })
  })
})

describe('when the engine stops', () => {
  it('ringing calls are cancelled and drained ones awaited', async () => {
    const { engine, invite } = await place()
    let isDrained = false
    const drained = engine.calls.drain().then(() => (isDrained = true))
    await settle()
    expect(isDrained).toBe(false)
    await engine.calls.hangUpAll('the platform is stopping')
    await drained
    expect(invite.cancelled).toEqual(failureFields('stopping', 'the platform is stopping'))
    expect(engine.store.records).toMatchObject([{ sip_status: 487 }])
  })
})
