import { afterEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { serveLocally } from '../../test/support/local-http.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { actingFor } from '../lib/acting-for.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from './create-outgoing.ts'
import type { BodySink, OutgoingAnswer } from './outgoing.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

/** Asks a server that sends a body in chunks of these bytes, once for each tenant. */
async function setUp(chunks: readonly Buffer[], headers: Record<string, string> = {}) {
  const clock = createFakeClock()
  let ms = 0
  const threadTime = new ThreadTime({ clock, measure: () => (ms += 600) })
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, threadTime })
  const server = await serveLocally((_, response) => {
    response.writeHead(200, headers)
    for (const chunk of chunks) response.write(chunk)
    response.end()
  })
  closing.push(outgoing, server)
  const ask = (sink?: BodySink): Promise<OutgoingAnswer> =>
    outgoing.request({
      url: server.url,
      method: 'GET',
      subject: 'the hook',
      answerTimeoutMs: 60_000,
      totalTimeoutMs: 60_000,
      maxBodyBytes: 32 * 1024 * 1024,
      ...(sink === undefined ? {} : { answerBody: () => sink }),
    })
  return { threadTime, ask }
}

describe('an answer', () => {
  it('is read on the time of the tenant that asked, and on no other', async () => {
    const { threadTime, ask } = await setUp([Buffer.from('[]')])
    await ask()
    expect(threadTime.waitMs('a')).toBe(0)
    await actingFor('a', () => ask())
    expect(threadTime.waitMs('a')).toBeGreaterThan(0)
    // On the connection that was kept.
    await actingFor('b', () => ask())
    expect(threadTime.waitMs('b')).toBeGreaterThan(0)
  })

  it('may have a head of 24 KiB, and a body in chunks of 64 bytes', async () => {
    const chunks = Array.from({ length: 4000 }, (_, index) => Buffer.alloc(64, index))
    const { ask } = await setUp(chunks, { 'x-a': 'a'.repeat(12_000), 'x-b': 'b'.repeat(12_000) })
    const { headers, body } = await ask()
    expect(headers['x-b']).toHaveLength(12_000)
    expect(body.equals(Buffer.concat(chunks))).toBe(true)
  })

  it('of many chunks waits for a slow reader in order, and none is parsed twice', async () => {
    const chunks = Array.from({ length: 2500 }, (_, index) => Buffer.alloc(8192, index))
    const { ask } = await setUp(chunks)
    const received: Buffer[] = []
    const before = process.threadCpuUsage()
    await ask(async (chunk) => {
      received.push(Buffer.from(chunk))
      await new Promise(setImmediate)
    })
    const { user, system } = process.threadCpuUsage(before)
    expect(Buffer.concat(received).equals(Buffer.concat(chunks))).toBe(true)
    // When all that waited was read and given back for each chunk, it took four seconds.
    expect((user + system) / 1000).toBeLessThan(1500)
  })
})
