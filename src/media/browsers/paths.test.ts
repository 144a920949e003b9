// Paths of browsers over real UDP: both ends are processes of browsers, each with its own certificate.
import { createSocket } from 'node:dgram'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Inbox } from '../../../test/support/wait.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { BrowserPaths, type BrowserPath } from './browser-paths.ts'
import { BrowserGates } from './gates.ts'
import { betweenPorts, type FarSide, type OwnSide } from './messages.ts'

const limits = { connectMs: 30_000, peers: 16 }
const open: BrowserPaths[] = []
const pathsOf = (): BrowserPaths => {
  const paths = new BrowserPaths({
    bind: '127.0.0.1',
    port: 0,
    limits,
    clock: systemClock,
    log: silentLogger,
  })
  open.push(paths)
  return paths
}

let ours: BrowserPaths
let theirs: BrowserPaths
const gates = [new BrowserGates(), new BrowserGates()] as const

beforeAll(() => {
  ours = pathsOf()
  theirs = pathsOf()
})
afterAll(async () => {
  for (const one of gates) one.close()
  await Promise.all(open.map((one) => one.stop()))
})

interface End {
  readonly path: BrowserPath
  readonly said: Inbox<string>
}

async function openEnd(paths: BrowserPaths, far?: FarSide): Promise<End> {
  const said = new Inbox<string>()
  const path = await paths.open(far, {
    onConnected: ({ address }) => said.push(`connected ${address}`),
    onLost: (loss) => said.push(loss),
  })
  return { path, said }
}

function farOf({ own, port }: { own: OwnSide; port: number }, setup: FarSide['setup']): FarSide {
  const { ufrag, pwd, fingerprint } = own
  return { fingerprint, setup, ice: { ufrag, pwd, candidates: [{ address: '127.0.0.1', port }] } }
}

interface PairOptions {
  /** Changes their offer. */
  readonly forge?: (far: FarSide) => FarSide
  /** The port at which they find us, if it is not our own, such as that of a network between. */
  readonly port?: number
  /** The places in their offer. */
  readonly candidates?: NonNullable<FarSide['ice']>['candidates']
  /** The delay until they have our place. */
  readonly lateMs?: number
}

/** Connects a pair: their offer, our answer. */
async function pair({ forge = (far) => far, port, candidates = [], lateMs = 0 }: PairOptions = {}): Promise<
  [End, End]
> {
  const them = await openEnd(theirs)
  const far = forge(farOf(them.path, 'actpass'))
  const us = await openEnd(ours, { ...far, ice: far.ice && { ...far.ice, candidates } })
  if (lateMs > 0) await setTimeout(lateMs)
  them.path.accept(farOf({ ...us.path, port: port ?? us.path.port }, 'passive'))
  // Two paths between the same two ports differ only in their addresses, so none may outlive its test.
  onTestFinished(() => {
    us.path.close()
    them.path.close()
  })
  return [us, them]
}

/** A network between the two that loses every fifth packet, and in which strangers send STUN to us. */
async function poorNetwork(toUs: number, toThem: number): Promise<{ port: number; close: () => void }> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  let packets = 0
  socket.on('message', (packet, { port }) => {
    packets += 1
    if (packets % 5 === 0) return
    socket.send(packet, port === toUs ? toThem : toUs, '127.0.0.1')
    // A forged request is a copy of theirs with one bit of its integrity changed.
    if (port === toUs || packet[0] !== 0 || packet[1] !== 1) return
    const forged = Buffer.from(packet)
    forged[forged.length - 12] = (forged[forged.length - 12] ?? 0) ^ 1
    socket.send(forged, toUs, '127.0.0.1')
  })
  return { port: socket.address().port, close: () => socket.close() }
}

const packetOf = (mark: number): Buffer => {
  const packet = Buffer.alloc(172, mark)
  packet[0] = 0x80
  packet[1] = 0
  return packet
}

describe('a path of a browser', () => {
  it('carries packets of two workers through one UDP port, each to its own far end, also where a fifth of them is lost and STUN is forged', async () => {
    const direct = await pair()
    const network = await poorNetwork(direct[0].path.port, direct[1].path.port)
    onTestFinished(() => network.close())
    const pairs = [direct, await pair({ port: network.port })]
    for (const ends of pairs)
      for (const { said } of ends)
        expect(await said.next('the handshake', () => true)).toBe('connected 127.0.0.1')
    expect(new Set(pairs.map(([us]) => us.path.port)).size).toBe(1)
    const heard = pairs.map(([us, them], index) => {
      const [here, there] = [new Inbox<Buffer>(), new Inbox<Buffer>()]
      // Our two sessions are in two workers.
      const gate = gates[index] ?? gates[0]
      const send = gate.enter(us.path.gate, us.path.peer, (packet) => here.push(Buffer.from(packet)))
      const back = new BrowserGates()
      const sendBack = back.enter(them.path.gate, them.path.peer, (packet) => there.push(Buffer.from(packet)))
      return { here, there, send, sendBack, back }
    })
    // Packets that arrive before the gate of their worker is open are dropped. As in a call, more follow.
    let number = 0
    const speech = setInterval(() => {
      number += 1
      for (const [index, { send, sendBack }] of heard.entries()) {
        const packet = packetOf(index + 1)
        packet.writeUInt16BE(number, 2)
        send(packet, packet.length)
        sendBack(packet, packet.length)
      }
    }, 5)
    onTestFinished(() => {
      clearInterval(speech)
      for (const { back } of heard) back.close()
    })
    for (const [index, { here, there }] of heard.entries())
      for (const inbox of [here, there]) {
        await inbox.next('thirty packets', () => inbox.items.length >= 30)
        expect(new Set(inbox.items.map((one) => one[20]))).toEqual(new Set([index + 1]))
      }
  })

  it.each([
    ['whose offer names no place: it is where its checks come from', []],
    [
      'whose offer names places at which no one is',
      [
        { address: '127.0.0.1', port: 9 },
        { address: '127.0.0.2', port: 9 },
      ],
    ],
  ])('is there for a browser %s, 2 s after the offer', async (_what, candidates) => {
    const ends = await pair({ candidates, lateMs: 2000 })
    for (const { said } of ends)
      expect(await said.next('the handshake', () => true)).toBe('connected 127.0.0.1')
  })

  it('is refused to a far end with another certificate than its SDP names', async () => {
    const [us] = await pair({
      forge: (far) => {
        const { algorithm, value } = far.fingerprint
        const forged = value.startsWith('AA') ? `BB${value.slice(2)}` : `AA${value.slice(2)}`
        return { ...far, fingerprint: { algorithm, value: forged } }
      },
    })
    expect(await us.said.next('the refusal', () => true)).toBe('wrong-certificate')
  })

  it('is there without ICE as well, between two ports that lead the handshake to it', async () => {
    const them = await openEnd(theirs)
    const withoutIce = ({ own }: BrowserPath, setup: FarSide['setup']): FarSide => {
      return { fingerprint: own.fingerprint, setup, ice: undefined }
    }
    const us = await openEnd(ours, withoutIce(them.path, 'actpass'))
    them.path.accept(withoutIce(us.path, 'passive'))
    const back = new BrowserGates()
    onTestFinished(() => {
      back.close()
      us.path.close()
      them.path.close()
    })
    const heard = new Inbox<Buffer>()
    const [here] = gates
    const wires: { ours?: ReturnType<BrowserGates['enter']>; theirs?: ReturnType<BrowserGates['enter']> } = {}
    wires.ours = here.enter(us.path.gate, us.path.peer + betweenPorts, (packet) =>
      wires.theirs?.(packet, packet.length),
    )
    wires.theirs = back.enter(them.path.gate, them.path.peer + betweenPorts, (packet) =>
      wires.ours?.(packet, packet.length),
    )
    here.enter(us.path.gate, us.path.peer, (packet) => heard.push(Buffer.from(packet)))
    const send = back.enter(them.path.gate, them.path.peer, () => undefined)
    for (const { said } of [us, them])
      expect(await said.next('the handshake', () => true)).toBe('connected 127.0.0.1')
    const packet = packetOf(7)
    send(packet, packet.length)
    expect(await heard.next('the packet', () => true)).toEqual(packet)
  })
})
