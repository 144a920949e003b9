// Recognisers in the thread of streams, as calls use them: over a WebSocket and over HTTP.
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { lineOf, usualOrder, VendorStage } from '../../test/support/vendor-stage.ts'
import { tone } from '../../test/support/audio.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import type { RecognitionEvent, RecognitionOrder } from '../contracts/recognition.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { silentLogger } from '../lib/log.ts'
import { createStreams } from './create-streams.ts'

const streams = createStreams({ allow: ['127.0.0.0/8'], nameServers: undefined, log: silentLogger })
const stage = new VendorStage()
afterEach(() => stage.clear())
afterAll(() => streams.stop())

/** Begins to recognise a caller who speaks for this time and is silent then. */
function recognise(order: Partial<RecognitionOrder>, voiceMs = 600) {
  const ring = createRing({ samples: 160, frames: 100 })
  const writer = new AudioRing(ring.memory)
  const events = new Inbox<RecognitionEvent>()
  const recognising = streams.recognise(
    { ...usualOrder, ...order, side: { ring, rate: 8000, channel: 1 } },
    (event) => events.push(event),
  )
  let saidMs = 0
  const timer = setInterval(() => {
    writer.write(new Int16Array(160).fill(saidMs < voiceMs ? 5000 : 0))
    saidMs += 20
  }, 20)
  return { events, recognising, stop: () => clearInterval(timer) }
}

const finalOf = (events: Inbox<RecognitionEvent>): Promise<RecognitionEvent> =>
  events.next('a final', (event) => event.type === 'heard' && event.result.is_final)

describe('the thread of streams', () => {
  it('hears over a WebSocket, and ends with the recogniser', async () => {
    const vendor = await stage.serve()
    const { events, recognising, stop } = recognise({ settings: { deepgram_stt_uri: vendor.url } })
    const line = await lineOf(vendor)
    await until('the audio', () => line.audio.length > 3200)
    line.say({
      type: 'Results',
      is_final: true,
      speech_final: true,
      channel: { alternatives: [{ transcript: 'hello', confidence: 1 }] },
    })
    expect(await finalOf(events)).toMatchObject({ result: { alternatives: [{ transcript: 'hello' }] } })
    recognising.close()
    await until('CloseStream', () => line.texts.some(({ type }) => type === 'CloseStream'))
    line.socket.close()
    expect(await events.next('the end', ({ type }) => type === 'ended')).toMatchObject({
      end: { by: 'closed' },
    })
    stop()
  })

  it('hears beeps without a vendor, a credential or a network', async () => {
    const ring = createRing({ samples: 160, frames: 100 })
    const writer = new AudioRing(ring.memory)
    const events = new Inbox<RecognitionEvent>()
    expect(streams.whyNot('none')).toBeUndefined()
    const recognising = streams.recognise(
      { ...usualOrder, vendor: 'none', side: { ring, rate: 8000, channel: 1 } },
      (event) => events.push(event),
    )
    const { samples } = tone(1000, 400)
    for (let at = 0; at < samples.length; at += 160)
      writer.write(Int16Array.from(samples.subarray(at, at + 160), (one) => Math.round(one * 8000)))
    expect(await events.next('the beep', ({ type }) => type === 'vendor')).toMatchObject({
      event: { type: 'tone', frequency: 1000, variance: 0 },
    })
    recognising.close()
    expect(await events.next('the end', ({ type }) => type === 'ended')).toMatchObject({
      end: { by: 'closed', audio_ms: 400 },
    })
  })

  it('hears whole utterances over HTTP', async () => {
    const vendor = await stage.serve({ respond: () => [200, { text: 'hello' }] })
    const { events, recognising, stop } = recognise({
      vendor: 'whisper',
      settings: { api_key: 'k', model_id: 'whisper-1', api_uri: vendor.url.replace('ws', 'http') },
    })
    expect(await finalOf(events)).toMatchObject({
      result: { vendor: { name: 'whisper', evt: { text: 'hello' } } },
    })
    recognising.close()
    await events.next('the end', ({ type }) => type === 'ended')
    stop()
  })

  it('reports a credential that lacks something as an end', async () => {
    for (const vendor of ['google', 'whisper', 'assemblyai']) {
      const { events, stop } = recognise({ vendor })
      expect(await events.next('the end', ({ type }) => type === 'ended')).toMatchObject({
        end: { by: 'failed' },
      })
      stop()
    }
  })
})
