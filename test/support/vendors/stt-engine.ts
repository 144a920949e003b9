// A stand-in for a speech recogniser that recognises by sound: what it hears is compared with clips whose words are known.
// Sound that is none of the clips, is lost, or comes at another rate than was said gives no words.
import { createLaws } from '../../../src/media/codecs/g711.ts'
import { bands, SpectralEnvelope, unit, type Shape } from './spectral-envelope.ts'
import type { ClipWord, SpeechClip } from './speech-clips.ts'

export type Encoding = 'linear16' | 'mulaw'

/** A word with its place in the sound that was received, and how well its sound agrees, 0 to 1. */
export interface HeardWord extends ClipWord {
  readonly confidence: number
}

export interface Heard {
  readonly type: 'partial' | 'final'
  readonly text: string
  readonly words: readonly HeardWord[]
  /** The mean of the words' confidence; 0 without words. */
  readonly confidence: number
  /** The place of the voice in the sound received. */
  readonly startMs: number
  readonly endMs: number
}

/** Voice began. */
export interface Onset {
  readonly type: 'onset'
  readonly startMs: number
}

export interface EngineOptions {
  /** At most 200. */
  readonly clips: readonly SpeechClip[]
  readonly sampleRate: 8000 | 16_000
  readonly encoding: Encoding
  /** How long it is silent before an utterance is final. */
  readonly silenceMs?: number
  /** Called within `push` and `finalize`. A final without words is reported when voice was heard but not understood. */
  readonly hear: (event: Heard | Onset) => void
}

const laws = createLaws()

const maxClips = 200
const hopMs = 20
/** Clips are known in steps of half a hop, as sound is seldom cut into windows where the clip was. */
const clipHopMs = hopMs / 2
/** Frames of voice that begin an utterance, and that choose among the clips. */
const onsetFrames = 3
const choiceFrames = 15
const longestChoiceFrames = 60
/** As many of them are compared with each place of each clip, and all with the likeliest. */
const comparedFrames = 8
/** How far the start of the voice may be from where it is in the clip, in steps of the clip: packets may be lost there. */
const slack = 12
const kept = 12
/** Below these, sound is not that of a clip. Other speech of the same voice reaches more by chance, the shorter it is. */
const least = { goingOn: 0.5, word: 0.68, clip: 0.77, anyPlace: 0.84, sureClip: 0.8, wordOfSureClip: 0.4 }
/** Frames that say something of a clip, without which it is not chosen. */
const leastCounted = 8
/** A short word is judged with what is around it. */
const wordFrames = 8
/** A word of fewer frames that say something is heard if the clip is sure. */
const leastWordFrames = 4
/** Sound that is quieter than the loudest of its clip by this is not compared: it may drown in the noise of mu-law. */
const loudDb = 24
const [silent, quiet, loud] = [0, 1, 2]
/** A pause in a clip after which voice begins as at its start. */
const pauseFrames = 6
/** How much longer a word may last than its voice. */
const fadingFrames = 8

interface PreparedClip {
  readonly words: readonly ClipWord[]
  readonly frames: number
  readonly shapes: Float32Array
  readonly voices: Uint8Array
  readonly onsets: readonly number[]
}

/** That the voice is that of a clip, of which step `lag` was heard in frame 0. */
interface Hypothesis {
  readonly clip: PreparedClip
  lag: number
  agreement: number
  counted: number
  nextWord: number
  readonly words: HeardWord[]
}

interface Utterance {
  readonly start: number
  last: number
  /** When a clip was last looked for; 0 before. */
  chosenAt: number
  /** The words of clips that it was before. */
  words: HeardWord[]
}

interface Prepared {
  readonly mean: Float32Array
  readonly clips: readonly PreparedClip[]
}

export class SttEngine {
  readonly #options: EngineOptions
  readonly #prepared: Prepared
  readonly #envelope: SpectralEnvelope
  readonly #silenceFrames: number
  #odd: Buffer = Buffer.alloc(0)
  #bytes = 0
  /** The frames since the utterance began, with some before it; frame `#base` is the first. */
  #frames: Shape[] = []
  #base = 0
  #voiced = 0
  #silent = Infinity
  #utterance: Utterance | undefined
  #hypotheses: Hypothesis[] = []
  #before: Hypothesis | undefined
  /** When all clips were last looked through. */
  #soughtAt = -Infinity
  /** Where the last word ends that was made final. */
  #heardMs = 0
  #reported = ''

  constructor(options: EngineOptions) {
    if (options.clips.length > maxClips) throw new Error(`more than ${maxClips} clips`)
    this.#options = options
    this.#prepared = prepare(options.clips)
    this.#envelope = new SpectralEnvelope(options.sampleRate, hopMs)
    this.#silenceFrames = Math.round((options.silenceMs ?? 240) / hopMs)
  }

  /** How much sound was received. */
  get receivedMs(): number {
    const { encoding, sampleRate } = this.#options
    return (this.#bytes / (encoding === 'mulaw' ? 1 : 2) / sampleRate) * 1000
  }

  /** How long it has been silent; Infinity before the first voice. */
  get silentMs(): number {
    return this.#silent * hopMs
  }

  push(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#envelope.push(this.#decode(bytes), (shape) => this.#take(shape))
  }

  /** Makes what was heard final now. Reports nothing without voice since the last final. */
  finalize(): void {
    if (this.#utterance === undefined) return
    if (this.#utterance.chosenAt === 0) this.#choose(this.#utterance.start)
    this.#finish({ isOver: this.#silent >= pauseFrames })
  }

  #decode(bytes: Buffer): Float32Array {
    if (this.#options.encoding === 'mulaw') {
      const samples = new Float32Array(bytes.length)
      for (let at = 0; at < bytes.length; at += 1)
        samples[at] = (laws.PCMU.decode[bytes[at] ?? 0] ?? 0) / 32_768
      return samples
    }
    const whole = this.#odd.length === 0 ? bytes : Buffer.concat([this.#odd, bytes])
    const samples = new Float32Array(whole.length >> 1)
    for (let at = 0; at < samples.length; at += 1) samples[at] = whole.readInt16LE(at * 2) / 32_768
    this.#odd = whole.subarray(samples.length * 2)
    return samples
  }

  #take(shape: Shape): void {
    if (shape.isVoiced) unit(shape.bands, this.#prepared.mean)
    this.#frames.push(shape)
    this.#voiced = shape.isVoiced ? this.#voiced + 1 : 0
    this.#silent = shape.isVoiced ? 0 : this.#silent + 1
    const now = this.#base + this.#frames.length - 1
    if (this.#utterance === undefined) {
      if (this.#voiced >= onsetFrames) this.#begin(now - this.#voiced + 1)
      else this.#forget(now - 2 * onsetFrames)
      return
    }
    if (shape.isVoiced) this.#utterance.last = now
    for (const hypothesis of this.#hypotheses) count(hypothesis, shape, now)
    this.#consider(now, this.#utterance)
    this.#elapse()
    if (this.#silent >= this.#silenceFrames) this.#finish({ isOver: true })
    else this.#report()
  }

  /** Chooses a clip when enough was heard, again while none was found, and again when the voice is not that of the clip. */
  #consider(now: number, { start, chosenAt }: Utterance): void {
    const since = now - Math.max(start, chosenAt) + 1
    const pauses = this.#silent === pauseFrames
    if (chosenAt === 0) {
      if (since >= choiceFrames || pauses) this.#choose(start)
    } else if (this.#hypotheses.length === 0) {
      if ((since >= choiceFrames || pauses) && now - start < longestChoiceFrames) this.#choose(start)
      else if (since >= 2 * choiceFrames && this.#voiced >= choiceFrames) this.#choose(now - choiceFrames + 1)
    } else if (since >= 2 * choiceFrames && this.#voiced >= choiceFrames && this.#isLost(now))
      this.#choose(now - choiceFrames + 1)
  }

  #begin(start: number): void {
    this.#utterance = { start, last: start + this.#voiced - 1, chosenAt: 0, words: [] }
    this.#options.hear({ type: 'onset', startMs: start * hopMs })
  }

  /** Chooses the likeliest places in the clips for the sound from `start`: where voice begins in them, else anywhere. */
  #choose(start: number): void {
    const utterance = this.#utterance
    if (utterance === undefined) return
    const now = this.#base + this.#frames.length - 1
    utterance.chosenAt = now
    if (now - utterance.start < longestChoiceFrames) {
      const begun = this.#search(utterance.start, (clip) => this.#beginnings(clip, utterance.start))
      if (meanOf(begun[0]) >= least.clip) {
        this.#hypotheses = begun
        return
      }
    }
    utterance.words = [...this.#words()]
    this.#hypotheses = now - this.#soughtAt < 2 * choiceFrames ? [] : this.#seek(start, now)
  }

  /** Looks through the whole of all clips for the latest sound, which costs most; then for all from `start` in what it found. */
  #seek(start: number, now: number): Hypothesis[] {
    this.#soughtAt = now
    const found = this.#search(Math.max(start, now - choiceFrames + 1), everywhere, 3)
    if (meanOf(found[0]) < least.anyPlace) return []
    const whole = found.map(({ clip, lag }) => this.#suppose(clip, lag, start))
    return meanOf(whole[0]) < least.clip ? found : whole
  }

  /** Returns where voice begins in the clip, and where it goes on after a pause that ended an utterance. */
  #beginnings(clip: PreparedClip, start: number): number[] {
    const places = clip.onsets.flatMap(around)
    if (clip === this.#before?.clip) places.push(2 * start + this.#before.lag)
    return places
  }

  #search(
    start: number,
    placesOf: (clip: PreparedClip) => readonly number[],
    stride = Math.ceil((this.#end - start) / comparedFrames),
  ): Hypothesis[] {
    const best: { clip: PreparedClip; lag: number; mean: number }[] = []
    for (const clip of this.#prepared.clips) {
      let lag = 0
      let mean = -1
      for (const place of placesOf(clip)) {
        const candidate = place - 2 * start
        const agreed = this.#compare(clip, candidate, start, this.#end, { stride }) ?? 0
        if (agreed > mean) [lag, mean] = [candidate, agreed]
      }
      best.push({ clip, lag, mean })
    }
    const likeliest = best.sort((one, other) => other.mean - one.mean).slice(0, kept)
    return likeliest
      .map(({ clip, lag }) => this.#suppose(clip, this.#refine(clip, lag, start, this.#end), start))
      .sort((one, other) => meanOf(other) - meanOf(one))
  }

  #suppose(clip: PreparedClip, lag: number, start: number): Hypothesis {
    const hypothesis = { clip, lag, agreement: 0, counted: 0, nextWord: 0, words: [] }
    for (let at = start; at < this.#end; at += 1) count(hypothesis, this.#frames[at - this.#base], at)
    // A word of which the first half was not heard is not known, and none is heard twice.
    const heardMs = Math.max(start * hopMs, this.#utterance?.words.at(-1)?.endMs ?? this.#heardMs)
    const firstMs = heardMs + lag * clipHopMs
    hypothesis.nextWord = clip.words.findIndex(({ startMs, endMs }) => startMs + endMs >= 2 * firstMs)
    if (hypothesis.nextWord === -1) hypothesis.nextWord = clip.words.length
    return hypothesis
  }

  /** The frame after the last one. */
  get #end(): number {
    return this.#base + this.#frames.length
  }

  /** Returns the lag near the given one at which the sound agrees best. */
  #refine(clip: PreparedClip, lag: number, start: number, end: number): number {
    const near = [lag, lag - 1, lag + 1, lag - 2, lag + 2]
    const means = near.map((one) => this.#compare(clip, one, start, end) ?? 0)
    return near[means.indexOf(Math.max(...means))] ?? lag
  }

  #compare(
    clip: PreparedClip,
    lag: number,
    start: number,
    end: number,
    { stride = 1, leastFrames = 1 } = {},
  ): number | undefined {
    let sum = 0
    let counted = 0
    for (let at = start; at < end; at += stride) {
      const frame = this.#frames[at - this.#base]
      const step = 2 * at + lag
      if (frame === undefined || !counts(clip, step, frame)) continue
      counted += 1
      sum += agreement(clip, step, frame)
    }
    return counted < leastFrames ? undefined : sum / counted
  }

  /** Whether the sound of late is not that of the likeliest clip: it has ended, or some sound was left out. */
  #isLost(now: number): boolean {
    const [likeliest] = this.#hypotheses
    if (likeliest === undefined) return true
    const agreed = this.#compare(likeliest.clip, likeliest.lag, now - choiceFrames + 1, now + 1)
    return (agreed ?? 1) < least.goingOn
  }

  /** Hears the words that have ended by now or, at the end of the voice, fade out; each at the lag that fits it best. */
  #elapse(fadingFrames = 0): void {
    const end = this.#base + this.#frames.length
    for (const hypothesis of this.#hypotheses) {
      for (let word = hypothesis.clip.words[hypothesis.nextWord]; word !== undefined;) {
        const frameOf = (ms: number): number => (ms / clipHopMs - hypothesis.lag) / 2
        const last = Math.floor(frameOf(word.endMs))
        if (last >= end + fadingFrames) break
        const first = Math.max(this.#base, Math.min(Math.round(frameOf(word.startMs)), last - wordFrames))
        const lag = this.#refine(hypothesis.clip, hypothesis.lag, first, last)
        const isSure = meanOf(hypothesis) >= least.sureClip
        const agreed =
          this.#compare(hypothesis.clip, lag, first, Math.min(last, end), { leastFrames: leastWordFrames }) ??
          (isSure ? least.wordOfSureClip : 0)
        if (agreed >= (isSure ? least.wordOfSureClip : least.word)) {
          hypothesis.lag = lag
          const shiftMs = lag * clipHopMs
          const [startMs, endMs] = [word.startMs - shiftMs, word.endMs - shiftMs]
          hypothesis.words.push({ text: word.text, startMs, endMs, confidence: Math.min(1, agreed) })
        }
        hypothesis.nextWord += 1
        word = hypothesis.clip.words[hypothesis.nextWord]
      }
    }
    this.#hypotheses.sort((one, other) => meanOf(other) - meanOf(one))
  }

  #words(): readonly HeardWord[] {
    const [likeliest] = this.#hypotheses
    return [...(this.#utterance?.words ?? []), ...(likeliest?.words ?? [])]
  }

  #report(): void {
    const heard = this.#heard('partial')
    if (heard.text === this.#reported || heard.text === '') return
    this.#reported = heard.text
    this.#options.hear(heard)
  }

  #finish({ isOver }: { readonly isOver: boolean }): void {
    this.#elapse(isOver ? fadingFrames : 0)
    const heard = this.#heard('final')
    this.#reported = ''
    const now = this.#base + this.#frames.length - 1
    this.#heardMs = heard.words.at(-1)?.endMs ?? this.#heardMs
    const hasVoice = heard.words.length > 0 || (this.#utterance?.last ?? 0) > (this.#utterance?.start ?? 0)
    if (isOver) {
      this.#utterance = undefined
      this.#before = this.#hypotheses[0]
      this.#hypotheses = []
      this.#forget(now - 2 * onsetFrames)
    } else {
      for (const { words } of this.#hypotheses) words.length = 0
      // The voice may go on, and with it the clip.
      this.#utterance = { start: now, last: now, chosenAt: now, words: [] }
    }
    if (hasVoice) this.#options.hear(heard)
  }

  #heard(type: Heard['type']): Heard {
    const words = this.#words()
    const sum = words.reduce((all, { confidence }) => all + confidence, 0)
    const { start = 0, last = 0 } = this.#utterance ?? {}
    return {
      type,
      text: words.map(({ text }) => text).join(' '),
      words,
      confidence: words.length === 0 ? 0 : sum / words.length,
      startMs: words[0]?.startMs ?? start * hopMs,
      endMs: words.at(-1)?.endMs ?? (last + 1) * hopMs,
    }
  }

  #forget(before: number): void {
    const gone = Math.max(0, before - this.#base)
    this.#frames.splice(0, gone)
    this.#base += gone
  }
}

function meanOf(hypothesis: Hypothesis | undefined): number {
  return hypothesis === undefined || hypothesis.counted < leastCounted
    ? 0
    : hypothesis.agreement / hypothesis.counted
}

function count(hypothesis: Hypothesis, frame: Shape | undefined, at: number): void {
  const step = 2 * at + hypothesis.lag
  if (frame === undefined || !counts(hypothesis.clip, step, frame)) return
  hypothesis.counted += 1
  hypothesis.agreement += agreement(hypothesis.clip, step, frame)
}

/** Whether the frame says something about the clip: one of them is heard. What is quiet in the clip may be silent. */
function counts({ voices }: PreparedClip, step: number, frame: Shape): boolean {
  const voice = voices[step] ?? silent
  return voice === loud || (voice === silent && frame.isVoiced)
}

/** Returns 1 for the same shape, about 0 for another; 0 where one of them is silent. */
function agreement({ shapes, frames }: PreparedClip, step: number, frame: Shape): number {
  if (!frame.isVoiced || step < 0 || step >= frames) return 0
  let sum = 0
  const from = step * bands
  for (let band = 0; band < bands; band += 1) sum += shapes[from + band]! * frame.bands[band]!
  return sum
}

const around = (onset: number): number[] =>
  Array.from({ length: slack + 1 }, (_, index) => onset - slack + 2 * index)

const everywhere = ({ frames }: PreparedClip): number[] =>
  Array.from({ length: Math.ceil(frames / 2) }, (_, index) => 2 * index)

/** Keeps what was prepared: many sessions hear the same clips. */
const preparedSets = new WeakMap<readonly SpeechClip[], Prepared>()

function prepare(clips: readonly SpeechClip[]): Prepared {
  const known = preparedSets.get(clips)
  if (known !== undefined) return known
  const mean = new Float32Array(bands)
  let voiced = 0
  const all = clips.map(({ audio, words }) => {
    const shapes: Shape[] = []
    new SpectralEnvelope(audio.sampleRate, clipHopMs).push(audio.samples, (shape) => shapes.push(shape))
    for (const shape of shapes.filter(({ isVoiced }) => isVoiced)) {
      voiced += 1
      for (let band = 0; band < bands; band += 1) mean[band]! += shape.bands[band]!
    }
    return { shapes, words }
  })
  for (let band = 0; band < bands; band += 1) mean[band]! /= Math.max(1, voiced)
  const prepared = { mean, clips: all.map(({ shapes, words }) => prepareClip(shapes, words, mean)) }
  preparedSets.set(clips, prepared)
  return prepared
}

function prepareClip(shapes: readonly Shape[], words: readonly ClipWord[], mean: Float32Array): PreparedClip {
  const flat = new Float32Array(shapes.length * bands)
  const onsets: number[] = []
  let silence = Infinity
  for (const [step, shape] of shapes.entries()) {
    if (!shape.isVoiced) {
      silence += 1
      continue
    }
    if (silence >= 2 * pauseFrames) onsets.push(step)
    silence = 0
    flat.set(unit(shape.bands, mean), step * bands)
  }
  const loudest = Math.max(...shapes.map(({ level }) => level))
  const voices = Uint8Array.from(shapes, ({ isVoiced, level }) =>
    !isVoiced ? silent : level < loudest - loudDb ? quiet : loud,
  )
  return { words, frames: shapes.length, shapes: flat, voices, onsets }
}
