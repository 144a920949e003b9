import { describe, expect, it } from 'vitest'
import { openStage, peerAddress, type Stage } from '../../test/support/sip-stage.ts'
import { headerOf } from './message/message.ts'
import type { OutsideOutcome, OutsideRequest } from './outside-request.ts'

const asked: OutsideRequest = {
  method: 'REGISTER',
  uri: 'sip:carrier.example',
  from: 'sip:me@carrier.example',
  to: 'sip:me@carrier.example',
  callId: 'mine',
  cseq: 7,
  headers: [{ name: 'contact', value: '<sip:me@192.0.2.1:5060>' }],
  destination: { transport: 'udp', address: peerAddress, port: 5060 },
  credentials: { username: 'me', password: 'secret' },
  limitMs: 10_000,
}

async function ask(
  stage: Stage,
  more: Partial<OutsideRequest> = {},
): Promise<() => OutsideOutcome | undefined> {
  let outcome: OutsideOutcome | undefined
  void stage.agent.request({ ...asked, ...more }).then((settled) => (outcome = settled))
  await stage.soon()
  return () => outcome
}

describe('a request outside a dialog', () => {
  it('goes out with its Call-ID and Contact and the CSeq after the last one', async () => {
    const stage = await openStage()
    const outcome = await ask(stage)
    const request = stage.peer.request('REGISTER')
    expect(request.uri).toBe('sip:carrier.example')
    expect(headerOf(request, 'call-id')).toBe('mine')
    expect(headerOf(request, 'cseq')).toBe('8 REGISTER')
    expect(headerOf(request, 'contact')).toBe('<sip:me@192.0.2.1:5060>')
    expect(headerOf(request, 'user-agent')).toBe('test')
    stage.peer.respond('REGISTER', 200, { tag: '' })
    await stage.soon()
    expect(outcome()).toMatchObject({ cseq: 8, isSilent: false, response: { status: 200 } })
  })

  it('meets a challenge with its credentials, under the next CSeq', async () => {
    const stage = await openStage()
    const outcome = await ask(stage)
    stage.peer.respond('REGISTER', 401, {
      lines: ['WWW-Authenticate: Digest realm="carrier.example", nonce="n", algorithm=MD5, qop="auth"'],
    })
    await stage.soon()
    const again = stage.peer.request('REGISTER')
    expect(headerOf(again, 'cseq')).toBe('9 REGISTER')
    expect(headerOf(again, 'authorization')).toContain('username="me"')
    stage.peer.respond(again, 403)
    await stage.soon()
    expect(outcome()).toMatchObject({ cseq: 9, isSilent: false, response: { status: 403 } })
  })

  it('is given up when its time is over, and is silent then', async () => {
    const stage = await openStage()
    const outcome = await ask(stage, { limitMs: 3_000 })
    await stage.pass(2_900)
    expect(outcome()).toBeUndefined()
    await stage.pass(200)
    expect(outcome()).toMatchObject({ isSilent: true, response: { status: 408 } })
    stage.peer.respond('REGISTER', 200)
    await stage.pass(40_000)
    expect(stage.isQuiet()).toBe(true)
  })
})
