import { generateKeyPairSync } from 'node:crypto'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { framesIn, VendorStage, wordsOf, type HeardCallOptions } from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { createGoogle } from './google.ts'
import { bytesField, fieldsOf, floatField, intField, messageOf, textField } from './protobuf.ts'

const stage = new VendorStage()
const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  await stage.clear()
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const serviceKey = JSON.stringify({
  project_id: 'house',
  client_email: 'speech@house.example',
  private_key: rsa.privateKey,
  private_key_id: 'key-1',
})

/** One call of the method, as Google sees it. */
class ServedCall {
  readonly headers: Readonly<Record<string, unknown>>
  readonly messages: Buffer[] = []
  hasEnded = false
  readonly #stream: ServerHttp2Stream

  constructor(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) {
    this.headers = headers
    this.#stream = stream
    let pending = Buffer.alloc(0)
    stream.on('error', () => undefined)
    stream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      for (; pending.length >= 5 && pending.length >= 5 + pending.readUInt32BE(1);) {
        const length = pending.readUInt32BE(1)
        this.messages.push(pending.subarray(5, 5 + length))
        pending = pending.subarray(5 + length)
      }
    })
    stream.on('end', () => (this.hasEnded = true))
  }

  get audio(): Buffer {
    return Buffer.concat(this.messages.slice(1).map((one) => one.subarray(one.length > 129 ? 3 : 2)))
  }

  /** Sends a message in two pieces. */
  say(message: Buffer): void {
    if (!this.#stream.headersSent)
      this.#stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    const prefix = Buffer.alloc(5)
    prefix.writeUInt32BE(message.length, 1)
    const whole = Buffer.concat([prefix, message])
    this.#stream.write(whole.subarray(0, 3))
    this.#stream.write(whole.subarray(3))
  }

  end(status: number, sentence = ''): void {
    const trailers = { 'grpc-status': String(status), 'grpc-message': encodeURIComponent(sentence) }
    // Without a message before, the status is in the headers.
    if (!this.#stream.headersSent)
      return this.#stream.respond({ ':status': 200, ...trailers }, { endStream: true })
    this.#stream.once('wantTrailers', () => this.#stream.sendTrailers(trailers))
    this.#stream.end()
  }

  cut(): void {
    this.#stream.session?.destroy()
  }
}

async function open(options: HeardCallOptions = {}, onCall?: (call: ServedCall) => void) {
  const calls: ServedCall[] = []
  const sessions = new Set<{ destroy(): void }>()
  const server = createServer()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream, headers) => {
    const call = new ServedCall(stream, headers)
    calls.push(call)
    onCall?.(call)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(async () => {
    for (const session of sessions) session.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const tokens = await stage.serve({
    respond: () => [200, { access_token: 'google-token', expires_in: 3600 }],
  })
  const vendor = createGoogle({
    token: `${tokens.url.replace('ws', 'http')}/token`,
    speech: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
  const call = stage.call(vendor, { settings: { service_key: serviceKey }, ...options })
  await call.opened()
  await until('the call', () => calls.length > 0)
  return { call, calls, served: calls[0]! }
}

const duration = (ms: number): Buffer =>
  messageOf(intField(1, Math.floor(ms / 1000)), intField(2, (ms % 1000) * 1e6))

const results = (...all: readonly (readonly [text: string, isFinal: boolean, endMs: number])[]): Buffer =>
  messageOf(
    ...all.map(([text, isFinal, endMs]) =>
      bytesField(
        6,
        messageOf(
          bytesField(1, messageOf(textField(1, text), floatField(2, 0.5))),
          intField(2, isFinal),
          bytesField(4, duration(endMs)),
          textField(6, 'en-us'),
        ),
      ),
    ),
  )

describe('Google', () => {
  it('is called with a token, the recognizer, and the settings in the first message', async () => {
    const { served } = await open({ hints: [{ phrase: 'Ashford', boost: 4 }], profanityFilter: true })
    expect(served.headers).toMatchObject({
      ':path': '/google.cloud.speech.v2.Speech/StreamingRecognize',
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: 'Bearer google-token',
    })
    await until('the settings', () => served.messages.length > 0)
    const first = fieldsOf(served.messages[0]!)
    expect(first?.text(3)).toBe('projects/house/locations/global/recognizers/_')
    const [streaming] = first?.messages(6) ?? []
    expect(streaming?.messages(2)[0]?.int(2)).toBe(1)
    const [config] = streaming?.messages(1) ?? []
    expect(config?.text(9)).toBe('telephony')
    expect(config?.text(10)).toBe('en-US')
    expect(config?.messages(2)[0]?.int(1)).toBe(1)
    const [decoding] = config?.messages(8) ?? []
    expect([decoding?.int(1), decoding?.int(2), decoding?.int(3)]).toEqual([1, 8000, 1])
    const [phrase] = config?.messages(6)[0]?.messages(1)[0]?.messages(2)[0]?.messages(2) ?? []
    expect([phrase?.text(1), phrase?.float(2)]).toEqual(['Ashford', 4])
  })

  it('gets audio, and no more at the end', async () => {
    const { call, served } = await open()
    await call.voice(300)
    await until('the audio', () => served.messages.length === 6)
    expect(framesIn(served.audio)).toEqual(Array.from({ length: 15 }, (_, at) => at))
    call.recogniser.close()
    await until('the end', () => served.hasEnded)
    served.say(results(['bye', true, 300]))
    served.end(0)
    const startMs = performance.now()
    expect((await call.ended()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1400)
    expect(call.finals).toEqual(['bye'])
  })

  it('reports the parts of words that may change together, and finals with their times', async () => {
    const { call, served } = await open()
    served.say(results(['one', false, 500], [' two', false, 800]))
    served.say(results(['one two', true, 1000]))
    served.say(results(['three', true, 2500]))
    const heard = await call.results(3)
    expect(heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([
      [false, 'one two'],
      [true, 'one two'],
      [true, 'three'],
    ])
    expect(heard[2]).toMatchObject({
      span: { startMs: 1000, endMs: 2500 },
      result: { language_code: 'en-us', alternatives: [{ transcript: 'three', confidence: 0.5 }] },
    })
  })

  it('is called again after a break, with what was not final', async () => {
    const { call, calls, served } = await open()
    await call.voice(1000)
    served.say(results(['one', true, 500]))
    await call.results(1)
    served.cut()
    await until('the call', () => calls.length === 2)
    await call.voice(200)
    await until('the audio', () => calls[1]!.messages.length > 3)
    expect(framesIn(calls[1]!.audio)[0]).toBe(25)
  })

  it('is called again before five minutes are over, in a pause', async () => {
    const { call, calls } = await open()
    await call.silence(275_000)
    await until('the call', () => calls.length === 2)
    expect(call.events.items.some(({ type }) => type === 'reconnecting')).toBe(false)
  })

  it.each([
    [16, 1, 'google refused the service key'],
    [8, 1, 'the quota at google is used up'],
    [14, 4, 'google ended the call with status 14 (try later)'],
  ])('after status %i has %i calls', async (status, count, because) => {
    const { call, calls } = await open({}, (one) => one.end(status, 'try later'))
    expect(await call.ended()).toMatchObject({ by: 'failed', because })
    expect(calls).toHaveLength(count)
  })

  it('is given up after damaged messages, and after one that is too long', async () => {
    const damaged = await open({}, (one) => one.say(Buffer.from([0x32, 0x7f, 1])))
    expect(await damaged.call.ended()).toMatchObject({ because: expect.stringContaining('damaged') })
    const long = await open({}, (one) => one.say(Buffer.alloc(300_000)))
    expect(await long.call.ended()).toMatchObject({
      because: expect.stringContaining('longer than accepted'),
    })
  })

  it('is kept alive while paused', async () => {
    const { call, served } = await open()
    call.recogniser.setMode('paused')
    await call.silence(6000)
    await until('the message', () => served.messages.length === 2)
  })

  it('needs a key that names a project', async () => {
    const call = stage.call(createGoogle(), { settings: { service_key: '{}' } })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('project_id') })
  })
})
