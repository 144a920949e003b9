// The stand-in for Soniox (/transcribe-websocket): tokens instead of sentences.
import {
  member,
  shown,
  startFront,
  type AudioFormat,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard, HeardWord } from './stt-engine.ts'

const formats: Readonly<Record<string, AudioFormat['encoding']>> = { pcm_s16le: 'linear16', mulaw: 'mulaw' }
/** Without audio or keepalive for so long, a connection is closed. */
const idleMs = 20_000

export function startSoniox(options: FrontOptions): Promise<Front> {
  const { key = 'soniox-key' } = options
  return startFront(
    {
      name: 'Soniox',
      path: '/transcribe-websocket',
      open: (session) => handlersOf(session, key),
    },
    options,
  )
}

function handlersOf(session: Session, key: string): SessionHandlers {
  let hasStarted = false
  let hasEndpoints = false
  function progress() {
    const ms = Math.round(session.audioMs)
    return { final_audio_proc_ms: ms, total_audio_proc_ms: ms }
  }
  function report(heard: Heard, ...marks: readonly string[]): void {
    session.report(heard, ({ type, words }) => ({
      tokens: [
        ...words.map((word, index) => tokenOf(word, index, type === 'final')),
        ...marks.map((text) => ({ text, is_final: true })),
      ],
      ...progress(),
    }))
  }
  function fail(error_code: number, error_message: string): void {
    session.breach(error_message)
    session.send({ tokens: [], error_code, error_message })
    session.hasEnded = true
    session.end()
  }
  function start(message: unknown): void {
    hasStarted = true
    const given = member(message, 'api_key')
    const isAllowed = given === key || session.headers.authorization === `Bearer ${key}`
    if (!isAllowed) return fail(401, 'the first message has not the key')
    if (typeof member(message, 'model') !== 'string') return fail(400, 'the first message names no model')
    const name = shown(member(message, 'audio_format'))
    const encoding = formats[name]
    if (encoding === undefined) return fail(400, `the audio_format is ${name}`)
    if (member(message, 'num_channels') !== 1) return fail(400, 'num_channels is not 1, as raw audio needs')
    hasEndpoints = member(message, 'enable_endpoint_detection') === true
    session.listen({ sampleRate: Number(member(message, 'sample_rate')), encoding }, (event) => {
      if (event.type === 'onset' || event.words.length === 0) return
      report(event, ...(event.type === 'final' && hasEndpoints && !isFinalizing ? ['<end>'] : []))
    })
  }
  let isFinalizing = false
  function finalize(): void {
    isFinalizing = true
    session.finalize()
    isFinalizing = false
  }
  function end(): void {
    finalize()
    session.hasEnded = true
    session.send({ tokens: [], ...progress(), finished: true })
    session.end()
  }
  return {
    idleMs: session.options.idleMs ?? idleMs,
    text(message, text) {
      if (session.hasEnded) return session.breach('a message was sent after the end')
      if (!hasStarted) return text === '' ? session.breach('the end came before the start') : start(message)
      if (text === '') return end()
      const type = member(message, 'type')
      if (type === 'keepalive') return
      if (type !== 'finalize') return session.breach(`a message of the type ${shown(type)} was sent`)
      if (session.audioMs === 0) session.breach('finalize was sent before any audio')
      finalize()
      session.send({ tokens: [{ text: '<fin>', is_final: true }], ...progress() })
    },
    audio(bytes) {
      if (bytes.length === 0 && hasStarted && !session.hasEnded) end()
      else session.audio(bytes)
    },
  }
}

function tokenOf({ text, startMs, endMs, confidence }: HeardWord, index: number, is_final: boolean) {
  const [start_ms, end_ms] = [Math.round(startMs), Math.round(endMs)]
  return { text: index === 0 ? text : ` ${text}`, start_ms, end_ms, confidence, is_final }
}
