// Whether a person or a machine has answered: from words, or from the voice and its pauses alone. Pure, except for the
// clock.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { SpeechResult } from '../../contracts/recognition.ts'
import type { DetectionRules, MachineEvent } from '../verb/machine-detection.ts'
import { hintIn } from './machine-hints.ts'
import { countWords, transcriptOf } from './words.ts'

export interface MachineDetectorOptions {
  readonly rules: DetectionRules
  /** The source of the verdict. With `words`, the voice alone decides nothing. */
  readonly by: 'words' | 'cadence'
  readonly clock: Clock
  /** Called with each event; `amd_stopped` is the last. */
  readonly onEvent: (event: MachineEvent) => void
}

/** People speak soon after they have answered, in short turns, and then wait. */
const humanBeginsMs = 2500
const humanWaitsMs = 800
/** The voice of a greeting: a turn this long, without pauses in which a person would wait. */
const greetingMs = 3500
const maxGapMs = 700
/** The usual wait for the end of a greeting, and the shorter one after a beep, which ends greetings. */
const usualCompletionMs = 2000
const completionAfterToneMs = 1000

const machine = 'amd_machine_detected'

type State =
  | { readonly name: 'undecided' }
  /** A machine, whose greeting has not ended. */
  | { readonly name: 'machine' }
  | { readonly name: 'over' }

export class MachineDetector {
  readonly #options: MachineDetectorOptions
  readonly #startMs: number
  readonly #noSpeech: Timer
  readonly #decision: Timer
  readonly #tones: Timer
  #completion: Timer | undefined
  /** Runs out when a turn of voice, or the pause after it, is long enough. */
  #turn: Timer | undefined
  #state: State = { name: 'undecided' }
  #hearsTones = true
  #hasHeardTone = false
  #beganMs: number | undefined
  /** Since when there is a voice. */
  #voiceSinceMs: number | undefined
  #silentSinceMs: number | undefined
  /** The voice of the turn so far, without its pauses. */
  #turnMs = 0

  constructor(options: MachineDetectorOptions) {
    this.#options = options
    const { clock, rules } = options
    this.#startMs = clock.monotonic()
    this.#noSpeech = clock.after(rules.noSpeechMs, () => this.#endWith({ type: 'amd_no_speech_detected' }))
    this.#decision = clock.after(rules.decisionMs, () => this.#endWith({ type: 'amd_decision_timeout' }))
    this.#tones = clock.after(rules.toneMs, () => (this.#hearsTones = false))
  }

  get isOver(): boolean {
    return this.#state.name === 'over'
  }

  /** Takes words, final or not. */
  hear(speech: SpeechResult): void {
    const transcript = transcriptOf(speech).trim()
    if (this.isOver || transcript === '') return
    this.#noSpeech.cancel()
    if (this.#state.name === 'machine') return this.#awaitCompletion()
    const { thresholdWordCount, digitCount } = this.#options.rules
    const { language_code: language } = speech
    const hint = hintIn(transcript, language)
    const said = { greeting: transcript, language }
    if (hint !== undefined) this.#isMachine({ type: machine, reason: 'hint', hint, language })
    else if (hasDigits(transcript, digitCount))
      this.#isMachine({ type: machine, reason: 'digit count', ...said })
    else if (countWords([speech]) >= thresholdWordCount)
      this.#isMachine({ type: machine, reason: 'long greeting', ...said })
    else if (speech.is_final) this.#endWith({ type: 'amd_human_detected', reason: 'short greeting', ...said })
  }

  /** Takes the beginning or the end of a voice, which was `agoMs` ago. */
  voice(isOn: boolean, agoMs = 0): void {
    if (this.isOver || this.#options.by === 'words') return
    const atMs = this.#options.clock.monotonic() - agoMs
    this.#turn?.cancel()
    if (isOn) this.#voiced(atMs)
    else this.#silenced(atMs, agoMs)
  }

  /** Takes a beep. Whole numbers: Hz, and the square of Hz. */
  tone({ frequency, variance }: { readonly frequency: number; readonly variance: number }): void {
    if (this.isOver || !this.#hearsTones || this.#hasHeardTone) return
    this.#hasHeardTone = true
    this.#emit({
      type: 'amd_tone_detected',
      frequency: Math.round(frequency),
      variance: Math.round(variance),
    })
    if (this.#state.name === 'machine') this.#awaitCompletion()
    else if (this.#options.by === 'cadence') this.#isMachine({ type: machine, reason: 'cadence' })
  }

  failed(error: string): void {
    this.#endWith({ type: 'amd_error', error })
  }

  stop(): void {
    if (this.isOver) return
    this.#state = { name: 'over' }
    for (const timer of [this.#noSpeech, this.#decision, this.#tones, this.#completion, this.#turn])
      timer?.cancel()
    this.#emit({ type: 'amd_stopped' })
  }

  #voiced(atMs: number): void {
    this.#noSpeech.cancel()
    this.#completion?.cancel()
    this.#beganMs ??= atMs
    if (this.#silentSinceMs !== undefined && atMs - this.#silentSinceMs >= maxGapMs) this.#turnMs = 0
    this.#voiceSinceMs = atMs
    this.#silentSinceMs = undefined
    if (this.#state.name === 'undecided')
      this.#turn = this.#after(greetingMs - this.#turnMs, atMs, () =>
        this.#isMachine({ type: machine, reason: 'cadence' }),
      )
  }

  #silenced(atMs: number, agoMs: number): void {
    if (this.#voiceSinceMs !== undefined) this.#turnMs += atMs - this.#voiceSinceMs
    this.#voiceSinceMs = undefined
    this.#silentSinceMs = atMs
    if (this.#state.name === 'machine') return this.#awaitCompletion(agoMs)
    if (this.#turnMs >= greetingMs) return this.#isMachine({ type: machine, reason: 'cadence' })
    if (this.#beganMs === undefined || this.#beganMs - this.#startMs > humanBeginsMs) return
    this.#turn = this.#after(humanWaitsMs, atMs, () =>
      this.#endWith({ type: 'amd_human_detected', reason: 'cadence' }),
    )
  }

  #after(ms: number, sinceMs: number, action: () => void): Timer {
    const { clock } = this.#options
    return clock.after(Math.max(0, ms - (clock.monotonic() - sinceMs)), action)
  }

  #isMachine(event: MachineEvent & { readonly type: typeof machine }): void {
    this.#state = { name: 'machine' }
    this.#noSpeech.cancel()
    this.#decision.cancel()
    this.#turn?.cancel()
    this.#emit(event)
    if (this.#voiceSinceMs === undefined) this.#awaitCompletion()
  }

  /** Waits for the end of the greeting, from now or from the silence that began `agoMs` ago. */
  #awaitCompletion(agoMs = 0): void {
    this.#completion?.cancel()
    // The end of the voice begins the wait.
    if (this.#voiceSinceMs !== undefined) return
    const { clock, rules } = this.#options
    const ms = rules.completionMs ?? (this.#hasHeardTone ? completionAfterToneMs : usualCompletionMs)
    this.#completion = clock.after(Math.max(0, ms - agoMs), () =>
      this.#endWith({ type: 'amd_machine_stopped_speaking' }),
    )
  }

  #endWith(event: MachineEvent): void {
    if (this.isOver) return
    this.#emit(event)
    this.stop()
  }

  #emit(event: MachineEvent): void {
    this.#options.onEvent(event)
  }
}

/** Reports whether there are at least `count` digits in a row; 0 counts none. */
function hasDigits(transcript: string, count: number): boolean {
  if (count === 0) return false
  const runs = transcript.matchAll(/\d(?:[\s().-]*\d)*/g)
  return runs.some(([run]) => run.replace(/\D/g, '').length >= count)
}
