// A far end that sends nothing in silence except an occasional packet of its noise (DTX: RFC 7587 §3.1.3), in
// virtual time.
import { setImmediate } from 'node:timers/promises'
import { createEncoder, Application, Signal } from 'libopus-wasm'
import { expect, it } from 'vitest'
import { createRandom } from '../../test/support/random.ts'
import { bridge, sine, VirtualLegs, type VirtualPhone } from '../../test/support/virtual-legs.ts'
import type { Agreement } from './sdp/agreement.ts'

const frameSamples = 320
const opus: Partial<Agreement> = {
  encoding: 'OPUS',
  send: { audio: 96, event: undefined, packetMs: 20 },
  receive: { codecs: [{ encoding: 'OPUS', payloadType: 96 }], events: [], noises: [] },
}

/** In 16-bit samples. */
const noiseLevel = 58
const talkingFrames = 100
const pauseFrames = 200

/** Speaks, pauses and speaks again, over constant noise. Returns the number of packets in the pause. */
async function talkWithPause(legs: VirtualLegs, phone: VirtualPhone): Promise<number> {
  const encoder = await createEncoder({
    channels: 1,
    sampleRate: 16_000,
    frameSize: frameSamples,
    application: Application.Voip,
    signal: Signal.Voice,
    bitrate: 24_000,
    complexity: 1,
    dtx: true,
  })
  const random = createRandom(7)
  let [sent, inPause] = [0, 0]
  for (let frame = 0; frame < pauseFrames + 2 * talkingFrames; frame += 1) {
    const talks = frame < talkingFrames || frame >= talkingFrames + pauseFrames
    const samples = Int16Array.from({ length: frameSamples }, (_, at) => {
      const voice = talks ? sine(300, 0.3)((frame * frameSamples + at) / 16_000) * 32_767 : 0
      return Math.round(voice + (random() - 0.5) * noiseLevel * Math.sqrt(12))
    })
    const payload = Buffer.from(encoder.encode(samples))
    // The library documents that packets of two octets or fewer need not be sent.
    if (payload.length > 2) {
      phone.send({ payload, payloadType: 96, sequence: 100 + sent, timestamp: 5000 + frame * 960 })
      sent += 1
      if (!talks) inPause += 1
    }
    await setImmediate()
    legs.run(20)
  }
  encoder.free()
  return inPause
}

/** Returns the level of each 20 ms that was heard, in 16-bit samples. */
function levelsOf(phone: VirtualPhone, fromMs: number, toMs: number): number[] {
  const { samples } = phone.audio(fromMs, toMs)
  return Array.from({ length: Math.floor(samples.length / 160) }, (_, frame) => {
    const part = samples.subarray(frame * 160, (frame + 1) * 160)
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / 160) * 32_768
  })
}

const noiseHeard = (levels: readonly number[]): boolean =>
  levels.every((level) => level > noiseLevel / 4 && level < noiseLevel)

it('is heard with its noise throughout the pause, and whole after it', async () => {
  const legs = new VirtualLegs()
  await legs.coders.prepare(['OPUS'])
  const [a, b] = [legs.leg('a', { agreement: opus }), legs.leg('b')]
  bridge(a, b)
  const inPause = await talkWithPause(legs, a)
  expect(inPause).toBeLessThan(pauseFrames / 3)
  const pauseMs = 20 * talkingFrames
  const endMs = pauseMs + 20 * pauseFrames
  expect(noiseHeard(levelsOf(b, pauseMs + 200, endMs))).toBe(true)
  // It is as loud as before within half a second, which the coder of the phone itself needs.
  for (const level of levelsOf(b, endMs + 500, endMs + 1900)) expect(level).toBeCloseTo(7000, -3)
  // Once no packets come any more, its noise is not continued for ever.
  legs.run(2000)
  expect(Math.max(...levelsOf(b, legs.nowMs - 500, legs.nowMs))).toBe(0)
})
