// An INVITE without an offer, and our offer before the answer: in a reliable provisional response, with its answer in
// the PRACK. RFC 3262 §5.
import { describe, expect, it } from 'vitest'
import { listenerOf, openStage, sdp, type Stage } from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'
import type { IncomingInvite } from '../invites.ts'

const early = { status: 183, body: sdp }
const branch = 'z9hG4bKinvite'
const able = 'Supported: 100rel'

interface Rung {
  readonly stage: Stage
  readonly invite: IncomingInvite
  /** The bodies of the PRACKs. */
  readonly answers: (string | undefined)[]
}

async function ring(line: string): Promise<Rung> {
  const stage = await openStage({ random: () => 0 })
  stage.peer.send('INVITE', { cseq: 1, branch, lines: [line] })
  await stage.soon()
  const invite = stage.invites[0]!
  const answers: (string | undefined)[] = []
  const answered = (answer: string | undefined): void => void answers.push(answer)
  invite.listen({ answered, offered: async () => ({ status: 200, body: sdp }) })
  return { stage, invite, answers }
}

/** Confirms the response with this RSeq. */
async function prack(stage: Stage, rseq: number, body: string): Promise<void> {
  stage.peer.send('PRACK', { cseq: 1 + rseq, lines: [`RAck: ${rseq} 1 INVITE`], body })
  await stage.soon()
}

const bodiesOf = (stage: Stage, status: string, method: string): number[] =>
  stage.peer.received
    .filter((message) => message.kind === 'response' && String(message.status) === status)
    .filter((message) => headerOf(message, 'cseq')?.endsWith(method))
    .map(({ body }) => body.byteLength)

describe('an offer before the answer', () => {
  it('whose owner throws is refused with 500, and a later one is taken', async () => {
    const { stage, invite } = await ring(able)
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, sdp.content.toString())
    let isBroken = true
    invite.listen({
      answered: () => undefined,
      offered: () => {
        if (isBroken) throw new Error('broken')
        return Promise.resolve({ status: 200, body: sdp })
      },
    })
    for (const cseq of [3, 4]) {
      stage.peer.send('UPDATE', { cseq, body: sdp.content })
      await stage.soon()
      isBroken = false
    }
    expect(stage.peer.starts.slice(-2)).toEqual(['500', '200'])
  })

  it.each([able, 'Require: 100rel'])(
    'goes out reliably to a caller with %s, and its PRACK brings the answer',
    async (line) => {
      const { stage, invite, answers } = await ring(line)
      expect(invite.takesEarlyOffer).toBe(true)
      invite.progress(early)
      await stage.soon()
      const response = stage.peer.last('183')
      expect(['require', 'rseq'].map((name) => headerOf(response, name))).toEqual(['100rel', '1'])
      expect(Buffer.from(response.body).toString()).toBe(sdp.content)
      await stage.pass(1_000)
      expect(bodiesOf(stage, '183', 'INVITE')).toEqual([5, 5])
      await prack(stage, 1, 'v=answer\r\n')
      expect(stage.peer.valuesOf('200', 'cseq')).toEqual(['2 PRACK'])
      expect(answers).toEqual(['v=answer\r\n'])
      await stage.pass(10_000)
      expect(bodiesOf(stage, '183', 'INVITE')).toHaveLength(2)
      invite.reject({ status: 486 })
      await stage.soon()
      stage.peer.send('ACK', { cseq: 1, branch })
      await stage.pass(64_000)
      expect(stage.peer.starts.at(-1)).toBe('486')
      expect(stage.isQuiet()).toBe(true)
    },
  )

  it('is answered by then, so that a new offer of the caller needs not wait for its ACK', async () => {
    const { stage, invite } = await ring(able)
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, sdp.content)
    invite.accept({ body: sdp }).listen(listenerOf([]))
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 3, body: sdp.content })
    await stage.soon()
    expect(stage.peer.valuesOf('200', 'cseq').at(-1)).toBe('3 UPDATE')
  })

  it('is not repeated: neither in the 200, nor in the responses that keep the call ringing', async () => {
    const { stage, invite } = await ring(able)
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, sdp.content)
    invite.progress(early)
    await stage.pass(60_000)
    expect(bodiesOf(stage, '183', 'INVITE')).toEqual([5, 0, 0])
    const told: string[] = []
    invite.accept({ body: sdp }).listen(listenerOf(told))
    await stage.soon()
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([0])
    stage.peer.send('ACK', { cseq: 1 })
    await stage.soon()
    expect(told).toEqual(['confirmed'])
  })

  it('holds the 200 back until its PRACK, which is accepted', async () => {
    const { stage, invite, answers } = await ring(able)
    invite.progress(early)
    await stage.soon()
    invite.accept({ body: sdp })
    await stage.soon()
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([])
    await prack(stage, 1, sdp.content)
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([0])
    expect(answers).toEqual([sdp.content])
  })

  it('whose PRACK has no answer is reported so', async () => {
    const { stage, invite, answers } = await ring(able)
    invite.progress(early)
    await stage.soon()
    await prack(stage, 1, '')
    expect(answers).toEqual([undefined])
  })

  it('whose PRACK never comes ends the call with 504', async () => {
    const { stage, invite, answers } = await ring(able)
    invite.progress(early)
    await stage.pass(32_500)
    expect(stage.peer.starts).toContain('504')
    expect(answers).toEqual([])
  })

  it('does not make 180 reliable: it is sent once, without waiting for a PRACK', async () => {
    const { stage, invite } = await ring(able)
    invite.progress({ status: 180 })
    await stage.pass(2_000)
    expect(bodiesOf(stage, '180', 'INVITE')).toEqual([0])
    expect(headerOf(stage.peer.last('180'), 'rseq')).toBeUndefined()
    invite.accept({ body: sdp })
    await stage.soon()
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([5])
  })

  it('waits for the PRACK of the 180 before it, where the caller requires all reliably', async () => {
    const { stage, invite, answers } = await ring('Require: 100rel')
    invite.progress({ status: 180 })
    invite.progress(early)
    invite.accept({ body: sdp })
    await stage.soon()
    await prack(stage, 1, '')
    expect(answers).toEqual([])
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([])
    await prack(stage, 2, sdp.content)
    expect(answers).toEqual([sdp.content])
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([0])
  })

  it('refuses an offer in UPDATE with 491 until it has its answer: RFC 3311 §5.2', async () => {
    const { stage, invite } = await ring(able)
    invite.progress(early)
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 2, body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('491')
    stage.peer.send('PRACK', { cseq: 3, lines: ['RAck: 1 1 INVITE'], body: sdp.content })
    stage.peer.send('UPDATE', { cseq: 4, body: sdp.content })
    await stage.soon()
    expect(bodiesOf(stage, '200', 'UPDATE')).toEqual([5])
  })

  it('does not go out to a caller without 100rel: the 200 brings it', async () => {
    const { stage, invite } = await ring('Supported: timer')
    expect(invite.takesEarlyOffer).toBe(false)
    invite.progress(early)
    await stage.pass(60_000)
    expect(bodiesOf(stage, '183', 'INVITE')).toEqual([0, 0])
    invite.accept({ body: sdp })
    await stage.soon()
    expect(bodiesOf(stage, '200', 'INVITE')).toEqual([5])
  })
})

it('an offer of the caller is not answered by a PRACK', async () => {
  const stage = await openStage({ random: () => 0 })
  stage.peer.send('INVITE', { cseq: 1, branch, lines: ['Require: 100rel'], body: sdp.content })
  await stage.soon()
  const invite = stage.invites[0]!
  const answers: unknown[] = []
  invite.listen({ answered: (answer) => void answers.push(answer) })
  expect(invite.takesEarlyOffer).toBe(false)
  invite.progress(early)
  await stage.soon()
  await prack(stage, 1, '')
  expect(answers).toEqual([])
})
