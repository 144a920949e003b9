// The test of a recogniser that hears calls: it is sent a recording as a call would send it.
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { AppError } from '../lib/errors.ts'
import { sleep, type Clock } from '../lib/clock.ts'
import type { RecognitionOrder, Recognisers } from '../contracts/recognition.ts'
import type { Pcm, Settings } from './vendor.ts'

export interface SampleTrial {
  readonly recognisers: Recognisers
  readonly vendor: string
  readonly settings: Settings
  readonly language: string
  /** Speech at 16 kHz. */
  readonly recording: Pcm
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

const frameMs = 20
const samplesPerFrame = 320
// The frames that may be sent before the vendor has accepted the connection.
const frames = 500
/** The silence after the recording, in which a vendor finds the end of the sentence. */
const silenceMs = 1500
/** The time for the words after that. */
const answerMs = 8000

/** Returns the words, or an empty text. Throws AppError speech_failed, or the signal's reason. */
export async function hearSample(trial: SampleTrial): Promise<string> {
  const { recognisers, recording, clock, signal } = trial
  signal?.throwIfAborted()
  const shared = createRing({ samples: samplesPerFrame, frames })
  const words: string[] = []
  const heard = Promise.withResolvers<undefined>()
  const ended = Promise.withResolvers<undefined>()
  const recogniser = recognisers.recognise(orderOf(trial, shared), (event) => {
    if (event.type === 'heard' && event.result.is_final) {
      words.push(event.result.alternatives[0]?.transcript ?? '')
      heard.resolve(undefined)
    }
    if (event.type !== 'ended') return
    if (event.end.by === 'closed') ended.resolve(undefined)
    else ended.reject(new AppError('speech_failed', event.end.because))
    heard.resolve(undefined)
  })
  // Before anything waits for it.
  ended.promise.catch(() => undefined)
  try {
    const over = Promise.race([heard.promise, ended.promise])
    await Promise.race([over, play(recording, new AudioRing(shared.memory), trial)])
    recogniser.finalize()
    await Promise.race([over, sleep(answerMs, clock, signal)])
  } finally {
    recogniser.close()
  }
  await ended.promise
  signal?.throwIfAborted()
  return words.join(' ').trim()
}

function orderOf(
  { vendor, settings, language }: SampleTrial,
  ring: RecognitionOrder['side']['ring'],
): RecognitionOrder {
  return {
    vendor,
    settings,
    language,
    hints: [],
    altLanguages: [],
    vendorOptions: {},
    wantsPartials: false,
    side: { ring, rate: 16_000, channel: 1 },
  }
}

/** Writes the recording and silence into the ring, at the rate of a call. */
async function play(
  { bytes }: Pcm,
  ring: AudioRing,
  { clock, signal }: Pick<SampleTrial, 'clock' | 'signal'>,
): Promise<void> {
  const whole = Buffer.from(bytes)
  const samples = new Int16Array(whole.buffer, whole.byteOffset, whole.length >> 1)
  const count = Math.ceil(samples.length / samplesPerFrame) + silenceMs / frameMs
  const sinceMs = clock.monotonic()
  for (let frame = 0; frame < count; frame += 1) {
    const part = samples.subarray(frame * samplesPerFrame, (frame + 1) * samplesPerFrame)
    ring.write(part.length === samplesPerFrame ? part : undefined)
    const aheadMs = sinceMs + frame * frameMs - clock.monotonic()
    if (aheadMs > 0) await sleep(aheadMs, clock, signal)
  }
}
