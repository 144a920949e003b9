// The stand-in for transcription over OpenAI's realtime WebSocket (/v1/realtime?intent=transcription).
import {
  member,
  schemeFault,
  shown,
  startFront,
  type AudioFormat,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard, Onset } from './stt-engine.ts'

export interface OpenaiRealtimeOptions extends FrontOptions {
  /** Whether it is a gateway, which needs the model in the query; OpenAI refuses it there. */
  readonly isGateway?: boolean
}

/** Less audio than this is not committed (input_audio_buffer_commit_empty). */
const leastCommitMs = 100

export function startOpenaiRealtime(options: OpenaiRealtimeOptions): Promise<Front> {
  return startFront(
    {
      name: 'OpenAI realtime transcription',
      path: '/v1/realtime',
      keyFault: schemeFault('Bearer ', options.key ?? 'openai-key'),
      open: (session) => new Transcribing(session, options).handlers,
    },
    options,
  )
}

class Transcribing {
  readonly #session: Session
  #hasFormat = false
  #isManual = false
  #items = 0
  #said = ''
  #committedMs = 0
  #hasCommitted = false

  constructor(session: Session, { isGateway = false }: OpenaiRealtimeOptions) {
    this.#session = session
    const { query, headers } = session
    if (query.get('intent') !== 'transcription') session.breach('the intent is not transcription')
    if (query.has('model') !== isGateway)
      session.breach(isGateway ? 'no model is in the query' : 'a model is in the query (invalid_model)')
    if (headers['openai-beta'] !== undefined)
      session.breach('the header OpenAI-Beta is of an interface that is gone')
    this.#send('session.created', { session: { type: 'transcription', id: 'sess_1' } })
  }

  get handlers(): SessionHandlers {
    return {
      text: (message) => this.#text(message),
      audio: () => this.#session.breach('audio was sent as a binary message'),
    }
  }

  #text(message: unknown): void {
    const type = member(message, 'type')
    if (type === 'session.update') this.#update(member(message, 'session'))
    else if (type === 'input_audio_buffer.append') this.#append(member(message, 'audio'))
    else if (type === 'input_audio_buffer.commit') this.#commit()
    else if (type === 'input_audio_buffer.clear') this.#send('input_audio_buffer.cleared', {})
    else this.#fail('invalid_value', `an event of the type ${shown(type)} was sent`)
  }

  #update(session: unknown): void {
    const input = member(member(session, 'audio'), 'input')
    const turns = member(input, 'turn_detection')
    this.#isManual = turns === null
    if (member(session, 'type') !== 'transcription')
      return this.#fail('invalid_value', 'the type of the session is not transcription')
    if (typeof member(member(input, 'transcription'), 'model') !== 'string')
      return this.#fail('missing_required_parameter', 'audio.input.transcription has no model')
    if (!this.#hasFormat) {
      const format = formatOf(member(input, 'format'))
      if (typeof format === 'string') return this.#fail('invalid_value', format)
      this.#hasFormat = true
      const silenceMs = Math.max(200, Number(member(turns, 'silence_duration_ms') ?? 500))
      const { options } = this.#session
      this.#session.listen(
        format,
        (event) => this.#hear(event),
        // With turns of its own, a client decides; the stand-in must not end one.
        options.silenceMs ?? (this.#isManual ? 60_000 : silenceMs),
      )
    }
    this.#send('session.updated', { session })
  }

  #append(audio: unknown): void {
    if (typeof audio !== 'string') return this.#fail('invalid_value', 'an append has no audio')
    this.#session.audio(Buffer.from(audio, 'base64'))
  }

  #commit(): void {
    const { audioMs } = this.#session
    if (audioMs - this.#committedMs < leastCommitMs)
      return this.#fail('input_audio_buffer_commit_empty', 'commit was sent with less than 100 ms of audio')
    this.#hasCommitted = false
    this.#session.finalize()
    if (!this.#hasCommitted) this.#complete({ ...silent, startMs: this.#committedMs, endMs: audioMs })
  }

  #hear(event: Heard | Onset): void {
    if (event.type === 'onset') {
      if (!this.#isManual)
        this.#send('input_audio_buffer.speech_started', { ...this.#item(), audio_start_ms: event.startMs })
    } else if (event.type === 'partial') this.#delta(event)
    else this.#complete(event)
  }

  /** Sends the words that were added. A delta cannot be taken back. */
  #delta(heard: Heard): void {
    const added = heard.text.startsWith(this.#said) ? heard.text.slice(this.#said.length) : ''
    if (added === '') return
    this.#said = heard.text
    this.#session.report(heard, () =>
      this.#event('conversation.item.input_audio_transcription.delta', {
        ...this.#item(),
        content_index: 0,
        delta: added,
      }),
    )
  }

  #complete(heard: Heard): void {
    const item = this.#item()
    this.#hasCommitted = true
    if (!this.#isManual)
      this.#send('input_audio_buffer.speech_stopped', { ...item, audio_end_ms: Math.round(heard.endMs) })
    const previous_item_id = this.#items === 0 ? null : `item_${this.#items}`
    this.#send('input_audio_buffer.committed', { ...item, previous_item_id })
    const seconds = (this.#session.audioMs - this.#committedMs) / 1000
    this.#session.report(heard, ({ text }) =>
      this.#event('conversation.item.input_audio_transcription.completed', {
        ...item,
        content_index: 0,
        transcript: text,
        usage: { type: 'duration', seconds },
      }),
    )
    this.#items += 1
    this.#said = ''
    this.#committedMs = this.#session.audioMs
  }

  #item(): { readonly item_id: string } {
    return { item_id: `item_${this.#items + 1}` }
  }

  #fail(code: string, sentence: string): void {
    this.#session.breach(sentence)
    this.#send('error', { error: { type: 'invalid_request_error', code, message: sentence } })
  }

  #send(type: string, members: object): void {
    this.#session.send(this.#event(type, members))
  }

  #event(type: string, members: object): object {
    return { type, event_id: `event_${this.#session.sent.length + 1}`, ...members }
  }
}

const silent = { type: 'final', text: '', words: [], confidence: 0 } as const

function formatOf(format: unknown): AudioFormat | string {
  const type = member(format, 'type') ?? 'audio/pcm'
  const rate = member(format, 'rate')
  if (type === 'audio/pcmu') return { sampleRate: 8000, encoding: 'mulaw' }
  if (type !== 'audio/pcm') return `the format is ${shown(type)}`
  if (rate !== undefined && rate !== 24_000) return `the rate of audio/pcm is ${shown(rate)}, and it is 24000`
  return { sampleRate: 24_000, encoding: 'linear16' }
}
