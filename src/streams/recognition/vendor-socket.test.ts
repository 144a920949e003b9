// A recogniser over the WebSocket of a vendor that breaks off, stalls, sends garbage, or answers late: over real sockets,
// with Deepgram and the custom vendor.
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  lineOf,
  VendorStage,
  wordsOf,
  type HeardCall,
  type HeardCallOptions,
  type VendorLine,
  type VendorServer,
  type VendorServerOptions,
} from '../../../test/support/vendor-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { readJson } from '../../lib/read-json.ts'
import { custom } from './custom.ts'
import { deepgram } from './deepgram.ts'
import type { Dialect, VendorOfEars } from './dialect.ts'

const stage = new VendorStage()
const cleanUps: (() => void)[] = []
afterEach(async () => {
  await stage.clear()
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})
const server = (options?: VendorServerOptions): Promise<VendorServer> => stage.serve(options)
const caller = (vendor: VendorOfEars, options: HeardCallOptions): HeardCall => stage.call(vendor, options)

/** A call that Deepgram hears, once it is open. */
async function deepgramCall(
  options: VendorServerOptions = {},
  order: HeardCallOptions = {},
): Promise<{ readonly call: HeardCall; readonly vendor: VendorServer; readonly line: VendorLine }> {
  const vendor = await server(options)
  const call = caller(deepgram, {
    settings: { deepgram_stt_uri: vendor.url, api_key: 'dg-secret-1' },
    ...order,
  })
  await call.opened()
  return { call, vendor, line: vendor.lines.items[0]! }
}

async function customCall(order: HeardCallOptions = {}) {
  const vendor = await server()
  const call = caller(custom, {
    vendor: 'custom:house',
    settings: { custom_stt_url: vendor.url, auth_token: 'house-token' },
    ...order,
  })
  await call.opened()
  return { call, vendor, line: vendor.lines.items[0]! }
}

interface ResultsOptions {
  readonly startMs?: number
  readonly endMs?: number
  readonly isPiece?: boolean
  readonly isEnd?: boolean
}

function results(text: string, { startMs = 0, endMs = 0, isPiece, isEnd }: ResultsOptions = {}): object {
  return {
    type: 'Results',
    start: startMs / 1000,
    duration: (endMs - startMs) / 1000,
    is_final: isPiece === true || isEnd === true,
    speech_final: isEnd === true,
    channel: { alternatives: [{ transcript: text, confidence: 0.9 }] },
  }
}

describe('the audio of a recogniser', () => {
  it('reaches the vendor whole, in order, and in pieces of 60 ms while the caller speaks', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(600)
    await until('the audio', () => line.frames.length === 30)
    expect(line.frames).toEqual(Array.from({ length: 30 }, (_, at) => at))
    expect(line.received.every((message) => !Buffer.isBuffer(message) || message.length === 960)).toBe(true)
  })

  it('is sent frame by frame after a voice has ended, so that the end of an utterance waits for nothing', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(300)
    await call.silence(300)
    await until('the audio', () => line.frames.length === 30)
    expect(line.received.slice(-10).map((message) => (message as Buffer).length)).toEqual(
      Array.from({ length: 10 }, () => 320),
    )
  })

  it('has the form that the address names, which does not contain the key', async () => {
    const { line } = await deepgramCall({}, { hints: [{ phrase: 'Ashford', boost: 3 }], model: 'nova-3' })
    expect(line.query).toMatchObject({
      model: 'nova-3',
      encoding: 'linear16',
      sample_rate: '8000',
      interim_results: 'true',
      endpointing: '300',
      keyterm: 'Ashford',
    })
    expect(line.request.headers.authorization).toBe('Token dg-secret-1')
    expect(line.request.url).not.toContain('secret')
  })

  it.each([
    [false, 'false'],
    [true, '300'],
    [700, '700'],
  ])('ends utterances by the pause that the option endpointing names: %s', async (endpointing, sent) => {
    const { line } = await deepgramCall({}, { vendorOptions: { endpointing } })
    expect(line.query['endpointing']).toBe(sent)
  })

  it('is preceded by the start message of the custom interface', async () => {
    const { call, line } = await customCall({ vendorOptions: { options: { mood: 'calm' } } })
    await call.voice(60)
    await until('the audio', () => line.frames.length === 3)
    expect(line.received[0]).toEqual({
      type: 'start',
      language: 'en-US',
      format: 'raw',
      encoding: 'LINEAR16',
      interimResults: true,
      sampleRateHz: 8000,
      options: { mood: 'calm' },
    })
    expect(line.request.headers.authorization).toBe('Bearer house-token')
  })

  it('is silence while silent, and nothing while paused, with a keep-alive in time', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(60)
    call.recogniser.setMode('silent')
    await call.voice(60)
    call.recogniser.setMode('paused')
    await call.voice(9000)
    await until('two keep-alives', () => line.texts.filter(({ type }) => type === 'KeepAlive').length === 2)
    call.recogniser.setMode('on')
    await call.voice(60)
    const after = call.count
    await until('the last audio', () => line.frames.length === 9)
    expect(line.frames).toEqual([0, 1, 2, 0, 0, 0, after - 3, after - 2, after - 1])
  })

  it('is asked for its final when it is paused, since no silence ends it', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(80)
    call.recogniser.setMode('paused')
    await until('Finalize', () => line.texts.some(({ type }) => type === 'Finalize'))
    expect(line.frames).toEqual([0, 1, 2, 3])
  })
})

describe('a refused connection', () => {
  it.each([401, 403, 402, 429])('fails at once with status %i, without another try', async (status) => {
    let asked = 0
    const vendor = await server({
      refuse: () => {
        asked += 1
        return status
      },
    })
    const call = caller(deepgram, { settings: { deepgram_stt_uri: vendor.url } })
    const end = await call.ended()
    expect(end.by).toBe('failed')
    expect(end.because).toContain(String(status))
    expect(asked).toBe(1)
  })

  it('has the reason of the vendor, without the key', async () => {
    const vendor = await server({
      refuse: () => 400,
      refusal: { err_msg: 'No such model for the key dg-secret-1.' },
    })
    const call = caller(deepgram, { settings: { deepgram_stt_uri: vendor.url, api_key: 'dg-secret-1' } })
    expect((await call.ended()).because).toBe(
      'deepgram responded with status 400: No such model for the key [hidden].',
    )
  })

  it('is tried four times with a status that may pass', async () => {
    let asked = 0
    const vendor = await server({
      refuse: () => {
        asked += 1
        return 503
      },
    })
    const call = caller(deepgram, { settings: { deepgram_stt_uri: vendor.url } })
    expect((await call.ended()).by).toBe('failed')
    expect(asked).toBe(4)
  })

  it('is given up when the vendor has answered nothing for eight seconds', async () => {
    const opens = createServer((socket) => cleanUps.push(() => void socket.destroy()))
    await new Promise<void>((resolve) => void opens.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => void opens.close())
    const { port } = opens.address() as AddressInfo
    const call = caller(deepgram, { settings: { deepgram_stt_uri: `127.0.0.1:${port}` } })
    await call.silence(9000)
    expect(await call.ended()).toMatchObject({ by: 'failed' })
    expect(call.events.items.some(({ type }) => type === 'reconnecting')).toBe(false)
  })

  it('fails at once when the vendor closes with the code of a wrong key', async () => {
    const { call, vendor } = await deepgramCall({ onLine: ({ socket }) => socket.close(1008) })
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('refused') })
    expect(vendor.lines.items).toHaveLength(1)
  })

  it('fails at once without a key', async () => {
    const call = caller(deepgram, {})
    expect(await call.ended()).toMatchObject({ by: 'failed', because: expect.stringContaining('api_key') })
  })

  it('has no key in its reason, even if the vendor repeats it', async () => {
    const { call } = await deepgramCall({
      onLine: (line) => line.say({ type: 'Error', description: 'no such key: dg-secret-1' }),
    })
    const { because } = (await call.events.next(
      'the reconnection',
      ({ type }) => type === 'reconnecting',
    )) as { because: string }
    expect(because).toContain('[hidden]')
    expect(because).not.toContain('dg-secret-1')
  })
})

describe('a connection that breaks', () => {
  it('is replaced, and what was said since the last final is sent again', async () => {
    const { call, vendor, line } = await deepgramCall()
    await call.voice(1000)
    await call.silence(400)
    line.say(results('one two', { startMs: 0, endMs: 1200, isEnd: true }))
    await call.results(1)
    await call.voice(500)
    line.socket.terminate()
    await call.events.next('the reconnection', ({ type }) => type === 'reconnecting')
    await call.voice(500)
    const second = await lineOf(vendor, 1)
    await call.voice(500)
    await call.silence(400)
    await until('the audio', () => second.frames.length >= 85)
    // From 1.2 s on, without a gap.
    expect(second.frames.slice(0, 85)).toEqual([
      ...Array.from({ length: 10 }, (_, at) => 60 + at),
      ...Array.from({ length: 75 }, (_, at) => 70 + at),
    ])
    second.say(results('three', { startMs: 200, endMs: 1700, isEnd: true }))
    const [, last] = await call.results(2)
    expect(last?.result.alternatives[0]?.transcript).toBe('three')
    // The times of the vendor began at 0 again.
    expect(last?.span).toEqual({ startMs: 1400, endMs: 2900 })
  })

  it('loses no word of a vendor without times, also one that began just before a final', async () => {
    const { call, vendor, line } = await customCall()
    await call.voice(1000)
    await call.silence(600)
    await call.voice(200)
    line.say({ type: 'transcription', is_final: true, alternatives: [{ transcript: 'first' }] })
    await call.results(1)
    line.socket.terminate()
    await call.events.next('the reconnection', ({ type }) => type === 'reconnecting')
    const second = await lineOf(vendor, 1)
    await call.silence(600)
    await until('the audio', () => second.frames.includes(89))
    expect(second.frames.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, at) => 80 + at))
  })

  it('keeps the final pieces of an utterance that goes on over another connection', async () => {
    const { call, vendor, line } = await deepgramCall()
    await call.voice(2000)
    line.say(results('my number is', { startMs: 0, endMs: 1000, isPiece: true }))
    await call.results(1)
    line.socket.terminate()
    const second = await lineOf(vendor, 1)
    await call.voice(1000)
    await until('the audio', () => second.frames.length > 20)
    expect(second.frames[0]).toBe(50)
    second.say(results('one two three', { startMs: 0, endMs: 2000, isEnd: true }))
    const heard = await call.results(2)
    expect(heard.at(-1)?.result).toMatchObject({
      is_final: true,
      alternatives: [{ transcript: 'my number is one two three' }],
    })
    expect(heard.at(-1)?.span).toEqual({ startMs: 0, endMs: 3000 })
  })

  it('sends replayed audio at most four times as fast as it was said', async () => {
    const { call, vendor, line } = await deepgramCall()
    await call.voice(4000)
    line.socket.terminate()
    const second = await lineOf(vendor, 1)
    await call.voice(400)
    await until('some audio', () => second.frames.length > 0)
    await call.voice(20)
    expect(second.frames.length).toBeLessThanOrEqual(4 * 22)
  })

  it('is not replaced for ever if it brings words and breaks each time', async () => {
    const { call, vendor } = await deepgramCall({
      onLine(line) {
        line.say(results('again', { endMs: 20, isEnd: true }))
        setTimeout(() => line.socket.terminate(), 5)
      },
    })
    expect((await call.ended()).by).toBe('failed')
    expect(vendor.lines.items).toHaveLength(4)
  })

  it('may break any number of times if it was good for a while', async () => {
    const { call, vendor } = await deepgramCall()
    for (let at = 0; at < 6; at += 1) {
      const line = await lineOf(vendor, at)
      await call.silence(6000)
      line.say(results(`${at}`, { endMs: 20, isEnd: true }))
      await call.results(at + 1)
      line.socket.terminate()
    }
    await lineOf(vendor, 6)
    expect(call.finals).toEqual(['0', '1', '2', '3', '4', '5'])
  })

  it('is replaced only after a pause in which it broke', async () => {
    const { call, vendor, line } = await deepgramCall()
    await call.voice(200)
    call.recogniser.setMode('paused')
    await call.silence(200)
    line.socket.terminate()
    await call.events.next('the reconnection', ({ type }) => type === 'reconnecting')
    await call.silence(60_000)
    expect(vendor.lines.items).toHaveLength(1)
    call.recogniser.setMode('on')
    const second = await lineOf(vendor, 1)
    await call.voice(200)
    const after = call.count
    await until('the audio', () => second.frames.length > 8)
    expect(second.frames.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, at) => after - 10 + at))
    call.recogniser.setMode('paused')
    second.socket.terminate()
    await until(
      'the second break',
      () => call.events.items.filter(({ type }) => type === 'reconnecting').length === 2,
    )
    expect((await call.close()).by).toBe('closed')
  })

  it('brings nothing more once it was replaced', async () => {
    const { call, vendor, line } = await deepgramCall()
    // The first connection is silent, and stays open until the vendor answers its close frame.
    await call.speech(10_000)
    const second = await lineOf(vendor, 1)
    line.say(results('late', { endMs: 8000, isEnd: true }))
    second.say(results('right', { endMs: 8000, isEnd: true }))
    await call.results(1)
    expect(call.finals).toEqual(['right'])
  })
})

describe('a vendor that misbehaves', () => {
  it('is replaced when it hears a voice for eight seconds and says nothing, but only once', async () => {
    const { call, vendor } = await deepgramCall()
    await call.speech(10_000)
    await lineOf(vendor, 1)
    await call.speech(20_000)
    expect(vendor.lines.items).toHaveLength(2)
  })

  it('is replaced when it takes no audio', async () => {
    const { call, vendor, line } = await deepgramCall()
    line.socket.pause()
    // More than the buffers of the network.
    await until('the reconnection', async () => {
      await call.silence(8000)
      return call.events.items.some(({ type }) => type === 'reconnecting')
    })
    await lineOf(vendor, 1)
  })

  it.each([
    ['text that is not JSON', '{"type":'],
    ['a message of a megabyte', JSON.stringify({ type: 'x'.repeat(1_000_000) })],
    ['deep nesting', '['.repeat(1000)],
  ])('is given up after %s on each connection', async (_, garbage) => {
    const { call, vendor } = await deepgramCall({ onLine: (line) => line.say(garbage) })
    expect((await call.ended()).by).toBe('failed')
    expect(vendor.lines.items).toHaveLength(4)
  })

  it.each([
    ['numbers', '7'],
    ['nothing', 'null'],
    ['lists', '[[],{}]'],
    ['results without any', '{"type":"Results"}'],
    [
      'results of wrong types',
      '{"type":"Results","channel":{"alternatives":[7,{"transcript":3}]},"start":"x"}',
    ],
  ])('is heard on after %s', async (_, message) => {
    const { call, line } = await deepgramCall()
    line.say(message)
    line.say(results('fine', { endMs: 20, isEnd: true }))
    await call.results(1)
    expect(call.finals).toEqual(['fine'])
  })

  it('may send characters of several bytes in any fragments', async () => {
    const { call, line } = await customCall()
    const whole = Buffer.from(
      JSON.stringify({
        type: 'transcription',
        is_final: true,
        alternatives: [{ transcript: 'zwölf Äpfel 三' }],
      }),
    )
    for (let at = 0; at < whole.length; at += 1)
      line.socket.send(whole.subarray(at, at + 1), { binary: false, fin: at === whole.length - 1 })
    await call.results(1)
    expect(call.finals).toEqual(['zwölf Äpfel 三'])
  })

  it('may send finals in any order: each is reported, and what was settled stays settled', async () => {
    const { call, vendor, line } = await deepgramCall()
    await call.voice(2000)
    line.say(results('second', { startMs: 1000, endMs: 2000, isEnd: true }))
    line.say(results('first', { startMs: 0, endMs: 1000, isEnd: true }))
    await call.results(2)
    line.socket.terminate()
    const next = await lineOf(vendor, 1)
    await call.voice(200)
    await until('audio', () => next.frames.length > 0)
    expect(next.frames[0]).toBe(100)
    expect(call.finals).toEqual(['second', 'first'])
  })

  it('may send empty finals, which are not reported', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(100)
    call.recogniser.finalize()
    await until('Finalize', () => line.texts.some(({ type }) => type === 'Finalize'))
    line.say({ ...results('', { isEnd: true }), from_finalize: true })
    line.say(results(' ', { isEnd: true }))
    line.say(results('words', { isEnd: true }))
    await call.results(1)
    expect(call.finals).toEqual(['words'])
  })

  it('is given up when it never begins', async () => {
    const vendor = await server()
    const shy: VendorOfEars = {
      name: 'shy',
      dialectOf: () => ({ ...plain(vendor.url)(), waits: true }),
    }
    const call = caller(shy, {})
    await call.opened()
    for (let at = 0; at < 4; at += 1) {
      await lineOf(vendor, at)
      await until('the connection', async () => {
        await call.silence(1000)
        return vendor.lines.items.length > at + 1 || call.events.items.some(({ type }) => type === 'ended')
      })
    }
    expect(await call.ended()).toMatchObject({ by: 'failed', because: 'shy: it did not begin' })
    expect(vendor.lines.items.every(({ frames }) => frames.length === 0)).toBe(true)
  })
})

/** A vendor that hears whatever texts say. */
function plain(url: string, extra: Partial<Dialect> = {}) {
  return (): Dialect => ({
    url,
    headers: {},
    rate: 8000,
    first: [],
    hear: (message) => [
      { type: 'words', text: String(readJson(message)), isFinal: true, confidence: 1, evt: message },
    ],
    end: () => ['"bye"'],
    ...extra,
  })
}

describe('the options of a dialect', () => {
  it('let a vendor have no message that is shorter than it takes', async () => {
    const vendor = await server()
    const call = caller({ name: 'slow', dialectOf: plain(vendor.url, { minChunkMs: 50 }) }, {})
    await call.opened()
    await call.voice(300)
    await call.silence(340)
    call.recogniser.close()
    const line = await lineOf(vendor, 0)
    await until('the end', () => line.received.some((one) => !Buffer.isBuffer(one)))
    const lengths = line.received.flatMap((one) => (Buffer.isBuffer(one) ? [one.length] : []))
    expect(Math.min(...lengths)).toBe(960)
    expect(line.frames.slice(0, 32)).toHaveLength(32)
  })

  it('replace a connection before its longest session is over, in a pause', async () => {
    const vendor = await server()
    const call = caller({ name: 'short', dialectOf: plain(vendor.url, { maxSessionMs: 3000 }) }, {})
    await call.opened()
    await call.voice(4000)
    expect(vendor.lines.items).toHaveLength(1)
    await call.silence(1000)
    const second = await lineOf(vendor, 1)
    await call.voice(200)
    await until('all audio again', () => second.frames.length > 10)
    expect(second.frames[0]).toBe(0)
    expect(call.events.items.some(({ type }) => type === 'reconnecting')).toBe(false)
  })
})

describe('the end of a recogniser', () => {
  it('comes with the last final', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(500)
    call.recogniser.close()
    await until('CloseStream', () => line.texts.some(({ type }) => type === 'CloseStream'))
    expect(line.frames).toHaveLength(25)
    line.say(results('the end', { endMs: 500, isEnd: true }))
    line.say({ type: 'Metadata' })
    expect(await call.ended()).toMatchObject({ by: 'closed', audio_ms: 500 })
    expect(call.finals).toEqual(['the end'])
  })

  it('waits for a last final at most a second and a half', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(500)
    const startMs = performance.now()
    const end = await call.close()
    expect(end.by).toBe('closed')
    const afterMs = performance.now() - startMs
    expect(afterMs).toBeGreaterThan(1400)
    expect(afterMs).toBeLessThan(4000)
    await line.closed
  })

  it('brings the final pieces of an utterance whose end never came', async () => {
    const { call, line } = await deepgramCall()
    await call.voice(500)
    line.say(results('half a', { endMs: 500, isPiece: true }))
    await call.results(1)
    await call.close()
    expect(call.finals).toEqual(['half a'])
  })

  it('brings the last words that may have changed, if no final has come', async () => {
    const { call, line } = await customCall({ wantsPartials: false })
    await call.voice(500)
    line.say({ type: 'transcription', is_final: false, alternatives: [{ transcript: 'nearly' }] })
    await call.pass(40)
    call.recogniser.close()
    await until('stop', () => line.texts.some(({ type }) => type === 'stop'))
    line.socket.close()
    await call.ended()
    expect(call.heard.map(({ result }) => [result.is_final, wordsOf(result)])).toEqual([[true, 'nearly']])
  })

  it('is the close of the custom server after its last words', async () => {
    const { call, line } = await customCall()
    await call.voice(100)
    call.recogniser.close()
    await until('stop', () => line.texts.some(({ type }) => type === 'stop'))
    line.say({
      type: 'transcription',
      is_final: true,
      alternatives: [{ transcript: 'bye', confidence: 0.5 }],
    })
    line.socket.close()
    expect((await call.ended()).by).toBe('closed')
    expect(wordsOf(call.heard[0]!.result)).toBe('bye')
  })

  it('comes at once while the connection is being opened', async () => {
    const vendor = await server()
    const call = caller(deepgram, { settings: { deepgram_stt_uri: vendor.url } })
    const startMs = performance.now()
    expect((await call.close()).by).toBe('closed')
    expect(performance.now() - startMs).toBeLessThan(1000)
    call.recogniser.close()
    expect(call.events.items.filter(({ type }) => type === 'ended')).toHaveLength(1)
  })

  it('comes at once between two connections', async () => {
    const { call, line } = await deepgramCall()
    line.socket.terminate()
    await call.events.next('the reconnection', ({ type }) => type === 'reconnecting')
    expect((await call.close()).by).toBe('closed')
  })

  it('is no event and no other connection when its thread ends', async () => {
    const { call, vendor } = await deepgramCall()
    call.recogniser.cut()
    await call.pass(2000)
    expect(vendor.lines.items).toHaveLength(1)
    expect(call.events.items.map(({ type }) => type)).toEqual(['opened'])
  })
})
