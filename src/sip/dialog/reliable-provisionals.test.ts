// Provisional responses to a caller that requires them reliably, until its PRACK: RFC 3262 §3.
import { describe, expect, it } from 'vitest'
import {
  listenerOf,
  openStage,
  sdp,
  settled,
  type PeerFields,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'
import type { IncomingInvite } from '../invites.ts'

const demand = 'Require: 100rel'
const early = { status: 183, body: sdp }
const branch = 'z9hG4bKinvite'

async function ring(
  fields: PeerFields = {},
): Promise<{ stage: Stage; invite: IncomingInvite; told: string[] }> {
  const stage = await openStage({ random: () => 0 })
  stage.peer.send('INVITE', { cseq: 1, branch, lines: [demand], body: sdp.content, ...fields })
  await stage.soon()
  const told: string[] = []
  const invite = stage.invites[0]!
  invite.onCancel(({ method }, unconfirmed) => {
    told.push([method, ...(unconfirmed === undefined ? [] : [unconfirmed.status])].join(' '))
  })
  return { stage, invite, told }
}

/** Confirms the response with this RSeq. */
async function prack(stage: Stage, rseq: number | string, cseq?: number): Promise<void> {
  stage.peer.send('PRACK', { lines: [`RAck: ${rseq} 1 INVITE`], ...(cseq === undefined ? {} : { cseq }) })
  await stage.soon()
}

const countOf = (stage: Stage, status: string): number =>
  stage.peer.starts.filter((start) => start === status).length

describe('a provisional response to a caller that requires it reliably', () => {
  it('with a description is not dropped for others that wait: no later response repeats it', async () => {
    const { stage, invite } = await ring()
    for (const status of [180, 181, 182, 180]) invite.progress({ status })
    invite.progress(early)
    invite.progress({ status: 180 })
    for (let rseq = 1; rseq <= 5; rseq += 1) {
      await stage.soon()
      await prack(stage, rseq)
    }
    expect(stage.peer.starts.filter((start) => /^18/.test(start))).toEqual([
      '180',
      '181',
      '182',
      '183',
      '180',
    ])
  })

  it('has 100rel and a number, and is sent again at intervals that double until its PRACK', async () => {
    const { stage, invite } = await ring()
    invite.progress({ status: 180 })
    await stage.soon()
    const ringing = stage.peer.last('180')
    expect(['require', 'rseq', 'body'].map((name) => headerOf(ringing, name))).toEqual([
      '100rel',
      '1',
      undefined,
    ])
    // After 0.5, 1.5, 3.5 and 7.5 s: unlike a 2xx, T2 is not a limit.
    for (const [seconds, count] of [
      [1, 2],
      [1, 3],
      [2, 4],
      [4, 5],
      [7, 5],
    ] as const) {
      await stage.pass(seconds * 1_000)
      expect(countOf(stage, '180')).toBe(count)
    }
    await prack(stage, 1)
    expect(stage.peer.starts.at(-1)).toBe('200')
    await stage.pass(16_000)
    expect(countOf(stage, '180')).toBe(5)
  })

  it('is unreliable if the caller only supports reliable ones', async () => {
    const { stage, invite } = await ring({ lines: ['Supported: 100rel'] })
    invite.progress({ status: 180 })
    await stage.pass(2_000)
    expect(countOf(stage, '180')).toBe(1)
    expect(headerOf(stage.peer.last('180'), 'rseq')).toBeUndefined()
    await prack(stage, 1)
    expect(stage.peer.starts.at(-1)).toBe('481')
  })

  it('waits for the PRACK of the one before it', async () => {
    const { stage, invite } = await ring()
    invite.progress({ status: 180 })
    invite.progress(early)
    await stage.soon()
    expect(countOf(stage, '183')).toBe(0)
    await prack(stage, 1)
    expect(headerOf(stage.peer.last('183'), 'rseq')).toBe('2')
    expect(stage.peer.last('183').body.byteLength).toBeGreaterThan(0)
  })

  it.each(['2', '0', 'x', '1 2'])('is not confirmed by the RAck %s', async (rseq) => {
    const { stage, invite } = await ring()
    invite.progress({ status: 180 })
    await stage.soon()
    await prack(stage, rseq)
    expect(stage.peer.starts.at(-1)).toBe('481')
    await stage.pass(1_000)
    expect(countOf(stage, '180')).toBe(2)
  })

  it('that no PRACK confirms ends the call with 504, which is reported to its owner', async () => {
    const { stage, invite, told } = await ring()
    invite.progress({ status: 180 })
    await stage.pass(32_500)
    expect(stage.peer.starts).toContain('504')
    expect(told).toEqual(['INVITE 504'])
    stage.peer.send('ACK', { cseq: 1, branch })
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('is followed by another each minute, with a number of its own and no description', async () => {
    const { stage, invite } = await ring()
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1)
    await stage.pass(60_000)
    expect(headerOf(stage.peer.last('183'), 'rseq')).toBe('2')
    expect(stage.peer.last('183').body.byteLength).toBe(0)
  })

  it('is not repeated after a refusal, nor after a CANCEL, and leaves no timer', async () => {
    for (const end of ['reject', 'cancel'] as const) {
      const { stage, invite } = await ring()
      invite.progress(early)
      await stage.soon()
      if (end === 'reject') invite.reject({ status: 486 })
      else stage.peer.send('CANCEL', { cseq: 1, branch, toTag: '' })
      await stage.soon()
      stage.peer.send('ACK', { cseq: 1, branch })
      await stage.pass(64_000)
      expect(countOf(stage, '183')).toBe(1)
      expect(stage.isQuiet()).toBe(true)
    }
  })
})

describe('the 200 of a call whose provisional response has no PRACK yet', () => {
  it('waits for it where that carried the answer, and no INVITE of this side overtakes it', async () => {
    const { stage, invite } = await ring()
    invite.progress(early)
    await stage.soon()
    const dialog = invite.accept({ body: sdp })
    const told: string[] = []
    dialog.listen(listenerOf(told))
    await stage.soon()
    expect(countOf(stage, '200')).toBe(0)
    expect((await settled(dialog.request('INVITE', { body: sdp }))).status).toBe(491)
    await prack(stage, 1, 2)
    // One for the PRACK, one for the INVITE.
    expect(stage.peer.valuesOf('200', 'cseq')).toEqual(['2 PRACK', '1 INVITE'])
    stage.peer.send('ACK', { cseq: 1 })
    await stage.soon()
    expect(told).toEqual(['confirmed'])
  })

  it('is sent immediately if that had no description, and its PRACK is accepted all the same', async () => {
    const { stage, invite } = await ring()
    invite.progress({ status: 180 })
    await stage.soon()
    invite.accept({ body: sdp })
    await stage.soon()
    expect(stage.peer.valuesOf('200', 'cseq')).toEqual(['1 INVITE'])
    await prack(stage, 1, 2)
    expect(stage.peer.valuesOf('200', 'cseq')).toContain('2 PRACK')
    await stage.pass(4_000)
    expect(countOf(stage, '180')).toBe(1)
  })

  it.each([
    ['a CANCEL', '487', ['ended']],
    ['a BYE', '487', ['ended']],
    ['no PRACK at all', '504', ['prack-timeout']],
    ['our hanging up', '480', []],
  ])('is never sent after %s, but %s', async (what, status, news) => {
    const { stage, invite } = await ring()
    invite.progress(early)
    await stage.soon()
    const dialog = invite.accept({ body: sdp })
    const told: string[] = []
    dialog.listen(listenerOf(told))
    if (what === 'a CANCEL') stage.peer.send('CANCEL', { cseq: 1, branch, toTag: '' })
    else if (what === 'a BYE') stage.peer.send('BYE', { cseq: 2 })
    else if (what === 'our hanging up') void dialog.bye()
    else await stage.pass(32_500)
    await stage.soon()
    expect(stage.peer.starts).toContain(status)
    expect(stage.peer.valuesOf('200', 'cseq')).not.toContain('1 INVITE')
    expect(told).toEqual(news)
    stage.peer.send('ACK', { cseq: 1, branch })
    await stage.pass(64_000)
    expect(stage.peer.starts).not.toContain('BYE')
    expect(stage.isQuiet()).toBe(true)
  })

  it('leaves no timer when the stack stops meanwhile', async () => {
    const { stage, invite } = await ring()
    invite.progress(early)
    await stage.soon()
    invite.accept({ body: sdp })
    await stage.agent.stop()
    await stage.soon()
    expect(stage.clock.pending).toBe(0)
  })
})

describe('a PRACK with an offer (RFC 3262 §5)', () => {
  const answer = { type: 'application/sdp', content: 'v=second\r\n' }
  const offering = async (stage: Stage, rseq: number, cseq: number): Promise<void> => {
    stage.peer.send('PRACK', { lines: [`RAck: ${rseq} 1 INVITE`], cseq, body: 'v=new\r\n' })
    await stage.soon()
  }
  const ringing = async () => {
    const rung = await ring()
    const offers: string[] = []
    rung.invite.listen({
      async offered(offer) {
        offers.push(offer)
        return offers.length === 1 ? { status: 200, body: answer } : { status: 488 }
      },
    })
    return { ...rung, offers }
  }

  it('that confirms the first answer gets its own in the 200, which the 200 to the INVITE does not undo', async () => {
    const { stage, invite, offers } = await ringing()
    invite.progress(early)
    await stage.soon()
    await offering(stage, 1, 2)
    const response = stage.peer.last('200')
    expect(headerOf(response, 'cseq')).toBe('2 PRACK')
    expect(headerOf(response, 'content-type')).toBe('application/sdp')
    expect(Buffer.from(response.body).toString()).toBe(answer.content)
    await stage.pass(4_000)
    expect(countOf(stage, '183')).toBe(1)
    invite.accept({ body: sdp })
    await stage.soon()
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('1 INVITE')
    expect(stage.peer.last('200').body.byteLength).toBe(0)
    expect(offers).toEqual(['v=new\r\n'])
  })

  it('that is not acceptable is refused, and confirms the response all the same', async () => {
    const { stage, invite } = await ringing()
    invite.progress(early)
    await stage.soon()
    await offering(stage, 1, 2)
    invite.progress({ status: 180 })
    await stage.soon()
    await offering(stage, 2, 3)
    expect(stage.peer.starts.at(-1)).toBe('488')
    await stage.pass(4_000)
    expect(countOf(stage, '180')).toBe(1)
  })

  it('is not taken while the first offer has no answer', async () => {
    const { stage, invite, offers } = await ringing()
    invite.progress({ status: 180 })
    await stage.soon()
    await offering(stage, 1, 2)
    expect(stage.peer.last('200').body.byteLength).toBe(0)
    expect(offers).toEqual([])
  })
})

describe('an UPDATE with an offer before the answer (RFC 3311 §5.2)', () => {
  const answer = { type: 'application/sdp', content: 'v=second\r\n' }
  const update = async (stage: Stage, cseq: number): Promise<void> => {
    stage.peer.send('UPDATE', { cseq, body: 'v=new\r\n' })
    await stage.soon()
  }

  it('is refused with 500 until the PRACK has confirmed the first answer, and then reaches the owner', async () => {
    const { stage, invite } = await ring()
    const offers: string[] = []
    invite.listen({
      async offered(offer) {
        offers.push(offer)
        return { status: 200, body: answer }
      },
    })
    invite.progress(early)
    await stage.soon()
    await update(stage, 2)
    expect(stage.peer.starts.at(-1)).toBe('500')
    await prack(stage, 1, 3)
    await update(stage, 4)
    expect(offers).toEqual(['v=new\r\n'])
    const response = stage.peer.last('200')
    expect(headerOf(response, 'cseq')).toBe('4 UPDATE')
    expect(Buffer.from(response.body).toString()).toBe(answer.content)
  })

  it('leaves the first answer, which is out of date, out of the 200 to the INVITE', async () => {
    const { stage, invite } = await ring()
    invite.listen({ offered: async () => ({ status: 200, body: answer }) })
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, 2)
    await update(stage, 3)
    invite.accept({ body: sdp })
    await stage.soon()
    const response = stage.peer.last('200')
    expect(headerOf(response, 'cseq')).toBe('1 INVITE')
    expect(response.body.byteLength).toBe(0)
  })

  it('is refused with 488 if no listener handles it', async () => {
    const { stage, invite } = await ring()
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, 2)
    await update(stage, 3)
    expect(stage.peer.starts.at(-1)).toBe('488')
  })
})
