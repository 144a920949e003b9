// RFC 6455 §7.1.7: a client that fails a connection need not read what the other side still sends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  endlessFrames,
  startEndlessServer,
  takenBy,
  type EndlessKind,
  type EndlessServer,
} from '../../test/support/endless-server.ts'
import { systemClock } from '../lib/clock.ts'
import { createSockets } from './create-sockets.ts'
import type { SocketEnd } from './sockets.ts'

let server: EndlessServer
beforeAll(async () => {
  server = await startEndlessServer()
  // The library is loaded at its first use, which is not to be measured.
  const closeCode = server.closeCode('a masked frame')
  await endOf('a masked frame')
  await closeCode
})
afterAll(() => server.close())

async function endOf(kind: EndlessKind): Promise<SocketEnd> {
  const { promise, resolve } = Promise.withResolvers<SocketEnd>()
  const sockets = createSockets({
    allow: ['127.0.0.0/8'],
    resolve: () => Promise.resolve([]),
    clock: systemClock,
  })
  const socket = await sockets.open({
    url: server.urlOf(kind).replace('http', 'ws'),
    headers: {},
    protocols: [],
    subject: 'the application',
    handshakeMs: 60_000,
    maxRedirects: 0,
    maxMessageBytes: 16_384,
    heard: () => undefined,
    closed: resolve,
  })
  if (kind === 'frames after our close') socket.close(1001)
  return promise
}

const ends: Readonly<
  Record<(typeof endlessFrames)[number], { code: number; sent: number; because: RegExp }>
> = {
  'fragments of a message': { code: 1008, sent: 1008, because: /a message in more pieces than are accepted/ },
  'a message that is too long': { code: 1009, sent: 1009, because: /a message that is longer than accepted/ },
  'a message of 2^63 bytes': { code: 1009, sent: 1009, because: /a message that is longer than accepted/ },
  'text that is not UTF-8': { code: 1007, sent: 1007, because: /text that is not UTF-8/ },
  'frames with reserved bits': { code: 1002, sent: 1002, because: /not a WebSocket frame/ },
  'frames of no known kind': { code: 1002, sent: 1002, because: /not a WebSocket frame/ },
  'a masked frame': { code: 1002, sent: 1002, because: /not a WebSocket frame/ },
  'frames after its close': { code: 1000, sent: 1000, because: /closed the socket with 1000/ },
  'frames after our close': { code: 1006, sent: 1001, because: /broke/ },
}

describe('a socket whose server goes on sending without end', () => {
  it.each(endlessFrames)('is cut soon after a close frame, and no longer read: %s', async (kind) => {
    const closeCode = server.closeCode(kind)
    let end: SocketEnd | undefined
    const taken = await takenBy(async () => {
      end = await endOf(kind)
    })
    const { code, sent, because } = ends[kind]
    expect(end).toEqual({ code, because: expect.stringMatching(because) })
    expect(await closeCode).toBe(sent)
    // In the two seconds of a close by the library it read hundreds of megabytes, or parsed for 700 ms.
    expect(taken.bytes).toBeLessThan(8_000_000)
    expect(taken.cpuMs).toBeLessThan(300)
  })
})
