import { describe, expect, it } from 'vitest'
import { headersOf, type HeaderField, type SipRequest, type SipResponse } from '../message/message.ts'
import {
  addressed,
  dialogHeaders,
  noteSequence,
  refreshTarget,
  contactUriOf,
  uacDialogState,
  uasDialogState,
} from './dialog-state.ts'

const fields = (text: string): HeaderField[] =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(': ')
      return { name: name.toLowerCase(), value: rest.join(': ') }
    })

const invite: SipRequest = {
  kind: 'request',
  method: 'INVITE',
  uri: 'sip:bob@b.example',
  body: new Uint8Array(),
  headers: fields(`
    From: "Alice" <sip:alice@a.example>;tag=a1
    To: <sip:bob@b.example>
    Call-ID: call
    CSeq: 7 INVITE
    Contact: "x" <sip:alice@pc.a.example>;q=1
    Record-Route: <sip:p2.example;lr>, <sip:p1.example;lr>
    Record-Route: <sip:p0.example;lr>`),
}

const ok: SipResponse = {
  kind: 'response',
  status: 200,
  reason: 'OK',
  body: new Uint8Array(),
  headers: fields(`
    From: "Alice" <sip:alice@a.example>;tag=a1
    To: <sip:bob@b.example>;tag=b1
    Call-ID: call
    CSeq: 7 INVITE
    Contact: <sip:bob@pc.b.example>
    Record-Route: <sip:p2.example;lr>, <sip:p1.example;lr>`),
}

describe('dialog state', () => {
  it('of the UAS keeps the order of Record-Route: RFC 3261 §12.1.1', () => {
    expect(uasDialogState(invite, 'b1')).toEqual({
      callId: 'call',
      localTag: 'b1',
      remoteTag: 'a1',
      local: '<sip:bob@b.example>;tag=b1',
      remote: '"Alice" <sip:alice@a.example>;tag=a1',
      routeSet: ['<sip:p2.example;lr>', '<sip:p1.example;lr>', '<sip:p0.example;lr>'],
      allowed: [],
      remoteTarget: 'sip:alice@pc.a.example',
      localSequence: 0,
      remoteSequence: 7,
    })
  })

  it('of the UAC reverses it: RFC 3261 §12.1.2', () => {
    expect(uacDialogState(invite, ok)).toMatchObject({
      localTag: 'a1',
      remoteTag: 'b1',
      routeSet: ['<sip:p1.example;lr>', '<sip:p2.example;lr>'],
      allowed: [],
      remoteTarget: 'sip:bob@pc.b.example',
      localSequence: 7,
      remoteSequence: undefined,
    })
  })

  it('reads lr in a Record-Route without <> as that of its URI, so that its proxy stays a loose router', () => {
    const headers = [
      ...invite.headers,
      { name: 'record-route', value: 'sip:p9.example;lr, sip:p8.example;lr=on' },
    ]
    const { routeSet } = uasDialogState({ ...invite, headers }, 't')
    expect(routeSet.slice(-2)).toEqual(['<sip:p9.example;lr>', '<sip:p8.example;lr=on>'])
    expect(addressed('sip:a@b', routeSet.slice(-2))).toMatchObject({
      uri: 'sip:a@b',
      nextHop: 'sip:p9.example;lr',
    })
  })

  it('leaves out a Record-Route that no request can be sent to', () => {
    const headers = [...invite.headers, { name: 'record-route', value: 'nonsense, <tel:+441234>' }]
    expect(uasDialogState({ ...invite, headers }, 'b1').routeSet).toHaveLength(3)
  })

  it('takes From for a target when there is no Contact', () => {
    const headers = invite.headers.filter(({ name }) => name !== 'contact')
    expect(uasDialogState({ ...invite, headers }, 'b1').remoteTarget).toBe('sip:alice@a.example')
  })

  it('takes only rising or equal CSeq: RFC 3261 §12.2.2', () => {
    const state = uasDialogState(invite, 'b1')
    const withSequence = (sequence: number): SipRequest => ({
      ...invite,
      headers: fields(`CSeq: ${sequence} INVITE`),
    })
    expect([8, 8, 7, 100].map((sequence) => noteSequence(state, withSequence(sequence)))).toEqual([
      true,
      true,
      false,
      true,
    ])
  })

  it('follows the Contact of a refresh, and keeps the old one when that has none', () => {
    const state = uasDialogState(invite, 'b1')
    refreshTarget(state, { ...invite, headers: fields('Contact: <sip:new@pc>') })
    refreshTarget(state, { ...invite, headers: [] })
    expect(state.remoteTarget).toBe('sip:new@pc')
  })

  it('places a request of this side', () => {
    const state = uacDialogState(invite, ok)
    expect(dialogHeaders(state, 'BYE', 8)).toEqual(
      fields(`
        Route: <sip:p1.example;lr>
        Route: <sip:p2.example;lr>
        Max-Forwards: 70
        From: "Alice" <sip:alice@a.example>;tag=a1
        To: <sip:bob@b.example>;tag=b1
        Call-ID: call
        CSeq: 8 BYE`),
    )
    expect(headersOf({ ...invite, headers: dialogHeaders(state, 'BYE', 8) }, 'via')).toEqual([])
  })
})

describe('addressed: RFC 3261 §12.2.1.1', () => {
  const target = 'sip:bob@pc.b.example'

  it('goes to the target without a route set', () => {
    expect(addressed(target, [])).toEqual({ uri: target, routes: [], nextHop: target })
  })

  it('goes through loose routers with the target in the Request-URI', () => {
    const routes = ['<sip:p1.example;lr>', '<sip:p2.example>']
    expect(addressed(target, routes)).toEqual({ uri: target, routes, nextHop: 'sip:p1.example;lr' })
  })

  it('gives a strict router its own URI and moves the target to the end', () => {
    expect(addressed(target, ['<sip:p1.example?x=y>', '<sip:p2.example;lr>'])).toEqual({
      uri: 'sip:p1.example',
      routes: ['<sip:p2.example;lr>', `<${target}>`],
      nextHop: 'sip:p1.example?x=y',
    })
  })
})

describe('contactUriOf', () => {
  it.each([
    ['<sip:a@b>, <sip:c@d>', 'sip:a@b'],
    ['sip:a@b;q=1', 'sip:a@b'],
    ['*', undefined],
    ['<tel:+441234>', undefined],
    ['<sip:>', undefined],
  ])('reads %s', (value, expected) => {
    expect(contactUriOf({ ...invite, headers: [{ name: 'contact', value }] })).toBe(expected)
  })
})
