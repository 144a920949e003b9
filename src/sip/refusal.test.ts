import { describe, expect, it } from 'vitest'
import {
  callIn,
  listenerOf,
  openStage,
  sdp,
  type PeerFields,
  type Stage,
} from '../../test/support/sip-stage.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { headerOf } from './message/message.ts'
import { cleanHeaderValue, refusal, withReason } from './refusal.ts'
import type { Owed, Reply } from './message/reply.ts'

const offer = { body: sdp.content }
const timer = ['Supported: timer', 'Session-Expires: 30']

type Row = readonly [what: string, fields: PeerFields, status: number, reason: RegExp, code: ErrorCode]

it('a text becomes a header value on one line, for any reader', () => {
  expect(cleanHeaderValue(' a\r\nb\u0085c\u2028d\u2029e ')).toBe('a  b c d e')
})

it('a refusal of a description has a Warning, whose text is quoted (RFC 3261 §20.43)', () => {
  const warningOf = ({ headers = [] }: Reply) => headers.find(({ name }) => name === 'warning')?.value
  expect(warningOf(refusal('media_not_acceptable', 'no "law" \\ here', { warning: 305 }))).toBe(
    '305 switchhook "no \\"law\\" \\\\ here"',
  )
  expect(warningOf(withReason({ status: 488 }))).toMatch(/^399 switchhook "The offer has no media/)
  expect(warningOf(refusal('sip_call_unknown', 'gone'))).toBeUndefined()
})

/** Requests that are refused alike outside calls and within them. */
const everywhere: readonly Row[] = [
  [
    'with a header that cannot be read',
    { ...offer, lines: ['Max-Forwards: many'] },
    400,
    /max-forwards/i,
    'bad_request',
  ],
  [
    'with a body of another type',
    { content: 'hello', lines: ['Content-Type: text/plain'] },
    415,
    /body/i,
    'body_not_supported',
  ],
  [
    'that calls a URI of another scheme',
    { ...offer, uri: 'http://example.com' },
    416,
    /URI/,
    'uri_not_supported',
  ],
  [
    'that requires what is not known',
    { ...offer, lines: ['Require: wonders'] },
    420,
    /extension/i,
    'extension_not_supported',
  ],
  [
    'whose session is too short',
    { ...offer, lines: timer },
    422,
    /90 s or more, not 30 s/,
    'session_too_short',
  ],
]

const outside: readonly Row[] = [
  ...everywhere,
  ['of a call that is not here', { ...offer, toTag: 'gone' }, 481, /No such call/, 'sip_call_unknown'],
  [
    'that would take the place of a call that is not here',
    { ...offer, lines: ['Replaces: none;from-tag=a;to-tag=b'] },
    481,
    /not here/,
    'call_not_here',
  ],
]

async function refusedWith({ peer, soon }: Stage, fields: PeerFields, status: number) {
  peer.send('INVITE', fields)
  await soon()
  const refused = peer.last(String(status))
  return [headerOf(refused, 'x-reason'), headerOf(refused, 'x-reason-code')]
}

describe('an INVITE', () => {
  it.each(outside)('%s is refused with a reason', async (_, fields, status, reason, code) => {
    expect(await refusedWith(await openStage(), fields, status)).toEqual([
      expect.stringMatching(reason),
      code,
    ])
  })

  it('that has come by another way already is refused with a reason', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { ...offer, cseq: 1 })
    await stage.soon()
    expect(await refusedWith(stage, { ...offer, cseq: 1, toTag: '' }, 482)).toEqual([
      expect.stringMatching(/two paths|Merged/),
      'sip_request_merged',
    ])
  })

  it('that a proxy sends to the next of its targets here, once we have refused the first, is a call of its own', async () => {
    const { peer, soon, invites } = await openStage()
    peer.send('INVITE', { ...offer, cseq: 1, branch: 'z9hG4bKfirst' })
    await soon()
    invites[0]?.reject({ status: 486 })
    await soon()
    peer.send('ACK', { cseq: 1, branch: 'z9hG4bKfirst' })
    await soon()
    peer.send('INVITE', { ...offer, cseq: 1, toTag: '', uri: 'sip:mailbox@192.0.2.1' })
    await soon()
    expect(invites.map(({ request }) => request.uri)).toEqual([
      'sip:agent@192.0.2.1',
      'sip:mailbox@192.0.2.1',
    ])
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
    ['that is out of order', { ...offer, cseq: 1 }, 500, /out of order/, 'sip_out_of_order'],
  ]

  it.each(rows)('%s is refused with a reason', async (_, fields, status, reason, code) => {
    const stage = await openStage()
    const dialog = await callIn(stage, { cseq: 5 })
    dialog.listen(listenerOf([]))
    expect(await refusedWith(stage, fields, status)).toEqual([expect.stringMatching(reason), code])
  })

  it('that crosses another offer is refused with a reason', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const held = Promise.withResolvers<Reply>()
    dialog.listen(listenerOf([], { offered: held.promise }))
    stage.peer.send('INVITE', offer)
    await stage.soon()
    expect(await refusedWith(stage, offer, 500)).toEqual([
      expect.stringMatching(/while another was open/),
      'sip_out_of_order',
    ])
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
    expect(await refusedWith(stage, offer, 491)).toEqual([
      expect.stringMatching(/waits for its answer/),
      'sip_offer_pending',
    ])
  })

  it('whose session is too short stands in its record', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const noted: string[] = []
    dialog.listen({ ...listenerOf([]), noted: (sentence) => void noted.push(sentence) })
    await refusedWith(stage, { ...offer, lines: timer }, 422)
    expect(noted).toEqual([expect.stringMatching(/^INVITE refused with 422: The session interval/)])
  })
})

type Method = readonly [what: string, method: string, fields: PeerFields, status: number, code: ErrorCode]

describe('a request', () => {
  const outsideOnly: readonly Method[] = [
    ['of a method that is served in calls alone', 'INFO', {}, 481, 'sip_call_unknown'],
    ['of a method that is not served', 'PUBLISH', {}, 405, 'sip_method_not_allowed'],
    ['of a method that does not exist', 'WONDER', {}, 501, 'sip_method_unknown'],
  ]

  it.each(outsideOnly)('%s has a code outside calls', async (_, method, fields, status, code) => {
    const { peer, soon } = await openStage()
    peer.send(method, fields)
    await soon()
    expect(headerOf(peer.last(String(status)), 'x-reason-code')).toBe(code)
  })

  const within: readonly Method[] = [
    ['of a method that is not served', 'PUBLISH', {}, 405, 'sip_method_not_allowed'],
    ['of a method that does not exist', 'WONDER', {}, 501, 'sip_method_unknown'],
    ['that confirms what was not sent', 'PRACK', { lines: ['RAck: 1 1 INVITE'] }, 481, 'sip_call_unknown'],
    ['of an event that is not served', 'NOTIFY', { lines: ['Event: presence'] }, 489, 'sip_event_not_served'],
  ]

  it.each(within)('%s has a code within a call', async (_, method, fields, status, code) => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([]))
    stage.peer.send(method, fields)
    await stage.soon()
    expect(headerOf(stage.peer.last(String(status)), 'x-reason-code')).toBe(code)
  })
})
