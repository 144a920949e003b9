// Recognisers that a test controls: it sees the requests, and says what was heard.
import type { StreamMode } from '../../../src/contracts/audio-stream.ts'
import type {
  Recognising,
  Recognition,
  RecognitionEnd,
  RecognitionEvent,
  RecognitionRequest,
} from '../../../src/contracts/recognition.ts'
import type { AppError } from '../../../src/lib/errors.ts'

type HeardEvent = Extract<RecognitionEvent, { type: 'heard' }>

export class ScriptedEar implements Recognising {
  readonly request: RecognitionRequest
  readonly modes: StreamMode[] = []
  hasEnded = false
  isClosing = false
  /** The last final, which a vendor reports when it is closed. */
  lastWords: string | undefined
  readonly #onEvent: (event: RecognitionEvent) => void

  constructor(request: RecognitionRequest, onEvent: (event: RecognitionEvent) => void) {
    this.request = request
    this.#onEvent = onEvent
  }

  setMode(mode: StreamMode): void {
    this.modes.push(mode)
  }

  finalize(): void {
    this.modes.push('on')
  }

  close(): void {
    if (this.isClosing) return
    this.isClosing = true
    queueMicrotask(() => {
      if (this.lastWords !== undefined) this.final(this.lastWords)
      this.end({ by: 'closed' })
    })
  }

  partial(transcript: string, more: Partial<HeardEvent> = {}): void {
    this.#say(transcript, false, 0.5, more)
  }

  final(transcript: string, confidence = 0.9, more: Partial<HeardEvent> = {}): void {
    this.#say(transcript, true, confidence, { latency_ms: 120, ...more })
  }

  emit(event: RecognitionEvent): void {
    this.#onEvent(event)
  }

  end(end: Partial<RecognitionEnd> = {}): void {
    if (this.hasEnded) return
    this.hasEnded = true
    const whole = {
      by: 'failed',
      because: 'the script ends',
      audio_ms: 1000,
      socket_ms: 1200,
      ...end,
    } as const
    this.#onEvent({ type: 'ended', end: whole })
  }

  #say(transcript: string, is_final: boolean, confidence: number, more: Partial<HeardEvent>): void {
    if (this.hasEnded) return
    const { vendor: name, language: language_code, side } = this.request
    this.#onEvent({
      type: 'heard',
      result: {
        language_code,
        channel_tag: side.channel,
        is_final,
        alternatives: [{ transcript, confidence }],
        vendor: { name, evt: { transcript } },
      },
      ...more,
    })
  }
}

export class ScriptedRecognition implements Recognition {
  readonly all: ScriptedEar[] = []
  /** The failures of vendors, by name. */
  readonly failures = new Map<string, AppError>()

  async begin(request: RecognitionRequest, onEvent: (event: RecognitionEvent) => void): Promise<Recognising> {
    await Promise.resolve()
    const failure = this.failures.get(request.vendor)
    if (failure !== undefined) throw failure
    const ear = new ScriptedEar(request, onEvent)
    this.all.push(ear)
    queueMicrotask(() => onEvent({ type: 'opened', after_ms: 5 }))
    return ear
  }
}
