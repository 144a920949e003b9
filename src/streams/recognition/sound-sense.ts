// Whether there is a voice, and beeps: from the level, the pitch and the purity of the sound, frame by frame, without a
// model. Tones of the network, comfort noise and noise that does not change are not a voice.
import { tonesOf } from './tones.ts'

export type Sensed =
  /** A voice has begun or ended, `ago_ms` before the end of the frame. */
  | { readonly type: 'voice'; readonly on: boolean; readonly ago_ms: number }
  /** A beep. Whole numbers: its frequency in Hz, and the variance of that. */
  | { readonly type: 'tone'; readonly frequency: number; readonly variance: number }

const frameMs = 20
/** Frames below this level (of 32767) are silence. */
const floorLevel = 180
/** A voice is this much louder than the noise, which is the lowest level of the last frames. */
const overNoise = 2.5
const noiseFrames = 75
/** A voice begins with this many voiced frames of the last ones, some of them with a pitch: a click has fewer. */
const onsetFrames = 8
const voicedAtOnset = 5
const pitchedAtOnset = 3
/** Gaps between sounds of a word are shorter. */
const endFrames = 10
/** The level of a voice changes in this time by more than this factor; that of a noise does not. */
const steadyFrames = 15
const steadyRatio = 1.6
/** The share of a sound that tones do not explain, if it is made of them. */
const tonalRest = 0.004
/** A beep. Networks signal below its frequencies; dial tones, ringing and busy tones are at 350 to 480 Hz. */
const beepFrames = 6
const minBeepHz = 500
const maxBeepHz = 2500
const maxSpreadHz = 80
const maxDriftHz = 12
/** The pitch of voices, and how like the sound is to itself one period later. */
const minPitchHz = 65
const maxPitchHz = 330
const pitchRate = 4000
const minLikeness = 0.55

interface Frame {
  readonly level: number
  readonly isVoiced: boolean
  readonly isPitched: boolean
}

export class SoundSense {
  readonly #rate: number
  #levels: number[] = []
  #recent: Frame[] = []
  #isOn = false
  #silentFrames = 0
  /** The frequencies of the beep so far. */
  #beep: number[] = []
  /** The last frame, at the rate at which pitches are found. */
  #before: Float32Array = new Float32Array(0)

  constructor(rate: number) {
    this.#rate = rate
  }

  /** Takes 20 ms of 16-bit samples. */
  hear(samples: Int16Array): readonly Sensed[] {
    const frame = this.#measure(samples)
    const sensed = frame.beep === undefined ? [] : [frame.beep]
    this.#recent.push(frame)
    if (this.#recent.length > Math.max(onsetFrames, steadyFrames)) this.#recent.shift()
    const change = this.#isOn ? this.#whetherEnded(frame) : this.#whetherBegun()
    return change === undefined ? sensed : [...sensed, change]
  }

  #measure(samples: Int16Array): Frame & { readonly beep: Sensed | undefined } {
    const level = levelOf(samples)
    this.#levels.push(level)
    if (this.#levels.length > noiseFrames) this.#levels.shift()
    const slow = decimate(samples, this.#rate / pitchRate)
    const before = this.#before
    this.#before = slow
    if (level < floorLevel) {
      this.#beep = []
      return { level, isVoiced: false, isPitched: false, beep: undefined }
    }
    const { frequency, spread, rest } = tonesOf(samples, this.#rate)
    const beep = this.#follow(frequency, spread)
    const isTonal = rest < tonalRest || this.#beep.length > 1
    const isLoud = level > Math.min(...this.#levels) * overNoise
    const isVoiced = isLoud && !isTonal && !this.#isSteady(level)
    return { level, isVoiced, isPitched: isVoiced && hasPitch(before, slow), beep }
  }

  /** Returns the beep once, as soon as it is long enough. */
  #follow(frequency: number, spread: number): Sensed | undefined {
    const isPure = spread < maxSpreadHz && frequency >= minBeepHz && frequency <= maxBeepHz
    const all = isPure ? [...this.#beep, frequency] : []
    const isSame = Math.max(...all) - Math.min(...all) <= maxDriftHz
    this.#beep = isSame || all.length === 0 ? all : [frequency]
    if (this.#beep.length !== beepFrames) return undefined
    const mean = this.#beep.reduce((sum, one) => sum + one, 0) / beepFrames
    const variance = this.#beep.reduce((sum, one) => sum + (one - mean) ** 2, 0) / beepFrames
    return { type: 'tone', frequency: Math.round(mean), variance: Math.round(variance) }
  }

  #isSteady(level: number): boolean {
    const levels = [...this.#recent.slice(1 - steadyFrames).map((frame) => frame.level), level]
    return levels.length === steadyFrames && Math.max(...levels) < Math.min(...levels) * steadyRatio
  }

  #whetherBegun(): Sensed | undefined {
    const last = this.#recent.slice(-onsetFrames)
    const voiced = last.filter(({ isVoiced }) => isVoiced).length
    if (voiced < voicedAtOnset || last.filter(({ isPitched }) => isPitched).length < pitchedAtOnset)
      return undefined
    this.#isOn = true
    this.#silentFrames = 0
    const first = last.findIndex(({ isVoiced }) => isVoiced)
    return { type: 'voice', on: true, ago_ms: (last.length - first) * frameMs }
  }

  #whetherEnded({ isVoiced }: Frame): Sensed | undefined {
    this.#silentFrames = isVoiced ? 0 : this.#silentFrames + 1
    if (this.#silentFrames < endFrames) return undefined
    this.#isOn = false
    this.#recent = []
    return { type: 'voice', on: false, ago_ms: endFrames * frameMs }
  }
}

function levelOf(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.sqrt(sum / Math.max(1, samples.length))
}

/** Returns the mean of each group of `by` samples. */
function decimate(samples: Int16Array, by: number): Float32Array {
  const means = new Float32Array(Math.floor(samples.length / by))
  for (let at = 0; at < means.length; at += 1)
    for (let of = 0; of < by; of += 1) means[at] = (means[at] ?? 0) + (samples[at * by + of] ?? 0) / by
  return means
}

/** Reports whether the end of two frames is like itself a period of a voice earlier. */
function hasPitch(before: Float32Array, frame: Float32Array): boolean {
  const both = new Float32Array(before.length + frame.length)
  both.set(before)
  both.set(frame, before.length)
  const longest = Math.floor(pitchRate / minPitchHz)
  const likeness: number[] = []
  for (let lag = Math.floor(pitchRate / maxPitchHz) - 1; lag <= longest + 1; lag += 1)
    likeness.push(likenessAt(both, lag, longest + 1))
  return likeness.some(
    (one, at) =>
      one > minLikeness && one > (likeness[at - 1] ?? Infinity) && one >= (likeness[at + 1] ?? Infinity),
  )
}

function likenessAt(samples: Float32Array, lag: number, from: number): number {
  let [product, now, then] = [0, 0, 0]
  for (let at = from; at < samples.length; at += 1) {
    const [a, b] = [samples[at] ?? 0, samples[at - lag] ?? 0]
    product += a * b
    now += a * a
    then += b * b
  }
  return now === 0 || then === 0 ? 0 : product / Math.sqrt(now * then)
}
