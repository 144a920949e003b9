// The hook of a transcription: words are sent in their order, and words that may still change only while no request waits.
import type { SpeechResult } from '../../contracts/recognition.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { HeardDetails } from '../verb/recognition.ts'

type Fields = Readonly<Record<string, unknown>>

export interface TranscriptHookOptions {
  /** Undefined: the words are only in the journal. */
  readonly hook: HookForm | undefined
  /** Sends a request. Never rejects. */
  readonly send: (hook: HookForm, fields: Fields) => Promise<void>
  readonly wantsLatency: () => boolean
}

// The requests that wait for the answers of earlier ones. An application that does not answer misses later words.
const maxWaiting = 50

export class TranscriptHook {
  readonly #options: TranscriptHookOptions
  #waiting = 0
  #last = Promise.resolve()

  constructor(options: TranscriptHookOptions) {
    this.#options = options
  }

  /** Resolves when the last request has its answer. */
  get settled(): Promise<void> {
    return this.#last
  }

  heard(speech: SpeechResult, { latency_ms }: HeardDetails): void {
    if (speech.is_final) this.#send({ speech, ...latencyFields(latency_ms, this.#options.wantsLatency()) })
    else if (this.#waiting === 0) this.#send({ speech })
  }

  vendorEvent(speech_event: object): void {
    this.#send({ speech_event })
  }

  #send(fields: Fields): void {
    const { hook, send } = this.#options
    if (hook === undefined || this.#waiting >= maxWaiting) return
    this.#waiting += 1
    this.#last = this.#last.then(() => send(hook, fields)).finally(() => (this.#waiting -= 1))
  }
}

/** Returns the fields of a hook about a final. They are texts, as applications expect. */
export function latencyFields(latency_ms: number | undefined, isWanted: boolean): Fields {
  return isWanted && latency_ms !== undefined ? { stt_latency_ms: String(latency_ms) } : {}
}
