// The process of browsers from inside, with a test in place of the library.
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Inbox, until } from '../../../test/support/wait.ts'
import { BrowserHost } from './browser-host.ts'
import { BrowserGates } from './gates.ts'
import { betweenPorts, type FarSide, type FromBrowsers, type OwnSide } from './messages.ts'
import type { PeerEvents } from './peers.ts'

const far: FarSide = {
  fingerprint: { algorithm: 'sha-256', value: 'AA:BB' },
  setup: 'actpass',
  ice: { ufrag: 'abcd', pwd: 'p'.repeat(24), candidates: [] },
}
const own: OwnSide = { ufrag: 'efgh', pwd: 'q'.repeat(24), fingerprint: far.fingerprint }
const token = 't'.repeat(64)

let said: Inbox<FromBrowsers>
let clock: ReturnType<typeof createFakeClock>
let host: BrowserHost
let gates: BrowserGates
/** The error of the library. */
let refusal: Error | undefined
let peers: {
  readonly events: PeerEvents
  readonly sent: Inbox<Buffer>
  readonly received: Inbox<Buffer>
  hasPath: boolean
  isClosed: boolean
}[]

beforeEach(() => {
  said = new Inbox()
  peers = []
  refusal = undefined
  clock = createFakeClock()
  gates = new BrowserGates()
  host = new BrowserHost({
    clock,
    post: (message) => said.push(message),
    createPeers: async ({ port }) => {
      if (port === 1) throw new Error('port 1 is taken')
      return {
        port: 45_000,
        close: () => undefined,
        open: (_far, events) => {
          if (refusal !== undefined) throw refusal
          const peer = {
            events,
            sent: new Inbox<Buffer>(),
            received: new Inbox<Buffer>(),
            hasPath: false,
            isClosed: false,
          }
          peers.push(peer)
          return {
            own,
            get hasPath() {
              return peer.hasPath
            },
            accept: () => {
              if (refusal !== undefined) throw refusal
            },
            send: (packet) => peer.sent.push(Buffer.from(packet)),
            receive: (packet) => peer.received.push(Buffer.from(packet)),
            close: () => (peer.isClosed = true),
          }
        },
      }
    },
  })
})

afterEach(() => {
  gates.close()
  host.stop()
})

const start = async (port = 0): Promise<FromBrowsers | undefined> => {
  const limits = { connectMs: 30_000, peers: 2 }
  await host.accept({ kind: 'start', bind: '127.0.0.1', port, token, limits })
  return said.items.at(-1)
}

async function gatePort(): Promise<number> {
  const ready = await start()
  if (ready?.kind !== 'ready') throw new Error('it is not ready')
  return ready.gatePort
}

describe('the process of browsers', () => {
  it('reports why it cannot start', async () => {
    expect(await start(1)).toEqual({ kind: 'failed', reason: 'port 1 is taken' })
  })

  it.each([
    [false, 'no-path'],
    [true, 'no-handshake'],
  ])('gives up a path after its time limit: with ICE completed %s, it reports %s', async (hasPath, loss) => {
    await start()
    await host.accept({ kind: 'open', peer: 7, far: undefined })
    clock.advance(60_000)
    // The far end has not answered yet: it may ring for long.
    expect(peers[0]?.isClosed).toBe(false)
    await host.accept({ kind: 'answer', peer: 7, far })
    Object.assign(peers[0] ?? {}, { hasPath })
    clock.advance(30_000)
    expect(said.items.at(-1)).toEqual({ kind: 'lost', peer: 7, loss })
    expect(peers[0]?.isClosed).toBe(true)
  })

  it('does not give up an open path, and reports its loss once', async () => {
    await start()
    await host.accept({ kind: 'open', peer: 7, far })
    peers[0]?.events.onConnected({ address: '192.0.2.9', port: 5000 })
    clock.advance(60_000)
    expect(said.items.at(-1)).toEqual({ kind: 'connected', peer: 7, address: '192.0.2.9', port: 5000 })
    for (let times = 0; times < 2; times += 1) peers[0]?.events.onLost('consent-lost')
    expect(said.items.filter(({ kind }) => kind === 'lost')).toEqual([
      { kind: 'lost', peer: 7, loss: 'consent-lost' },
    ])
  })

  it('limits the number of paths, and has room again when one is closed', async () => {
    await start()
    for (const peer of [1, 2, 3]) await host.accept({ kind: 'open', peer, far })
    expect(said.items.at(-1)).toMatchObject({ kind: 'refused', peer: 3 })
    await host.accept({ kind: 'close', peer: 1 })
    await host.accept({ kind: 'open', peer: 4, far })
    expect(said.items.at(-1)).toMatchObject({ kind: 'opened', peer: 4 })
  })

  it('delivers packets to the worker that registered for the path, and accepts none without the token', async () => {
    const port = await gatePort()
    await host.accept({ kind: 'open', peer: 7, far })
    const stranger = connect({ host: '127.0.0.1', port })
    const closed = new Promise((resolve) => stranger.once('close', resolve))
    stranger.on('error', () => undefined)
    stranger.write('x'.repeat(64))
    await closed
    const heard = new Inbox<string>()
    const send = gates.enter({ port, token }, 7, (packet) => heard.push(packet.toString()))
    send(Buffer.from('one and more'), 3)
    expect((await peers[0]?.sent.next('the packet', () => true))?.toString()).toBe('one')
    for (const text of ['two', 'three']) peers[0]?.events.onPacket(Buffer.from(text))
    await heard.next('the last one', (text) => text === 'three')
    expect(heard.items).toEqual(['two', 'three'])
  })

  it.each([
    ['says nothing', ''],
    ['says half of the token', token.slice(0, 32)],
  ])('does not wait for ever for a connection that %s', async (_, text) => {
    const port = await gatePort()
    const silent = connect({ host: '127.0.0.1', port })
    silent.on('error', () => undefined)
    const closed = new Promise((resolve) => silent.once('close', resolve))
    silent.write(text)
    await until('the connection to be waited for', () => clock.pending === 1)
    clock.advance(2000)
    await closed
    expect(clock.pending).toBe(0)
  })

  it('takes a token and packets that come in pieces', async () => {
    const port = await gatePort()
    await host.accept({ kind: 'open', peer: 7, far })
    const worker = connect({ host: '127.0.0.1', port, noDelay: true })
    onTestFinished(() => void worker.destroy())
    const bytes = Buffer.concat([Buffer.from(token), Buffer.from('000000070003', 'hex'), Buffer.from('one')])
    for (const part of [bytes.subarray(0, 10), bytes.subarray(10, 66), bytes.subarray(66)]) {
      await new Promise((resolve) => worker.write(part, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await peers[0]?.sent.next('the packet', () => true))?.toString()).toBe('one')
  })

  it('delivers packets to the worker that registered last, and none of a path that was closed', async () => {
    const port = await gatePort()
    await host.accept({ kind: 'open', peer: 7, far })
    const other = new BrowserGates()
    onTestFinished(() => other.close())
    const heard = new Inbox<string>()
    gates.enter({ port, token }, 7, () => heard.push('first'))
    const send = other.enter({ port, token }, 7, () => heard.push('second'))
    send(Buffer.from('is asked'), 8)
    await peers[0]?.sent.next('the packet after it', () => true)
    peers[0]?.events.onPacket(Buffer.from('x'))
    await heard.next('the packet', () => true)
    await host.accept({ kind: 'close', peer: 7 })
    peers[0]?.events.onPacket(Buffer.from('x'))
    send(Buffer.from('too late'), 8)
    await new Promise((resolve) => setImmediate(resolve))
    expect(heard.items).toEqual(['second'])
    expect(peers[0]?.sent.items).toHaveLength(1)
  })

  it('loses a path whose answer the library refuses, and says so of an offer', async () => {
    await start()
    await host.accept({ kind: 'open', peer: 7, far: undefined })
    refusal = new Error('no such fingerprint')
    await host.accept({ kind: 'answer', peer: 7, far })
    expect(said.items.at(-1)).toEqual({ kind: 'lost', peer: 7, loss: 'no-path' })
    await host.accept({ kind: 'open', peer: 8, far })
    expect(said.items.at(-1)).toEqual({ kind: 'refused', peer: 8, reason: 'no such fingerprint' })
    await host.accept({ kind: 'answer', peer: 9, far })
    expect(said.items).toHaveLength(4)
  })

  it('has no path before it has started', async () => {
    await host.accept({ kind: 'open', peer: 7, far })
    expect(said.items).toMatchObject([{ kind: 'refused', peer: 7 }])
  })

  it('keeps the start of a handshake for the worker whose port sends it, and accepts packets from that port', async () => {
    const port = await gatePort()
    await host.accept({ kind: 'open', peer: 7, far: { ...far, ice: undefined } })
    for (let number = 0; number < 20; number += 1) peers[0]?.events.onReply(Buffer.from(`hello ${number}`))
    const out = new Inbox<string>()
    const pass = gates.enter({ port, token }, 7 + betweenPorts, (packet) => out.push(packet.toString()))
    pass(Buffer.from('reply'), 5)
    expect((await peers[0]?.received.next('the packet', () => true))?.toString()).toBe('reply')
    peers[0]?.events.onReply(Buffer.from('last'))
    await out.next('the last one', (text) => text === 'last')
    expect(out.items).toEqual([...Array.from({ length: 8 }, (_, number) => `hello ${number}`), 'last'])
    expect(peers[0]?.sent.items).toEqual([])
  })
})
