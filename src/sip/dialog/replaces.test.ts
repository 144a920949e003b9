// INVITE with Replaces: RFC 3891 §3.
import { describe, expect, it } from 'vitest'
import {
  callIn,
  callOut,
  openStage,
  outgoing,
  sdp,
  type Stage,
  type StageOptions,
} from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { IncomingReferral } from '../dialogs.ts'

const serves = { replaces: true, referrals: true }

/** Returns the Replaces for the call that the last message of the agent belongs to. */
function idOf(stage: Stage, start: string, { callId = '', extra = '', peer = 'peer' } = {}): string {
  const message = stage.peer.last(start)
  const ours = tagOf(headerOf(message, message.kind === 'request' ? 'from' : 'to'))
  return `${callId === '' ? headerOf(message, 'call-id') : callId};to-tag=${ours};from-tag=${peer}${extra}`
}

async function take(
  stage: Stage,
  replaces: readonly string[],
  lines: readonly string[] = [],
): Promise<string> {
  stage.peer.send('INVITE', {
    callId: 'another-call',
    tag: 'new',
    toTag: '',
    cseq: 1,
    body: sdp.content,
    lines: [...replaces.map((value) => `Replaces: ${value}`), ...lines],
  })
  await stage.soon()
  return stage.peer.starts.at(-1) ?? ''
}

const open = (options: StageOptions = { serves }): Promise<Stage> => openStage(options)

describe('an INVITE that takes the place of a call', () => {
  it('names its dialog to the owner, whichever side made it, and becomes a call of its own', async () => {
    for (const make of [callIn, callOut]) {
      const stage = await open()
      const dialog = await make(stage)
      await take(stage, [idOf(stage, make === callIn ? '200' : 'INVITE')], ['Require: replaces'])
      const invite = stage.invites.at(-1)
      expect(invite?.callId).toBe('another-call')
      expect(invite?.replaces).toEqual({ kind: 'confirmed', dialog, isEarlyOnly: false })
      invite?.accept({ body: sdp })
      await stage.soon()
      expect(stage.peer.starts.at(-1)).toBe('200')
    }
  })

  it('names our INVITE that still rings there, also where it wants nothing else', async () => {
    for (const extra of ['', ';early-only']) {
      const stage = await open()
      const invite = stage.agent.invite(outgoing)
      await stage.soon()
      stage.peer.respond('INVITE', 180)
      await stage.soon()
      await take(stage, [idOf(stage, 'INVITE', { extra })])
      expect(stage.invites.at(-1)?.replaces).toEqual({ kind: 'ringing', invite })
    }
  })

  it.each([
    ['of another call', { callId: 'other' }, '481'],
    ['with another tag', { peer: 'wrong' }, '481'],
  ])('%s is refused', async (_what, change, status) => {
    const stage = await open()
    await callIn(stage)
    expect(await take(stage, [idOf(stage, '200', change)])).toBe(status)
    expect(stage.invites).toHaveLength(1)
  })

  it('with early-only for an answered call is left for the owner to refuse', async () => {
    const stage = await open()
    const dialog = await callIn(stage)
    await take(stage, [idOf(stage, '200', { extra: ';early-only' })])
    expect(stage.invites.at(-1)?.replaces).toEqual({ kind: 'confirmed', dialog, isEarlyOnly: true })
  })

  it('that rings here is refused 481: only its caller may move it', async () => {
    const stage = await open()
    stage.peer.send('INVITE', { body: sdp.content })
    await stage.soon()
    stage.invites[0]?.progress({ status: 180 })
    await stage.soon()
    expect(await take(stage, [idOf(stage, '180')])).toBe('481')
  })

  it('that is being hung up is refused 481, as one that never was', async () => {
    const stage = await open()
    const dialog = await callIn(stage)
    const id = idOf(stage, '200')
    void dialog.bye()
    await take(stage, [id])
    expect(stage.peer.starts.slice(-2).toSorted()).toEqual(['481', 'BYE'])
  })

  it('of a peer without tags is found by 0 (RFC 3891 §3)', async () => {
    const stage = await open()
    const dialog = await callOut(stage, {}, { tag: '' })
    await take(stage, [idOf(stage, 'INVITE', { peer: '0' })])
    expect(stage.invites.at(-1)?.replaces).toEqual({ kind: 'confirmed', dialog, isEarlyOnly: false })
  })

  it.each([
    ['twice', (id: string) => [[id, id], []] as const],
    ['beside Join', (id: string) => [[id], ['Join: a;to-tag=1;from-tag=2']] as const],
    ['without a tag', () => [['a@b;to-tag=1'], []] as const],
    ['that is no value', () => [['a@b;to-tag="'], []] as const],
  ])('%s is refused 400', async (_what, fields) => {
    const stage = await open()
    await callIn(stage)
    const [replaces, lines] = fields(idOf(stage, '200'))
    expect(await take(stage, replaces, lines)).toBe('400')
  })

  it('needs the extension that Supported names if the owner serves it, and is refused 501 otherwise', async () => {
    for (const [options, status, supported] of [
      [{ serves }, '', true],
      [{}, '501', false],
    ] as const) {
      const stage = await open(options)
      await callIn(stage)
      const replaces = idOf(stage, '200')
      expect(headerOf(stage.peer.last('200'), 'supported')?.split(', ').includes('replaces')).toBe(supported)
      const answer = await take(stage, [replaces])
      if (status !== '') expect(answer).toBe(status)
      expect(stage.invites).toHaveLength(supported ? 2 : 1)
    }
  })
})

describe('a REFER whose Replaces names a call that is here', () => {
  it('names its dialog to the owner', async () => {
    const stage = await open()
    const dialog = await callIn(stage)
    const referrals: IncomingReferral[] = []
    dialog.listen({
      ended: () => undefined,
      confirmed: () => undefined,
      failed: () => undefined,
      offered: async () => ({ status: 488 }),
      requested: async () => ({ status: 200 }),
      referred: (referral) => void referrals.push(referral),
    })
    for (const id of [idOf(stage, '200'), 'a@b;to-tag=1;from-tag=2']) {
      stage.peer.send('REFER', {
        lines: [`Refer-To: <sip:carol@c.example?Replaces=${encodeURIComponent(id)}>`],
      })
      await stage.soon()
    }
    expect(referrals.map(({ replaced }) => replaced)).toEqual([dialog, undefined])
  })
})
