// Streamed responses over real sockets, from a server whose every byte the test controls.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serveLocally, type LocalServer } from '../../test/support/local-http.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { AppError } from '../lib/errors.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from './create-outgoing.ts'
import type { Outgoing } from './outgoing.ts'
import { streamAnswer, type StreamedAnswer, type StreamedRequest } from './stream.ts'

const megabyte = 1024 * 1024
const clock = createFakeClock()
let answers: Inbox<ServerResponse>
let closed: Inbox<string>
let server: LocalServer
let outgoing: Outgoing

beforeAll(async () => {
  server = await serveLocally((request, response) => {
    response.on('close', () => closed.push(response.writableFinished ? 'sent' : 'cut'))
    request.resume()
    answers.push(response)
  })
})
afterAll(() => server.close())
beforeEach(() => {
  answers = new Inbox()
  closed = new Inbox()
  outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, clock, maxRunning: 1 })
})
afterEach(() => outgoing.close())

function open(more: Partial<StreamedRequest> = {}): Promise<StreamedAnswer> {
  return streamAnswer(outgoing, clock, {
    method: 'GET',
    url: server.url,
    subject: 'the store',
    answerTimeoutMs: 1000,
    totalTimeoutMs: 100_000,
    stallTimeoutMs: 5000,
    maxBodyBytes: 64 * megabyte,
    ...more,
  })
}

const asked = (): Promise<ServerResponse> => answers.next('the request', () => true)

/** Returns a response whose first bytes have been sent. */
async function begun(bytes: string | Buffer, more: Partial<StreamedRequest> = {}) {
  const opening = open(more)
  const response = await asked()
  response.writeHead(200, { 'content-type': 'audio/wav' }).write(bytes)
  return { response, answer: await opening }
}

async function textOf({ body }: StreamedAnswer): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function unlessOverloaded(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'overloaded') throw error
}

/** Only one request may run at a time: that it is over shows when another one may run. */
async function expectNothingRunning(): Promise<void> {
  answers = new Inbox()
  const next = until('another request to be let through', () => open().catch(unlessOverloaded))
  ;(await asked()).end('next')
  expect(await textOf(await next)).toBe('next')
}

describe('a streamed answer', () => {
  it('is there with its head, and ends with its last byte', async () => {
    const { response, answer } = await begun('one ')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'audio/wav' } })
    response.end('two')
    expect(await textOf(answer)).toBe('one two')
    expect(clock.pending).toBe(0)
    await expectNothingRunning()
  })

  it('lets the sender wait while its reader does', async () => {
    const { response, answer } = await begun('')
    const piece = Buffer.alloc(megabyte, 'x')
    let written = 0
    // Sends as much as it can: more than all buffers between the two hold.
    const send = (): void => {
      while (written < 64 * megabyte) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', send)
      }
      response.end()
    }
    send()
    const { body } = answer
    await until('the stream to be full', () => body.readableLength >= body.readableHighWaterMark)
    expect(body.readableLength).toBeLessThanOrEqual(megabyte)
    // A pause by the reader must not count as a stall of the sender.
    clock.advance(6000)
    expect(body.errored).toBeNull()
    expect(written).toBeLessThan(64 * megabyte)
    let read = 0
    for await (const chunk of body) read += (chunk as Buffer).length
    expect(read).toBe(64 * megabyte)
  })

  it('fails where the sender cuts it off', async () => {
    const { response, answer } = await begun('half of')
    response.destroy()
    await expect(textOf(answer)).rejects.toMatchObject({ code: 'hook_unreachable' })
    await expectNothingRunning()
  })

  it('fails when nothing more comes for too long', async () => {
    const { answer } = await begun('half of')
    await once(answer.body, 'readable')
    clock.advance(5001)
    await expect(textOf(answer)).rejects.toMatchObject({
      code: 'hook_timeout',
      message: 'the store stopped in the middle of its answer',
    })
    await closed.next('the connection to close', (how) => how === 'cut')
    await expectNothingRunning()
  })

  it('fails when it is longer than may be', async () => {
    const { answer } = await begun('four', { maxBodyBytes: 3 })
    await expect(textOf(answer)).rejects.toMatchObject({ code: 'hook_too_large' })
  })

  it('ends the request when it is destroyed, whether it waits or flows', async () => {
    const { answer } = await begun('half of')
    answer.body.destroy()
    await closed.next('the connection to close', (how) => how === 'cut')
    expect(clock.pending).toBe(0)
    await expectNothingRunning()
  })

  it('lets go of the request also when all of it had come and its end was the end of the connection', async () => {
    const opening = open()
    const response = await asked()
    // More than the stream holds, and nothing after that: the rest waits for a reader.
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { connection: 'close' })
    response.end(Buffer.alloc(70_000))
    const { body } = await opening
    await closed.next('all to be sent', (how) => how === 'sent')
    await until('the stream to be full', () => body.readableLength >= body.readableHighWaterMark)
    body.destroy()
    await until('the request to be over', () => clock.pending === 0)
    await expectNothingRunning()
  })

  it('ends with the signal, before its head and after', async () => {
    const leaving = new AbortController()
    const { answer } = await begun('half of', { signal: leaving.signal })
    const reading = textOf(answer)
    leaving.abort(new Error('gone'))
    await expect(reading).rejects.toThrow('gone')
    await closed.next('the connection to close', (how) => how === 'cut')
    await expect(open({ signal: leaving.signal })).rejects.toThrow('gone')
  })

  it('is none when the head does not come in time', async () => {
    const opening = open()
    await asked()
    const refused = expect(opening).rejects.toMatchObject({ code: 'hook_timeout' })
    clock.advance(1001)
    await refused
  })
})
