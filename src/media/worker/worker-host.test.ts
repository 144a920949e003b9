// A worker host without its thread: its requests and the timing of its sessions, over real sockets.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePorts } from '../../../test/support/ports.ts'
import { RtpPeer } from '../../../test/support/rtp-peer.ts'
import { Inbox, until } from '../../../test/support/wait.ts'
import type { FromWorker, WorkerRequest } from './messages.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { WorkerHost } from './worker-host.ts'

let directory: string
let firstPort: number
let host: WorkerHost
let said: Inbox<FromWorker>
let lastId = 0
const peers: RtpPeer[] = []

beforeAll(async () => {
  const free = await freePorts(241)
  firstPort = free + (free % 2)
  directory = await mkdtemp(join(tmpdir(), 'host-'))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

beforeEach(() => {
  said = new Inbox()
  host = new WorkerHost(
    {
      bind: '127.0.0.1',
      ports: { first: firstPort, last: firstPort + 239 },
      scratchDir: join(directory, 'scratch'),
      limits: { mediaMs: 30_000, heldMs: 0 },
    },
    (message) => said.push(message),
  )
  host.start()
})

afterEach(async () => {
  await ask({ kind: 'stop' })
  await Promise.all(peers.splice(0).map((peer) => peer.close()))
})

async function ask(request: WorkerRequest): Promise<FromWorker> {
  const id = (lastId += 1)
  await host.accept({ id, request })
  return await said.next('the answer', (one) => 'id' in one && one.id === id)
}

async function agreed(session: string): Promise<RtpPeer> {
  const peer = await RtpPeer.open()
  peers.push(peer)
  const agreement: Agreement = {
    encoding: 'PCMU',
    remote: { address: '127.0.0.1', port: peer.port },
    remoteRtcp: undefined,
    peer: '127.0.0.1',
    hasRtcpMux: false,
    protection: { form: 'plain' },
    send: { audio: 0, event: { payloadType: 101, clockRate: 8000 }, packetMs: 20 },
    receive: {
      codecs: [{ encoding: 'PCMU', payloadType: 0 }],
      events: [{ payloadType: 101, clockRate: 8000 }],
      noises: [],
    },
    maySend: true,
    mayReceive: true,
  }
  expect(await ask({ kind: 'open', session })).toMatchObject({ kind: 'reply' })
  expect(await ask({ kind: 'agree', session, agreement })).toMatchObject({ kind: 'reply', value: null })
  return peer
}

describe('a worker', () => {
  it.each<WorkerRequest>([
    { kind: 'wire', session: 'none', wiring: { hears: [] } },
    { kind: 'send-keys', session: 'none', digits: '1', durationMs: 100 },
    { kind: 'stats', session: 'none' },
    { kind: 'close', session: 'none' },
  ])('refuses $kind for a session that is closed, by one reply', async (request) => {
    expect(await ask(request)).toMatchObject({ kind: 'failure', code: 'not_found' })
    expect(said.items.filter((one) => 'id' in one && one.id === lastId)).toHaveLength(1)
  })

  it('takes a mirror of a session that it does not know, and forgets it', async () => {
    expect(await ask({ kind: 'mirror', session: 'far', wiring: {} })).toMatchObject({
      kind: 'reply',
      value: null,
    })
    expect(await ask({ kind: 'mirror', session: 'far', wiring: undefined })).toMatchObject({ kind: 'reply' })
    expect(await ask({ kind: 'mirror', session: 'far', wiring: undefined })).toMatchObject({ kind: 'reply' })
  })

  it('replies to send-keys when the last key was pressed', async () => {
    const peer = await agreed('a')
    await ask({ kind: 'send-keys', session: 'a', digits: '12', durationMs: 40 })
    await peer.caughtUp()
    const keys = peer.heard.items.filter(({ payloadType }) => payloadType === 101)
    expect([...new Set(keys.map(({ payload }) => payload[0]))]).toEqual([1, 2])
  })

  it('refuses keys that wait when their session is closed', async () => {
    await agreed('a')
    const waiting = ask({ kind: 'send-keys', session: 'a', digits: '1'.repeat(50), durationMs: 100 })
    await ask({ kind: 'close', session: 'a' })
    expect(await waiting).toMatchObject({ kind: 'failure', code: 'not_found' })
  })

  it('does not count time in which it stood still itself, as a stopped process does, as silence of the far end', async () => {
    const peer = await agreed('a')
    const clock = performance.now.bind(performance)
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock() + 33_000)
    try {
      const { length } = peer.heard.items
      await until('packets of the time after it', () => peer.heard.items.length > length + 3)
      expect(said.items.filter((one) => one.kind === 'event')).toEqual([])
    } finally {
      spy.mockRestore()
    }
  })

  it('sends for more than fifty sessions, in several phases of its tick, and continues when some are closed', async () => {
    const all: RtpPeer[] = []
    for (let index = 0; index < 110; index += 1) all.push(await agreed(`session ${index}`))
    await until('ten packets of each', () => all.every((peer) => peer.heard.items.length >= 10))
    for (const peer of all) {
      const numbers = peer.heard.items.map(({ sequence }) => sequence)
      expect(numbers.every((one, at) => at === 0 || ((one - (numbers[at - 1] ?? 0)) & 0xffff) === 1)).toBe(
        true,
      )
    }
    for (let index = 0; index < 60; index += 1) await ask({ kind: 'close', session: `session ${index}` })
    const closed = all.slice(0, 60)
    await Promise.all(closed.map((peer) => peer.caughtUp()))
    const counts = all.map((peer) => peer.heard.items.length)
    await until('the others to go on', () =>
      all.slice(60).every((peer, index) => peer.heard.items.length > (counts[60 + index] ?? 0) + 5),
    )
    expect(closed.map((peer) => peer.heard.items.length)).toEqual(counts.slice(0, 60))
  })
})
