// Responses from elsewhere than the request went, in every way that one can be forged.
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createFakeNetwork } from '../../../test/support/fake-network.ts'
import { openStage, outgoing, peerAddress, sdp, settled } from '../../../test/support/sip-stage.ts'
import { createLayerNode, requestOf } from '../../../test/support/transactions.ts'
import { responseTo } from '../message/build.ts'
import { parseMessage } from '../message/parse-message.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import type { Remote } from '../transport/transports.ts'
import { mayAnswer } from './response-source.ts'

const transports = ['udp', 'tcp', 'tls', 'ws', 'wss'] as const
const proxyAddress = '192.0.2.77'
const at = (transport: Remote['transport'], more: Partial<Remote> = {}): Remote => ({
  transport,
  address: peerAddress,
  port: 5060,
  ...more,
})

/**
 * Sends a request to `to`. `hear` delivers a 200 from a place, and returns the statuses that the core has received so
 * far.
 */
function ask(method: string, to: Remote) {
  const clock = createFakeClock()
  const heard: number[] = []
  const shown: string[] = []
  const { layer } = createLayerNode({
    clock,
    network: createFakeNetwork({ clock }),
    address: '192.0.2.1',
    transport: { send: () => Promise.resolve() },
    isProxy: (address) => address === proxyAddress,
    onWire: ({ direction, remote }) => {
      if (direction === 'received') shown.push(remote.address)
    },
  })
  const handlers = {
    response: ({ status }: { status: number }) => void heard.push(status),
    failed: () => undefined,
  }
  const { request } = layer.request(requestOf(method), to, handlers)
  const bytes = serializeMessage(responseTo(request, { status: 200 }, { toTag: 'b' }))
  return {
    layer,
    shown,
    hear: (from: Remote): readonly number[] => {
      layer.receive(parseMessage(bytes), bytes, from)
      return heard
    },
  }
}

describe('a response', () => {
  it.each(['INVITE', 'REGISTER', 'OPTIONS', 'BYE'])('to %s is taken from nowhere else', (method) => {
    for (const transport of transports) {
      const { layer, shown, hear } = ask(method, at(transport))
      const forgers = [
        at(transport, { address: '192.0.2.66' }),
        ...transports.filter((other) => other !== transport).map((other) => at(other)),
        ...(transport === 'udp' ? [] : [at(transport, { port: 40_000 })]),
      ]
      for (const forger of forgers) expect([forger, hear(forger)]).toEqual([forger, []])
      // A stranger adds nothing to a journal.
      expect(shown).toEqual([])
      expect(layer.counters.forged).toBe(forgers.length)
      expect(hear(at(transport))).toEqual([200])
      expect(shown).toEqual([peerAddress])
      layer.stop()
    }
  })

  it('over UDP may come from another port, as NAT has it, and from our own proxies', () => {
    expect(ask('INVITE', at('udp')).hear(at('udp', { port: 40_000 }))).toEqual([200])
    expect(ask('INVITE', at('udp')).hear(at('udp', { address: proxyAddress }))).toEqual([200])
  })

  it('may come by another connection of the same address once its own is gone', async () => {
    const { layer, hear } = ask('INVITE', at('wss'))
    await new Promise(setImmediate)
    layer.connectionLost(at('wss'))
    expect(hear(at('wss', { address: '192.0.2.66', port: 40_000 }))).toEqual([])
    expect(hear(at('ws', { port: 40_000 }))).toEqual([])
    expect(hear(at('wss', { port: 40_000 }))).toEqual([200])
  })

  it('from a far end that proved its name comes from that name alone, also by another connection', () => {
    const source = { sentTo: at('tls', { name: 'a.example' }), isProxy: () => false }
    for (const isLost of [false, true]) {
      expect(mayAnswer({ ...source, isLost }, at('tls', { name: 'a.example' }))).toBe(true)
      expect(mayAnswer({ ...source, isLost }, at('tls'))).toBe(false)
    }
  })

  it('may come from another spelling of an address of IPv6', () => {
    const sentTo = at('udp', { address: '2001:db8:0:0::1' })
    const from = (address: string): boolean =>
      mayAnswer({ sentTo, isLost: false, isProxy: () => false }, at('udp', { address }))
    expect(['2001:db8::1', '2001:db8::2'].map(from)).toEqual([true, false])
  })
})

describe('an answer to a call', () => {
  it('from elsewhere is ignored, whatever its branch; the one of the called phone is accepted', async () => {
    const received: string[] = []
    const stage = await openStage({
      handlers: {
        invited: () => undefined,
        wire: ({ direction, remote }) => {
          if (direction === 'received') received.push(remote.address)
        },
      },
    })
    const { outcome } = stage.agent.invite(outgoing)
    await stage.soon()
    const request = stage.peer.request('INVITE')
    const forged = responseTo(request, { status: 200, body: sdp }, { toTag: 'evil' })
    const other = forged.headers.map((field) =>
      field.name === 'via'
        ? { ...field, value: field.value.replace('branch=z9hG4bK', 'branch=z9hG4bKx') }
        : field,
    )
    const way = { from: '192.0.2.66', to: '192.0.2.1' }
    for (const headers of [forged.headers, other])
      stage.network.deliver(serializeMessage({ ...forged, headers }), way)
    await stage.soon()
    expect(received).toEqual([])
    stage.peer.respond('INVITE', 200, { body: sdp.content })
    await stage.soon()
    expect(await settled(outcome)).toMatchObject({ kind: 'answered' })
    // A late fork is ended, and one from elsewhere is ignored.
    await stage.pass(31_000)
    stage.network.deliver(serializeMessage({ ...forged, headers: other }), way)
    await stage.soon()
    expect(stage.peer.starts.filter((start) => start !== 'INVITE')).toEqual(['ACK'])
    stage.network.deliver(serializeMessage({ ...forged, headers: other }), { ...way, from: peerAddress })
    await stage.soon()
    expect(stage.peer.starts.filter((start) => start !== 'INVITE')).toEqual(['ACK', 'ACK', 'BYE'])
    await stage.agent.stop()
  })
})
