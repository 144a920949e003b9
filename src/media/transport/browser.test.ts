// The packets of a browser over a path. The test stands in for the process of browsers.
import { describe, expect, it } from 'vitest'
import type { BrowserGates } from '../browsers/gates.ts'
import type { Clips } from '../clips/clips.ts'
import { createCoders } from '../codecs/coders.ts'
import { createLaws } from '../codecs/g711.ts'
import { Graph } from '../graph/graph.ts'
import type { SocketPair } from './ports.ts'
import { writeRtpHeader } from '../rtp/packet.ts'
import { toCompound } from '../rtp/rtcp.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { Stream } from '../stream/stream.ts'
import { BrowserTransport } from './browser.ts'
import { openTransport } from './forms.ts'

const place = { address: '203.0.113.9', port: 6000 }
const rtp = Buffer.alloc(172)
writeRtpHeader(rtp, { marker: false, payloadType: 0, sequence: 1, timestamp: 0, ssrc: 7 })
const rtcp = toCompound({ ssrc: 7, cname: 'far', sender: undefined, block: undefined, isBye: false })

function agreementOf(peer: number | 'plain'): Agreement {
  return {
    encoding: 'PCMU',
    remote: place,
    remoteRtcp: undefined,
    peer: undefined,
    hasRtcpMux: true,
    protection:
      peer === 'plain' ? { form: 'plain' } : { form: 'browser', peer, gate: { port: 1, token: 't' } },
    send: { audio: 0, event: undefined, packetMs: 20 },
    receive: { codecs: [{ encoding: 'PCMU', payloadType: 0 }], events: [], noises: [] },
    maySend: true,
    mayReceive: true,
  }
}

/** Returns paths and sockets in memory. */
function means() {
  const entered = new Map<number, (packet: Buffer) => void>()
  const sent: { readonly peer: number; readonly bytes: number }[] = []
  const gates: Pick<BrowserGates, 'enter' | 'leave'> = {
    enter(_gate, peer, onPacket) {
      entered.set(peer, onPacket)
      return (_packet, bytes) => sent.push({ peer, bytes }) > 0
    },
    leave: (peer) => void entered.delete(peer),
  }
  let onSocket: (datagram: Buffer, from: typeof place) => void = () => undefined
  let closed = 0
  const sockets: Pick<SocketPair, 'listen' | 'sendRtp' | 'sendRtcp' | 'close'> = {
    listen: (listener) => (onSocket = listener),
    sendRtp: () => true,
    sendRtcp: () => true,
    close: async () => void (closed += 1),
  }
  return {
    gates: gates as BrowserGates,
    sockets: sockets as SocketPair,
    entered,
    sent,
    closed: () => closed,
    stray: () => onSocket(Buffer.from(rtp), place),
  }
}

describe('the packets of a browser', () => {
  function open() {
    const { gates, sockets, ...rest } = means()
    const heard: string[] = []
    const transport = new BrowserTransport(sockets, gates)
    transport.listen(
      (_packet, from) => heard.push(`rtp of ${from.address}`),
      (_packet, from) => heard.push(`rtcp of ${from.address}`),
    )
    return { transport, heard, ...rest }
  }

  it('come from where its handshake was made, reports beside speech', () => {
    const { transport, heard, entered } = open()
    transport.agree(agreementOf(1))
    for (const packet of [rtp, rtcp]) entered.get(1)?.(packet)
    expect(heard).toEqual(['rtp of 203.0.113.9', 'rtcp of 203.0.113.9'])
  })

  it('are dropped before the handshake, as are those that come to the ports of the session', () => {
    const { transport, heard, entered, stray } = open()
    transport.agree({ ...agreementOf(1), remote: undefined })
    entered.get(1)?.(rtp)
    transport.agree(agreementOf(1))
    stray()
    expect(heard).toEqual([])
    entered.get(1)?.(rtp)
    expect(heard).toHaveLength(1)
  })

  it('go by the path of the last agreement, and come by no other', () => {
    const { transport, entered, sent } = open()
    expect(transport.sendRtp(rtp, 100)).toBe(false)
    transport.agree(agreementOf(1))
    transport.agree(agreementOf(2))
    expect([...entered.keys()]).toEqual([2])
    expect([transport.sendRtp(rtp, 100), transport.sendRtcp(rtcp)]).toEqual([true, true])
    expect(sent).toEqual([
      { peer: 2, bytes: 100 },
      { peer: 2, bytes: rtcp.length },
    ])
  })

  it('go nowhere once it is closed', async () => {
    const { transport, entered, closed } = open()
    transport.agree(agreementOf(1))
    await transport.close()
    expect([entered.size, closed()]).toEqual([0, 1])
  })
})

it('a stream that goes on in clear leaves the path, and comes back by another', () => {
  const { gates, sockets, entered } = means()
  const laws = createLaws()
  const coders = createCoders(laws)
  const stream = new Stream({
    id: 'stream',
    openTransport: (form) => openTransport(form, sockets, gates),
    graph: new Graph({ clips: {} as Clips, laws, coders }),
    coders,
    limits: { mediaMs: 10_000, heldMs: 60_000 },
    onEvent: () => undefined,
    now: () => 1_700_000_000_000,
  })
  const paths = ([1, 'plain', 2] as const).map((peer) => {
    stream.agree(agreementOf(peer))
    return [...entered.keys()]
  })
  expect(paths).toEqual([[1], [], [2]])
})
