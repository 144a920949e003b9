// The stand-in for Deepgram Flux (/v2/listen), which decides itself when a turn has ended.
import { formatOf, secondsOf, wordOf } from './deepgram.ts'
import {
  member,
  schemeFault,
  shown,
  startFront,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard, HeardWord, Onset } from './stt-engine.ts'

export interface FluxOptions extends FrontOptions {
  /** The silence after which a turn may have ended, if that was asked for. */
  readonly eagerMs?: number
  /** The silence after which it has ended. */
  readonly endMs?: number
}

const updateMs = 250
const request_id = '1c6d6e4e-9d0d-4b0e-8f2a-6f8f5a1f0b7d'
/** Parameters of /v1/listen that are unknown here. */
const foreign = [
  'interim_results',
  'endpointing',
  'utterance_end_ms',
  'vad_events',
  'language',
  'punctuate',
  'smart_format',
]

export function startDeepgramFlux(options: FluxOptions): Promise<Front> {
  return startFront(
    {
      name: 'Deepgram Flux',
      path: '/v2/listen',
      keyFault: schemeFault('Token ', options.key ?? 'deepgram-key'),
      open: (session) => new Turns(session, options).handlers,
    },
    options,
  )
}

type Event = 'Update' | 'StartOfTurn' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn'

class Turns {
  readonly #session: Session
  readonly #endMs: number
  #threshold: number
  #eagerThreshold: number | undefined
  #timeoutMs: number
  #sequence = 0
  #index = 0
  #windowStartMs = 0
  #updatedAtMs = 0
  /** The words of this turn: those of utterances that have ended, and those of the present one. */
  #known: readonly HeardWord[] = []
  #present: readonly HeardWord[] = []
  #hasStarted = false
  #isEager = false

  constructor(session: Session, { eagerMs = 100, endMs = 260 }: FluxOptions) {
    this.#session = session
    this.#endMs = endMs
    const { query } = session
    this.#threshold = Number(query.get('eot_threshold') ?? 0.7)
    this.#eagerThreshold = query.has('eager_eot_threshold')
      ? Number(query.get('eager_eot_threshold'))
      : undefined
    this.#timeoutMs = Number(query.get('eot_timeout_ms') ?? 5000)
    if (!/^flux-/.test(query.get('model') ?? '')) session.breach('the model is not one of Flux')
    for (const name of foreign)
      if (query.has(name)) session.breach(`the parameter ${name} is one of /v1/listen`)
    this.#checkThresholds()
    const format = formatOf(session)
    if (typeof format === 'string') session.breach(format)
    else session.listen(format, (event) => this.#hear(event), eagerMs)
    session.send({ type: 'Connected', request_id, sequence_id: this.#sequence++ })
  }

  get handlers(): SessionHandlers {
    return {
      idleMs: this.#session.options.idleMs ?? 10_000,
      text: (message) => this.#text(message),
      audio: (bytes) => {
        this.#session.audio(bytes)
        this.#elapse()
      },
    }
  }

  #checkThresholds(): void {
    if (this.#eagerThreshold !== undefined && this.#eagerThreshold > this.#threshold)
      this.#session.breach('eager_eot_threshold is above eot_threshold')
  }

  #text(message: unknown): void {
    const session = this.#session
    const type = member(message, 'type')
    if (session.hasEnded) return session.breach(`${shown(type)} was sent after CloseStream`)
    if (type === 'Configure') return this.#configure(message)
    if (type === 'ForceEndTurn') {
      session.finalize()
      return this.#end('client')
    }
    if (type !== 'CloseStream')
      return session.breach(`a message of the type ${shown(type)} was sent, which Flux does not have`)
    session.finalize()
    this.#end('model')
    session.hasEnded = true
    session.end()
  }

  #configure(message: unknown): void {
    const thresholds = member(message, 'thresholds')
    this.#threshold = Number(member(thresholds, 'eot_threshold') ?? this.#threshold)
    const eager = member(thresholds, 'eager_eot_threshold')
    if (eager !== undefined) this.#eagerThreshold = eager === null ? undefined : Number(eager)
    this.#timeoutMs = Number(member(thresholds, 'eot_timeout_ms') ?? this.#timeoutMs)
    this.#checkThresholds()
    const sequence_id = this.#sequence++
    const keyterms = member(message, 'keyterms') ?? []
    this.#session.send({ type: 'ConfigureSuccess', request_id, sequence_id, thresholds, keyterms })
  }

  #hear(event: Heard | Onset): void {
    if (event.type === 'onset') return
    this.#present = event.words
    if (event.words.length > 0) {
      if (!this.#hasStarted) {
        this.#hasStarted = true
        this.#send('StartOfTurn')
      } else if (this.#isEager) {
        this.#isEager = false
        this.#send('TurnResumed')
      }
    }
    if (event.type !== 'final') return
    this.#known = this.#words()
    this.#present = []
    if (this.#eagerThreshold !== undefined && event.words.length > 0) {
      this.#isEager = true
      this.#send('EagerEndOfTurn')
    }
  }

  #elapse(): void {
    const { silentMs, audioMs } = this.#session
    const endMs = this.#threshold >= 1 ? this.#timeoutMs : Math.min(this.#endMs, this.#timeoutMs)
    if (this.#hasStarted && this.#present.length === 0 && silentMs >= endMs) return this.#end('model')
    if (audioMs - this.#updatedAtMs >= updateMs) this.#send('Update')
  }

  #end(trigger: string): void {
    if (!this.#hasStarted) return
    this.#send('EndOfTurn', trigger)
    this.#hasStarted = false
    this.#isEager = false
    this.#known = []
    this.#present = []
    this.#index += 1
    this.#windowStartMs = this.#session.audioMs
  }

  #words(): readonly HeardWord[] {
    return [...this.#known, ...this.#present]
  }

  #send(event: Event, trigger?: string): void {
    const words = this.#words()
    const nowMs = this.#session.audioMs
    this.#updatedAtMs = nowMs
    const type = event === 'EndOfTurn' ? 'final' : 'partial'
    const text = words.map((word) => word.text).join(' ')
    const heard: Heard = { type, text, words, confidence: 1, startMs: this.#windowStartMs, endMs: nowMs }
    const confidence = {
      Update: 0.1,
      StartOfTurn: 0.1,
      EagerEndOfTurn: 0.6,
      TurnResumed: 0.2,
      EndOfTurn: 0.9,
    }
    const turn_index = this.#index
    this.#session.report(heard, (one) => ({
      type: 'TurnInfo',
      request_id,
      sequence_id: this.#sequence++,
      event,
      turn_index,
      audio_window_start: secondsOf(one.startMs),
      audio_window_end: secondsOf(one.endMs),
      transcript: one.text,
      words: one.words.map((word) => ({ ...wordOf(word, false), word: word.text })),
      end_of_turn_confidence: confidence[event],
      ...(trigger === undefined ? {} : { trigger }),
    }))
  }
}
