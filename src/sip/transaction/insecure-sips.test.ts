// sips URIs and the transports that they may come over (RFC 3261 §26.2.2, RFC 5630).
import { describe, expect, it } from 'vitest'
import { callIn, openStage, peerAddress, sdp, type PeerFields } from '../../../test/support/sip-stage.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { headerOf } from '../message/message.ts'
import { refuseInsecureSips } from './insecure-sips.ts'

const contact = [`Contact: <sips:peer@${peerAddress}>`]
const uri = 'sips:bob@192.0.2.1'

async function answerTo(method: string, fields: PeerFields, options: Parameters<typeof openStage>[0] = {}) {
  const stage = await openStage(options)
  stage.peer.send(method, { toTag: '', ...fields })
  await stage.soon()
  const [first] = stage.peer.received
  return {
    stage,
    start: stage.peer.starts[0],
    code: first && headerOf(first, 'x-reason-code'),
    sentence: first && headerOf(first, 'x-reason'),
  }
}

describe('a sips URI', () => {
  it.each<[string, 'udp' | 'tcp' | 'ws', string, PeerFields, string, RegExp]>([
    [
      'as the Request-URI of an INVITE',
      'udp',
      'INVITE',
      { uri, body: sdp.content },
      '416',
      /over UDP without TLS/,
    ],
    [
      'as the Request-URI of an INVITE',
      'tcp',
      'INVITE',
      { uri, body: sdp.content },
      '416',
      /over TCP without TLS/,
    ],
    [
      'as the Request-URI of an INVITE',
      'ws',
      'INVITE',
      { uri, body: sdp.content },
      '416',
      /over WS without TLS/,
    ],
    ['as the Request-URI of a REGISTER', 'udp', 'REGISTER', { uri: 'sips:192.0.2.1' }, '416', /Request-URI/],
    ['as the Contact of an INVITE', 'udp', 'INVITE', { lines: contact, body: sdp.content }, '400', /Contact/],
    ['as the Contact of a REGISTER', 'tcp', 'REGISTER', { lines: contact }, '400', /Contact/],
  ])('%s over %s is refused, and the reason says so', async (_what, by, method, fields, start, sentence) => {
    const refused = await answerTo(method, fields, { by })
    expect(refused).toMatchObject({ start, code: 'sips_insecure', sentence: expect.stringMatching(sentence) })
    expect(refused.stage.invites).toEqual([])
  })

  it('over UDP is taken from a proxy of the operator, which may have taken it over TLS', async () => {
    const isProxy = (address: string): boolean => address === peerAddress
    const { stage } = await answerTo('INVITE', { uri, lines: contact, body: sdp.content }, { isProxy })
    expect(stage.invites).toHaveLength(1)
  })

  it.each(['tls', 'wss'] as const)('over %s is taken', async (by) => {
    const { stage } = await answerTo('INVITE', { uri, lines: contact, body: sdp.content }, { by })
    expect(stage.invites).toHaveLength(1)
  })

  it('over a clear WebSocket is taken where a trusted HTTP proxy opened it', () => {
    const headers = [{ name: 'contact', value: `"A, B" <sip:a@example.com>, ${contact[0]?.slice(9)}` }]
    const request = sipRequest('INVITE', { headers })
    const remote = { transport: 'ws', address: peerAddress, port: 5060 } as const
    expect(refuseInsecureSips(request, remote)?.status).toBe(400)
    expect(refuseInsecureSips(request, { ...remote, isForwarded: true })).toBeUndefined()
  })

  it('in a request within a call over UDP ends no call, nor does its ACK', async () => {
    const stage = await openStage()
    await callIn(stage)
    stage.peer.send('UPDATE', { uri, lines: contact })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('416')
    expect(stage.peer.starts).not.toContain('BYE')
  })
})
