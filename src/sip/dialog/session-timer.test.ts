// Session timers on the wire (RFC 4028), against a peer that sends only the messages of the test.
import { describe, expect, it } from 'vitest'
import {
  agentAddress,
  callIn,
  callOut,
  listenerOf,
  openStage,
  outgoing,
  sdp,
  settled,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { headerOf, headersOf } from '../message/message.ts'

const knows = 'Supported: timer'
const takesUpdate = 'Allow: INVITE, ACK, BYE, CANCEL, UPDATE'

const termsOf = (stage: Stage, start: string): (string | undefined)[] => {
  const message = stage.peer.last(start)
  return ['session-expires', 'require', 'min-se'].map((name) => headerOf(message, name))
}

describe('the session timer of a call that came in (RFC 4028 §9)', () => {
  it.each([
    ['leaves the choice', [knows, 'Session-Expires: 120'], '120;refresher=uac', 'timer'],
    ['refreshes itself', [knows, 'Session-Expires: 120;refresher=uac'], '120;refresher=uac', 'timer'],
    ['wants us to refresh', [knows, 'x: 300;refresher=uas'], '300;refresher=uas', 'timer'],
    ['requires timers', ['Require: timer', 'Session-Expires: 90'], '90;refresher=uac', 'timer'],
    ['knows none, where its proxy does', ['Session-Expires: 120'], '120;refresher=uas', undefined],
    ['knows them and asks for none', [knows], undefined, undefined],
    ['knows none, below our minimum', ['Session-Expires: 5'], undefined, undefined],
  ])('where the caller %s', async (_what, lines, terms, required) => {
    const stage = await openStage()
    await callIn(stage, { lines })
    expect(termsOf(stage, '200')).toEqual([terms, required, undefined])
  })

  it('is refused below 90 s with 422 before the owner receives the call, and so is one within it', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { lines: [knows, 'Session-Expires: 89'], body: sdp.content, toTag: '' })
    await stage.soon()
    expect(stage.invites).toHaveLength(0)
    expect(termsOf(stage, '422')).toEqual([undefined, undefined, '90'])
    const told: string[] = []
    const dialog = await callIn(stage, { toTag: '', cseq: 2 })
    dialog.listen(listenerOf(told))
    stage.peer.send('UPDATE', { lines: [knows, 'Session-Expires: 30'] })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('422')
  })

  it('ends the call with BYE a third before its end when the caller does not refresh', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage, { lines: [knows, 'Session-Expires: 90;refresher=uac'] })
    dialog.listen(listenerOf(told))
    await stage.pass(59_000)
    expect(stage.peer.starts).not.toContain('BYE')
    await stage.pass(1_500)
    expect(stage.peer.starts).toContain('BYE')
    expect(headerOf(stage.peer.last('BYE'), 'reason')).toBe('Q.850;cause=102;text="Session Timeout"')
    expect(told).toEqual(['confirmed', 'session-expired'])
    stage.peer.respond('BYE', 200)
    await stage.pass(40_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('ends a long one 32 s before its end, and begins afresh with each refresh of the caller', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage, { lines: [knows, 'Session-Expires: 300'] })
    const told: string[] = []
    dialog.listen(listenerOf(told))
    await stage.pass(200_000)
    stage.peer.send('UPDATE', { lines: [knows, 'Session-Expires: 300;refresher=uac'] })
    await stage.soon()
    expect(termsOf(stage, '200')).toEqual(['300;refresher=uac', 'timer', undefined])
    await stage.pass(267_000)
    expect(told).toEqual(['confirmed'])
    await stage.pass(1_500)
    expect(told).toEqual(['confirmed', 'session-expired'])
  })

  it('is over with a re-INVITE that asks for none', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage, { lines: [knows, 'Session-Expires: 90'] })
    const told: string[] = []
    dialog.listen(listenerOf(told))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content })
    await stage.soon()
    expect(termsOf(stage, '200')[0]).toBeUndefined()
    stage.peer.send('ACK', { cseq: 2 })
    await stage.pass(200_000)
    expect(told).toEqual(['confirmed', 'INVITE with offer'])
  })

  it('is refreshed by us at half its time, by UPDATE without a body where the caller takes it', async () => {
    const stage = await openStage()
    await callIn(stage, { lines: [knows, takesUpdate, 'Session-Expires: 100;refresher=uas'] })
    await stage.pass(49_500)
    expect(stage.peer.starts).not.toContain('UPDATE')
    await stage.pass(1_000)
    expect(termsOf(stage, 'UPDATE')[0]).toBe('100;refresher=uac')
    expect(stage.peer.last('UPDATE').body.byteLength).toBe(0)
    stage.peer.respond('UPDATE', 200, { lines: ['Session-Expires: 100;refresher=uac'] })
    await stage.pass(51_000)
    expect(stage.peer.valuesOf('UPDATE', 'cseq').at(-1)).toBe('2 UPDATE')
  })

  it('is refreshed by a re-INVITE with the description that stands, whose answer is handed on', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage, { lines: [knows, 'Session-Expires: 100;refresher=uas'] })
    dialog.listen({ ...listenerOf(told), refreshed: (answer) => void told.push(answer) })
    await stage.pass(50_500)
    expect(Buffer.from(stage.peer.last('INVITE').body).toString()).toBe(sdp.content)
    stage.peer.respond('INVITE', 200, { body: 'v=0 again\r\n' })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('ACK')
    expect(told).toEqual(['confirmed', 'v=0 again\r\n'])
    // The answer said nothing of a timer, so that there is none any more.
    await stage.pass(200_000)
    expect(stage.peer.starts).not.toContain('BYE')
  })

  it('is refreshed again after a refusal, and ends the call when no refresh is taken in time', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage, { lines: [knows, takesUpdate, 'Session-Expires: 120;refresher=uas'] })
    dialog.listen(listenerOf(told))
    for (let tries = 1; tries <= 2; tries += 1) {
      await stage.pass(tries === 1 ? 60_500 : 10_500)
      stage.peer.respond('UPDATE', 500)
      await stage.soon()
      expect(new Set(stage.peer.valuesOf('UPDATE', 'cseq')).size).toBe(tries)
    }
    await stage.pass(17_500)
    expect(told).toEqual(['confirmed', 'session-expired'])
  })

  it('raises what it asks for to the Min-SE of a 422', async () => {
    const stage = await openStage()
    await callIn(stage, { lines: [knows, takesUpdate, 'Session-Expires: 100;refresher=uas'] })
    await stage.pass(50_500)
    stage.peer.respond('UPDATE', 422, { lines: ['Min-SE: 200'] })
    await stage.soon()
    expect(termsOf(stage, 'UPDATE')).toEqual(['200;refresher=uac', undefined, '200'])
  })
})

describe('the session timer of a call that we make (RFC 4028 §7)', () => {
  it('is asked for, and is none where the far end says nothing of it', async () => {
    const stage = await openStage()
    await callOut(stage)
    expect(termsOf(stage, 'INVITE')).toEqual(['1800', undefined, undefined])
    expect(headerOf(stage.peer.last('INVITE'), 'supported')).toContain('timer')
    await stage.pass(4_000_000)
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK'])
  })

  it.each([
    ['1800;refresher=uac', 900_000, 'UPDATE'],
    ['1800', 900_000, 'UPDATE'],
    ['1800;refresher=uas', 1_768_000, 'BYE'],
    // Less than RFC 4028 §5 lets anyone ask for.
    ['10;refresher=uac', 45_000, 'UPDATE'],
  ])('that is agreed as %s leads after %i ms to %s', async (terms, ms, method) => {
    const stage = await openStage()
    await callOut(stage, {}, { lines: [takesUpdate, `Session-Expires: ${terms}`] })
    await stage.pass(ms - 1_000)
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK'])
    await stage.pass(1_500)
    expect(stage.peer.starts[2]).toBe(method)
  })

  it('is refreshed with the feature of our Contact, which each message of the dialog has', async () => {
    const stage = await openStage()
    const lines = [takesUpdate, 'Session-Expires: 100;refresher=uac']
    await callOut(stage, { contactFeature: '+sip.src' }, { lines })
    await stage.pass(50_500)
    stage.peer.send('UPDATE', { cseq: 9 })
    await stage.soon()
    const contact = `<sip:${agentAddress}:5060>;+sip.src`
    for (const start of ['INVITE', 'UPDATE', '200'])
      expect(headerOf(stage.peer.last(start), 'contact'), start).toBe(contact)
  })

  it('does not begin with a 2xx that comes after the end of the call', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage, {}, { lines: ['Session-Expires: 600;refresher=uas'] })
    void dialog.request('UPDATE')
    await stage.soon()
    stage.peer.send('BYE')
    await stage.soon()
    stage.peer.respond('UPDATE', 200, { lines: ['Session-Expires: 600;refresher=uas'] })
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('is said again in each INVITE of the dialog, so that it goes on', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage, {}, { lines: ['Session-Expires: 600;refresher=uas'] })
    void dialog.request('INVITE', { body: sdp })
    void dialog.request('INFO')
    await stage.soon()
    expect(termsOf(stage, 'INVITE')[0]).toBe('600;refresher=uas')
    expect(termsOf(stage, 'INFO')[0]).toBeUndefined()
  })

  it('that is too short for the far end is asked for once more, longer, in the same call', async () => {
    const stage = await openStage()
    const sent = stage.agent.invite(outgoing)
    await stage.soon()
    const first = stage.peer.request('INVITE')
    stage.peer.respond('INVITE', 422, { lines: ['Min-SE: 3600'] })
    await stage.soon()
    expect(termsOf(stage, 'INVITE')).toEqual(['3600', undefined, '3600'])
    expect(stage.peer.valuesOf('INVITE', 'cseq')).toEqual(['1 INVITE', '2 INVITE'])
    const second = stage.peer.request('INVITE')
    for (const name of ['call-id', 'from']) expect(headerOf(second, name)).toBe(headerOf(first, name))
    stage.peer.respond(second, 200, { body: sdp.content })
    await stage.soon()
    expect((await settled(sent.outcome)).kind).toBe('answered')
  })

  it.each([
    ['without a Min-SE', []],
    ['with one that was met', ['Min-SE: 1800']],
  ])('is not asked for again after a 422 %s', async (_what, lines) => {
    const stage = await openStage()
    const sent = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 422, { lines })
    await stage.soon()
    const outcome = await settled(sent.outcome)
    expect([outcome.kind, outcome.response.status]).toEqual(['refused', 422])
    expect(headersOf(stage.peer.last('ACK'), 'cseq')).toEqual(['1 ACK'])
  })

  it('is raised three times at most, and never after our CANCEL', async () => {
    const stage = await openStage()
    const sent = stage.agent.invite(outgoing)
    for (const minSe of [2_000, 2_001, 2_002, 2_003]) {
      await stage.soon()
      stage.peer.respond('INVITE', 422, { lines: [`Min-SE: ${minSe}`] })
    }
    await stage.soon()
    expect((await settled(sent.outcome)).response.status).toBe(422)
    expect(stage.peer.starts.filter((start) => start === 'INVITE')).toHaveLength(4)
    const cancelled = stage.agent.invite(outgoing)
    await stage.soon()
    cancelled.cancel()
    stage.peer.respond('INVITE', 422, { lines: ['Min-SE: 2000'] })
    await stage.soon()
    expect((await settled(cancelled.outcome)).response.status).toBe(487)
  })
})
