import { describe, expect, it } from 'vitest'
import { callIn, listenerOf, openStage, sdp } from '../../test/support/sip-stage.ts'
import type { PeerFields, Stage } from '../../test/support/sip-stage.ts'
import { headerOf } from './message/message.ts'
import type { Owed, Reply } from './sip.ts'

const offer = { body: sdp.content }
const timer = ['Supported: timer', 'Session-Expires: 30']

type Row = readonly [what: string, fields: PeerFields, status: number, reason: RegExp]

/** Outside calls and within them. */
const everywhere: readonly Row[] = [
  ['with a header that cannot be read', { ...offer, lines: ['Max-Forwards: many'] }, 400, /max-forwards/i],
  ['with a body of another type', { content: 'hello', lines: ['Content-Type: text/plain'] }, 415, /body/i],
  ['that calls a URI of another scheme', { ...offer, uri: 'http://example.com' }, 416, /URI/],
  ['that requires what is not known', { ...offer, lines: ['Require: wonders'] }, 420, /extension/i],
  ['whose session is too short', { ...offer, lines: timer }, 422, /90 s or more, not 30 s/],
]

const outside: readonly Row[] = [
  ...everywhere,
  ['of a call that is not here', { ...offer, toTag: 'gone' }, 481, /No such call/],
  [
    'that would take the place of a call that is not here',
    { ...offer, lines: ['Replaces: none;from-tag=a;to-tag=b'] },
    481,
    /not here/,
  ],
]

async function refusedWith({ peer, soon }: Stage, fields: PeerFields, status: number) {
  peer.send('INVITE', fields)
  await soon()
  return headerOf(peer.last(String(status)), 'x-reason')
}

describe('an INVITE', () => {
  it.each(outside)('%s is refused with a reason', async (_, fields, status, reason) => {
    expect(await refusedWith(await openStage(), fields, status)).toMatch(reason)
  })

  it('that has come by another way already is refused with a reason', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { ...offer, cseq: 1 })
    await stage.soon()
    expect(await refusedWith(stage, { ...offer, cseq: 1, toTag: '' }, 482)).toMatch(/two ways|Merged/)
  })

  it('whose session is too short is handed on, so that it leaves a record', async () => {
    const refused: Owed[] = []
    const handlers = {
      invited: () => undefined,
      refused: (_: unknown, owed: Owed) => void refused.push(owed),
    }
    const { peer, soon } = await openStage({ handlers })
    peer.send('INVITE', { ...offer, lines: timer })
    await soon()
    expect(refused).toMatchObject([{ code: 'session_too_short', reply: { status: 422 } }])
    expect(refused[0]?.reply.headers).toContainEqual({ name: 'min-se', value: '90' })
  })
})

describe('an INVITE within a call', () => {
  const rows: readonly Row[] = [
    ...everywhere,
    ['that is out of order', { ...offer, cseq: 1 }, 500, /out of order/],
  ]

  it.each(rows)('%s is refused with a reason', async (_, fields, status, reason) => {
    const stage = await openStage()
    const dialog = await callIn(stage, { cseq: 5 })
    dialog.listen(listenerOf([]))
    expect(await refusedWith(stage, fields, status)).toMatch(reason)
  })

  it('that crosses another offer is refused with a reason', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const held = Promise.withResolvers<Reply>()
    dialog.listen(listenerOf([], { offered: held.promise }))
    stage.peer.send('INVITE', offer)
    await stage.soon()
    expect(await refusedWith(stage, offer, 500)).toMatch(/while another was open/)
    void dialog.reoffer({ offer: () => sdp })
    held.resolve({ status: 200, body: sdp })
    await stage.soon()
  })

  it('meets our own offer, and is refused with a reason', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([]))
    void dialog.reoffer({ offer: () => sdp })
    await stage.soon()
    expect(await refusedWith(stage, offer, 491)).toMatch(/waits for its answer/)
  })

  it('whose session is too short stands in its record', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const noted: string[] = []
    dialog.listen({ ...listenerOf([]), noted: (sentence) => void noted.push(sentence) })
    await refusedWith(stage, { ...offer, lines: timer }, 422)
    expect(noted).toEqual([expect.stringMatching(/^INVITE refused with 422: A session without/)])
  })
})
