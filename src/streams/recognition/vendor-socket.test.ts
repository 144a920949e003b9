// A recogniser over sockets that the test holds, by a clock that is moved by hand.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sine } from '../../../test/support/virtual-legs.ts'
import type { RecognitionEvent } from '../../contracts/recognition.ts'
import { AudioRing, createRing } from '../../lib/audio/audio-ring.ts'
import { ResamplerTables } from '../../lib/audio/resampler.ts'
import type { SocketRequest } from '../../outgoing/sockets.ts'
import { custom } from './custom.ts'
import { VendorSocket } from './vendor-socket.ts'

const spoken = (transcript: string): string =>
  JSON.stringify({ type: 'transcription', is_final: true, alternatives: [{ transcript, confidence: 1 }] })

async function openStage() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const ring = createRing({ samples: 160, frames: 300 })
  const writer = new AudioRing(ring.memory)
  const lines: SocketRequest[] = []
  const events: RecognitionEvent[] = []
  const open = (request: SocketRequest) => {
    lines.push(request)
    return Promise.resolve({
      send: () => undefined,
      close: () => undefined,
      cut: () => request.closed({ code: 1006, because: 'cut' }),
      pause: () => undefined,
      resume: () => undefined,
      ping: () => undefined,
      bufferedBytes: 0,
    })
  }
  const subject = new VendorSocket(
    {
      vendor: 'custom',
      settings: { custom_stt_url: 'ws://ears.example' },
      vendorOptions: {},
      language: 'en-US',
      hints: [],
      altLanguages: [],
      wantsPartials: false,
      side: { ring, rate: 8000, channel: 1 },
    },
    {
      vendor: custom,
      sockets: { open },
      tables: new ResamplerTables(),
      onEvent: (event) => events.push(event),
      nowMs: () => Date.now(),
    },
  )
  subject.open()
  await vi.advanceTimersByTimeAsync(0)
  const silence = new Int16Array(160)
  const tone = Int16Array.from({ length: 160 }, (_, at) => Math.round(sine(1000)(at / 8000) * 8000))
  return {
    subject,
    lines,
    events,
    texts: () =>
      events.flatMap((event) => (event.type === 'heard' ? event.result.alternatives[0]?.transcript : [])),
    speak: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 20) {
        // A sound without a pause counts as noise.
        writer.write(passed % 200 === 0 ? silence : tone)
        subject.beat()
        await vi.advanceTimersByTimeAsync(20)
      }
    },
  }
}

describe('a recogniser', () => {
  it('takes no words of a connection that it has replaced, as their audio was sent again', async () => {
    const { lines, speak, texts } = await openStage()
    await speak(10_000)
    expect(lines).toHaveLength(2)
    lines[0]?.heard(spoken('too late'))
    lines[1]?.heard(spoken('in time'))
    expect(texts()).toEqual(['in time'])
  })

  it('makes no other connection when its thread ends', async () => {
    const { subject, lines, events } = await openStage()
    subject.cut()
    await vi.advanceTimersByTimeAsync(5000)
    expect(lines).toHaveLength(1)
    expect(events.map(({ type }) => type)).toEqual(['opened'])
  })
})
