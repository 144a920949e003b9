// Tests of the vendors that listen over a WebSocket, against a server on loopback that speaks their protocols.
import { AwsV4Signer } from 'aws4fetch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { LocalServer } from '../../test/support/local-http.ts'
import { serveWebSockets, type WebSocketHandlers } from '../../test/support/web-socket.ts'
import { createAws } from './aws.ts'
import { createCustom } from './custom.ts'
import { decodeEvent, encodeEvent } from '../outgoing/event-stream.ts'
import type { Settings, VendorOptions } from './vendor.ts'

const clock = createFakeClock()
const samples = Buffer.from(Int16Array.from({ length: 10_000 }, (_, index) => index).buffer)
const recording = { sampleRate: 16_000, bytes: samples }

let outgoing: Outgoing
let server: LocalServer | undefined
beforeEach(() => {
  outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, clock })
})
afterEach(async () => {
  await outgoing.close()
  await server?.close()
  server = undefined
})

const options = (): VendorOptions => ({ scratchDir: '/nowhere', outgoing, clock, log: silentLogger })

async function serve(handlers: WebSocketHandlers): Promise<string> {
  server = await serveWebSockets(handlers)
  return server.url
}

interface Listener {
  readonly settings: (at: string) => Settings
  readonly transcribe: (at: string, settings: Settings) => Promise<string>
  /** The messages of the vendor: a final result, an interim one, a failure, nonsense. */
  readonly result: (words: string, isFinal?: boolean) => string | Buffer
  readonly failure: (reason: string) => string | Buffer
  readonly isLast: (message: string | Buffer) => boolean
}

const event = (type: string, document: object, messageType = 'event'): Buffer =>
  encodeEvent({
    headers: {
      [messageType === 'event' ? ':event-type' : ':exception-type']: type,
      ':content-type': 'application/json',
      ':message-type': messageType,
    },
    payload: Buffer.from(JSON.stringify(document)),
  })

const listeners: Readonly<Record<string, Listener>> = {
  custom: {
    settings: (at) => ({
      custom_stt_url: `${at.replace('http', 'ws')}/listen?a=b`,
      auth_token: 'my-token-0123',
    }),
    transcribe: (_at, settings) =>
      createCustom(options()).recognizer!.transcribe(recording, 'en-US', settings),
    result: (transcript, is_final = true) =>
      JSON.stringify({ type: 'transcription', is_final, alternatives: [{ transcript, confidence: 0.9 }] }),
    failure: (error) => JSON.stringify({ type: 'error', error }),
    isLast: (message) => typeof message === 'string' && message.includes('"stop"'),
  },
  aws: {
    settings: () => ({
      aws_region: 'eu-west-1',
      access_key_id: 'AKIAEXAMPLE',
      secret_access_key: 'aws-secret-0123',
    }),
    transcribe: (at, settings) =>
      createAws(options(), () => at).recognizer!.transcribe(recording, 'en-US', settings),
    result: (Transcript, isFinal = true) =>
      event('TranscriptEvent', {
        Transcript: { Results: [{ IsPartial: !isFinal, Alternatives: [{ Transcript }] }] },
      }),
    failure: (Message) => event('BadRequestException', { Message }, 'exception'),
    isLast: (message) => typeof message !== 'string' && decodeEvent(message)?.payload.length === 0,
  },
}

describe.each(Object.entries(listeners))('%s', (_name, listener) => {
  const failureOf = async (handlers: WebSocketHandlers): Promise<Error> => {
    const at = await serve(handlers)
    return listener.transcribe(at, listener.settings(at)).then(
      (words) => new Error(`heard ${words}`),
      (error: Error) => error,
    )
  }
  const onLast =
    (react: NonNullable<WebSocketHandlers['message']>): NonNullable<WebSocketHandlers['message']> =>
    (message, socket) => {
      if (listener.isLast(message)) react(message, socket)
    }

  it('hears the whole recording, and its final words are what is answered', async () => {
    const at = await serve({
      message: onLast((_message, socket) => {
        socket.send(listener.result('hello wor', false))
        socket.send(listener.result('hello'))
        socket.send(listener.result('world'))
        socket.close()
      }),
    })
    expect(await listener.transcribe(at, listener.settings(at))).toBe('hello world')
  })

  it('that says why it cannot is quoted, without the secret', async () => {
    const error = await failureOf({
      open: (socket) => socket.send(listener.failure('no my-token-0123 aws-secret-0123\r\nhere')),
    })
    expect(error).toMatchObject({
      code: 'speech_failed',
      message: expect.stringMatching(/failed: no .*\[hidden\]/),
    })
    expect(error.message).not.toMatch(/[\r\n]/)
  })

  it.each([401, 403, 500, 302])('that refuses the handshake with %i is reported as such', async (status) => {
    expect(await failureOf({ refuse: () => status })).toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('accepts no WebSocket'),
    })
  })

  it('that sends nonsense is reported as such', async () => {
    expect(await failureOf({ open: (socket) => socket.send(Buffer.from('nonsense')) })).toMatchObject({
      code: 'speech_failed',
    })
  })

  it('that breaks off is reported as such', async () => {
    expect(await failureOf({ open: (socket) => socket.cut() })).toMatchObject({ code: 'speech_failed' })
  })

  it('that never closes is given up', async () => {
    const failing = failureOf({ message: onLast(() => clock.advance(20_000)) })
    expect(await failing).toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('in time'),
    })
  })

  it('that says too much is cut off', async () => {
    const error = await failureOf({
      open(socket) {
        const large = listener.result('x'.repeat(900_000), false)
        for (let sent = 0; sent < 6; sent++) socket.send(large)
      },
    })
    expect(error).toMatchObject({ code: 'speech_failed', message: expect.stringContaining('more bytes') })
  })
})

describe('a custom vendor', () => {
  it('gets a start, the samples and a stop, with its token', async () => {
    const { settings, transcribe, isLast } = listeners['custom']!
    const heard: (string | Buffer)[] = []
    let authorization: string | undefined
    let path: string | undefined
    const at = await serve({
      message(message, socket) {
        heard.push(message)
        ;({ authorization } = socket.request.headers)
        path = socket.request.url
        if (isLast(message)) socket.close()
      },
    })
    expect(await transcribe(at, settings(at))).toBe('')
    expect(path).toBe('/listen?a=b')
    expect(authorization).toBe('Bearer my-token-0123')
    expect(JSON.parse(String(heard[0]))).toEqual({
      type: 'start',
      language: 'en-US',
      format: 'raw',
      encoding: 'LINEAR16',
      interimResults: false,
      sampleRateHz: 16_000,
    })
    expect(Buffer.concat(heard.filter((message) => typeof message !== 'string'))).toEqual(samples)
    expect(JSON.parse(String(heard.at(-1)))).toEqual({ type: 'stop' })
  })

  it('is not reached on an address inside', async () => {
    const { transcribe } = listeners['custom']!
    await expect(transcribe('', { custom_stt_url: 'ws://169.254.169.254/' })).rejects.toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('may not be reached'),
    })
  })
})

describe('aws', () => {
  it('gets a signed URL, and the samples in events', async () => {
    const { settings, transcribe, isLast } = listeners['aws']!
    const heard: Buffer[] = []
    let path = ''
    const at = await serve({
      message(message, socket) {
        path = socket.request.url ?? ''
        const said = decodeEvent(message as Buffer)!
        expect(said.headers).toEqual({
          ':content-type': 'application/octet-stream',
          ':event-type': 'AudioEvent',
          ':message-type': 'event',
        })
        heard.push(said.payload)
        if (isLast(message)) socket.close()
      },
    })
    await transcribe(at, settings(at))
    expect(Buffer.concat(heard)).toEqual(samples)
    const url = new URL(path, at)
    expect(url.pathname).toBe('/stream-transcription-websocket')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      'language-code': 'en-US',
      'media-encoding': 'pcm',
      'sample-rate': '16000',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Expires': '300',
    })
    const signature = url.searchParams.get('X-Amz-Signature')
    const unsigned = new URL(url)
    for (const name of ['Signature', 'Date', 'Algorithm', 'Credential', 'SignedHeaders'])
      unsigned.searchParams.delete(`X-Amz-${name}`)
    const again = await new AwsV4Signer({
      accessKeyId: 'AKIAEXAMPLE',
      secretAccessKey: 'aws-secret-0123',
      method: 'GET',
      url: unsigned.href,
      service: 'transcribe',
      region: 'eu-west-1',
      signQuery: true,
      datetime: url.searchParams.get('X-Amz-Date')!,
    }).sign()
    expect(signature).toBe(again.url.searchParams.get('X-Amz-Signature'))
  })
})

describe('the event stream encoding', () => {
  const message = encodeEvent({ headers: { ':event-type': 'A', b: 'é' }, payload: Buffer.from('payload') })

  it('is read as it was written', () => {
    expect(decodeEvent(message)).toEqual({
      headers: { ':event-type': 'A', b: 'é' },
      payload: Buffer.from('payload'),
    })
  })

  // These figures are in the documentation's example: a message of 61 bytes with 32 of headers.
  it('has the lengths and checksums in their places', () => {
    const example = encodeEvent({
      headers: { 'content-type': 'application/json' },
      payload: Buffer.from("{'foo':'bar'}"),
    })
    expect(example.length).toBe(61)
    expect(example.readUInt32BE(4)).toBe(32)
    expect(example.readUInt32BE(8)).toBe(0x07fd8396)
    expect(example.readUInt32BE(57)).toBe(0x8d9c08b1)
  })

  it('is refused when a byte of it is another, or missing', () => {
    for (let at = 0; at < message.length; at++) {
      const damaged = Buffer.from(message)
      damaged[at]! ^= 0xff
      expect(decodeEvent(damaged)).toBeUndefined()
      expect(decodeEvent(message.subarray(0, at))).toBeUndefined()
    }
  })
})
