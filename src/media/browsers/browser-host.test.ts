// The process of browsers from inside, over a library that a test plays.
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Inbox } from '../../../test/support/wait.ts'
import { BrowserHost } from './browser-host.ts'
import { BrowserGates } from './gates.ts'
import type { FarSide, FromBrowsers } from './messages.ts'
import type { PeerEvents } from './peers.ts'

const far: FarSide = {
  ufrag: 'abcd',
  pwd: 'p'.repeat(24),
  fingerprint: { algorithm: 'sha-256', value: 'AA:BB' },
  setup: 'actpass',
  candidates: [],
}
const token = 't'.repeat(64)

let said: Inbox<FromBrowsers>
let clock: ReturnType<typeof createFakeClock>
let host: BrowserHost
let gates: BrowserGates
let peers: {
  readonly events: PeerEvents
  readonly sent: Inbox<Buffer>
  hasPath: boolean
  isClosed: boolean
}[]

beforeEach(() => {
  said = new Inbox()
  peers = []
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
          const peer = { events, sent: new Inbox<Buffer>(), hasPath: false, isClosed: false }
          peers.push(peer)
          return {
            own: far,
            get hasPath() {
              return peer.hasPath
            },
            accept: () => undefined,
            send: (packet) => peer.sent.push(Buffer.from(packet)),
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
  it('says why it cannot start', async () => {
    expect(await start(1)).toEqual({ kind: 'failed', reason: 'port 1 is taken' })
  })

  it.each([
    [false, 'no-path'],
    [true, 'no-handshake'],
  ])('gives a path up after its time: with ICE at its end %s, it says %s', async (hasPath, loss) => {
    await start()
    await host.accept({ kind: 'open', peer: 7, far: undefined })
    clock.advance(60_000)
    // The far end owes its answer: it may ring for long.
    expect(peers[0]?.isClosed).toBe(false)
    await host.accept({ kind: 'answer', peer: 7, far })
    Object.assign(peers[0] ?? {}, { hasPath })
    clock.advance(30_000)
    expect(said.items.at(-1)).toEqual({ kind: 'lost', peer: 7, loss })
    expect(peers[0]?.isClosed).toBe(true)
  })

  it('gives no path up that is there, and says once that it was lost', async () => {
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

  it('has no more paths than it may, and room again when one is closed', async () => {
    await start()
    for (const peer of [1, 2, 3]) await host.accept({ kind: 'open', peer, far })
    expect(said.items.at(-1)).toMatchObject({ kind: 'refused', peer: 3 })
    await host.accept({ kind: 'close', peer: 1 })
    await host.accept({ kind: 'open', peer: 4, far })
    expect(said.items.at(-1)).toMatchObject({ kind: 'opened', peer: 4 })
  })

  it('brings packets to the worker that asked for the path, and takes none of who has no token', async () => {
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
})
