// Calls as they are answered: by people and by machines, spoken by Flite, with the tones of networks and noise. What
// they sound like is made up, so that they show how the rules work, and no accuracy.
import { tone, type Audio } from '../audio.ts'
import { speechClips, type FliteVoice } from '../vendors/speech-clips.ts'
import { asHeard } from '../vendors/line.ts'

export interface AnsweredCall {
  readonly name: string
  readonly by: 'human' | 'machine' | 'nothing'
  /** From the answer on, as a telephone call carries it: 8 kHz, in mu-law. */
  readonly audio: Audio
}

export const greetingsOfPeople = [
  'Hello?',
  'Hello.',
  'Yes?',
  'Hi, this is Mary.',
  'Smith speaking.',
  'Good morning, Carter and Sons.',
  'Yes, hello, who is this?',
  'Hello, can I help you?',
]

export const greetingsOfMachines = [
  'You have reached the voice mail of John Miller. I cannot take your call right now. Please leave a message after the tone.',
  'Hello, this is Anna. I am sorry I missed your call. Leave your name and number and I will get back to you as soon as possible.',
  'The person you are calling is not available. At the tone, please record your message. When you have finished, hang up.',
  'Thank you for calling the office of Mills and Sons. Our office is closed. We are open from nine to five, Monday to Friday.',
]

const sampleRate = 8000
const voices: readonly FliteVoice[] = ['slt', 'rms']

/** Returns the corpus: each greeting in each voice, on lines of several kinds. */
export function answeredCalls(): readonly AnsweredCall[] {
  return [...voices.flatMap((voice) => spokenBy(voice)), ...withoutVoice()]
}

function spokenBy(voice: FliteVoice): readonly AnsweredCall[] {
  const people = speechClips(greetingsOfPeople, { voice })
  const machines = speechClips(greetingsOfMachines, { voice })
  const beeps = [1000, 850, 1400, 620]
  return [
    ...people.flatMap(({ audio, text }, index) =>
      (['quiet', 'noisy'] as const).map((line) => ({
        name: `${voice}: ${text} (${line})`,
        by: 'human' as const,
        audio: onLine([silence(300 + 250 * (index % 4)), at8k(audio), silence(3000)], line),
      })),
    ),
    ...machines.flatMap(({ audio, text }, index) =>
      (['quiet', 'noisy'] as const).map((line) => ({
        name: `${voice}: ${text.slice(0, 30)} (${line})`,
        by: 'machine' as const,
        audio: onLine(
          [
            silence(400 + 200 * index),
            at8k(audio),
            silence(500),
            tone(beeps[index] ?? 1000, 400, { sampleRate, level: 0.3 }),
            silence(4000),
          ],
          line,
        ),
      })),
    ),
  ]
}

function withoutVoice(): readonly AnsweredCall[] {
  const ringing = (sound: (ms: number) => Audio, onMs: number, offMs: number): readonly Audio[] =>
    Array.from({ length: 5 }, () => [sound(onMs), silence(offMs)]).flat()
  const cases: Readonly<Record<string, readonly Audio[]>> = {
    silence: [silence(8000)],
    'ringing of North America': ringing((ms) => pair(440, 480, ms), 2000, 4000),
    'ringing of Europe': ringing((ms) => tone(425, ms, { sampleRate, level: 0.2 }), 1000, 4000),
    'ringing of Britain': ringing((ms) => pair(400, 450, ms), 400, 600),
    'a busy tone': ringing((ms) => pair(480, 620, ms), 500, 500),
    'a dial tone': [pair(350, 440, 8000)],
  }
  const tones = Object.entries(cases).flatMap(([name, parts]) =>
    (['quiet', 'comfort'] as const).map((line) => ({
      name: `${name} (${line})`,
      by: 'nothing' as const,
      audio: onLine(parts, line),
    })),
  )
  const noises = [100, 300, 1000].map((level) => ({
    name: `noise at ${level}`,
    by: 'nothing' as const,
    audio: asHeard(withNoise(joined([silence(8000)]), level)),
  }))
  return [
    ...tones,
    ...noises,
    {
      name: 'noise that begins after a second',
      by: 'nothing' as const,
      audio: asHeard(joined([silence(1000), withNoise(joined([silence(7000)]), 800)])),
    },
  ]
}

const noiseOf = { quiet: 8, comfort: 60, noisy: 150 } as const

function onLine(parts: readonly Audio[], line: keyof typeof noiseOf): Audio {
  return asHeard(withNoise(joined(parts), noiseOf[line]))
}

const silence = (ms: number): Audio => ({
  sampleRate,
  samples: new Float64Array(Math.round((sampleRate * ms) / 1000)),
})

function pair(lowHz: number, highHz: number, ms: number): Audio {
  const [low, high] = [lowHz, highHz].map((hz) => tone(hz, ms, { sampleRate, level: 0.12 }).samples)
  return { sampleRate, samples: (low ?? new Float64Array()).map((one, at) => one + (high?.[at] ?? 0)) }
}

function joined(parts: readonly Audio[]): Audio {
  return { sampleRate, samples: Float64Array.from(parts.flatMap(({ samples }) => [...samples])) }
}

/** Adds noise of a level (of 32767), low frequencies most, as rooms have it. */
function withNoise({ samples }: Audio, level: number): Audio {
  let seed = 7
  let last = 0
  const next = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    const white = seed / 2 ** 31 - 1
    last = 0.7 * last + white
    return last
  }
  // The root of the mean square of this noise is 0.81.
  return { sampleRate, samples: samples.map((one) => one + (next() / 0.81) * (level / 32_768)) }
}

function at8k({ sampleRate: rate, samples }: Audio): Audio {
  if (rate === sampleRate) return { sampleRate, samples }
  const by = rate / sampleRate
  return {
    sampleRate,
    samples: Float64Array.from({ length: Math.floor(samples.length / by) }, (_, at) => {
      const from = Math.floor(at * by)
      return ((samples[from] ?? 0) + (samples[from + 1] ?? 0)) / 2
    }),
  }
}
