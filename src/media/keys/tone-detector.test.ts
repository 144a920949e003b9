import { describe, expect, it } from 'vitest'
import { KeyTone } from './key-tone.ts'
import { highHz, keysByTone, lowHz, ToneDetector } from './tone-detector.ts'

const rate = 8000
const keys = '1234567890*#ABCD'

interface Sender {
  readonly onMs?: number
  readonly offMs?: number
  /** The level of each tone, relative to the loudest possible. */
  readonly db?: number
  /** The level of the high tone relative to the low one. */
  readonly twistDb?: number
  /** The relative error of the frequencies. */
  readonly off?: number
  readonly noise?: number
  readonly oneTone?: boolean
}

function soundOf(pressed: string, sender: Sender = {}): Int16Array {
  const { onMs = 100, offMs = 100, db = -12, twistDb = 0, off = 0, noise = 0, oneTone = false } = sender
  let seed = 7
  const hiss = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return (seed / 2 ** 31 - 1) * noise * 1.7
  }
  const low = 32_767 * 10 ** (db / 20)
  const high = oneTone ? 0 : low * 10 ** (twistDb / 20)
  const samples: number[] = Array.from({ length: 37 }, hiss)
  for (const key of pressed) {
    const row = keysByTone.findIndex((one) => one.includes(key))
    const [lowTone, highTone] = [lowHz[row] ?? 0, highHz[keysByTone[row]?.indexOf(key) ?? 0] ?? 0]
    const angle = (hz: number, at: number): number => (2 * Math.PI * hz * (1 + off) * at) / rate
    for (let at = 0; at < onMs * 8; at += 1)
      samples.push(low * Math.sin(angle(lowTone, at)) + high * Math.sin(angle(highTone, at)) + hiss())
    for (let at = 0; at < offMs * 8; at += 1) samples.push(hiss())
  }
  for (let at = 0; at < 400; at += 1) samples.push(hiss())
  return Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample))))
}

function heardIn(samples: Int16Array): { text: string; durations: number[] } {
  const detector = new ToneDetector()
  const heard = []
  for (let from = 0; from < samples.length; from += 160)
    heard.push(...detector.hear(samples.subarray(from, from + 160)))
  return {
    text: heard.map(({ digit }) => digit).join(''),
    durations: heard.map(({ durationMs }) => durationMs),
  }
}

describe('all keys are heard, each once', () => {
  it.each<[string, Sender]>([
    ['as phones send them', {}],
    ['as short as they may be', { onMs: 45, offMs: 45 }],
    ['quiet', { db: -30 }],
    ['with the high tone louder', { twistDb: 6 }],
    ['with the low tone louder', { twistDb: -6 }],
    ['1.5 % high', { off: 0.015 }],
    ['1.5 % low', { off: -0.015 }],
    ['under noise', { db: -20, noise: 500 }],
    ['held for a second', { onMs: 1000 }],
  ])('%s', (_how, sender) => {
    const { text, durations } = heardIn(soundOf(keys, sender))
    expect(text).toBe(keys)
    for (const duration of durations)
      expect(Math.abs(duration - (sender.onMs ?? 100))).toBeLessThanOrEqual(26)
  })

  it('pressed twice are two presses, and a crackle does not split a press', () => {
    expect(heardIn(soundOf('55')).text).toBe('55')
    const crackled = soundOf('5', { onMs: 200 })
    crackled.fill(0, 800, 850)
    expect(heardIn(crackled).text).toBe('5')
  })

  it('as the platform itself sends them', () => {
    const tone = new KeyTone()
    const samples = new Int16Array(keys.length * 20 * 160)
    for (const [index, key] of keys.split('').entries())
      for (let at = 0; at < 5; at += 1) samples.set(tone.frame(key, at, 5).samples(), (index * 20 + at) * 160)
    expect(heardIn(samples).text).toBe(keys)
  })
})

describe('nothing is heard', () => {
  it.each<[string, Sender]>([
    ['in tones that are too far off', { off: 0.035 }],
    ['in one tone alone', { oneTone: true }],
    ['where one tone is much louder', { twistDb: 12 }],
    ['in what is too short', { onMs: 15 }],
    ['under noise that is as loud', { db: -20, noise: 3000 }],
    ['in a whisper', { db: -50 }],
  ])('%s', (_how, sender) => {
    expect(heardIn(soundOf(keys, sender)).text).toBe('')
  })

  it('in a voice whose pitch glides over all pairs of tones for half a minute', () => {
    let phase = 0
    const voice = Int16Array.from({ length: 30 * rate }, (_, at) => {
      const seconds = at / rate
      phase += (2 * Math.PI * (150 + 60 * Math.sin(seconds) + 15 * Math.sin(31 * seconds))) / rate
      const formant = 5 + 4 * Math.sin(2.3 * seconds)
      let sum = 0
      for (let n = 1; n <= 14; n += 1) sum += Math.sin(n * phase) / (1 + Math.abs(n - formant))
      return Math.round(5000 * sum * (0.6 + 0.4 * Math.sin(25 * seconds)))
    })
    expect(heardIn(voice).text).toBe('')
  })
})
