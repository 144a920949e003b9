// The stand-in for a customer's own recogniser: the WebSocket interface of `custom:<name>` credentials.
import { startFront, type Front, type FrontOptions, type Session, type SessionHandlers } from './front.ts'

export function startCustom(options: FrontOptions): Promise<Front> {
  const { key = 'custom-token' } = options
  return startFront(
    {
      name: 'custom',
      path: '/stt',
      keyFault: ({ headers: { authorization } }) =>
        authorization === `Bearer ${key}`
          ? undefined
          : 'the header authorization is not Bearer and the token',
      open: (session) => handlersOf(session),
    },
    options,
  )
}

interface Start {
  readonly language: unknown
  readonly format: unknown
  readonly encoding: unknown
  readonly interimResults: unknown
  readonly sampleRateHz: unknown
}

function handlersOf(session: Session): SessionHandlers {
  let hasStarted = false
  function start(message: Start): void {
    if (hasStarted) return session.breach('start was sent twice')
    hasStarted = true
    const { language, format, encoding, interimResults, sampleRateHz } = message
    if (typeof language !== 'string') session.breach('start has no language')
    if (format !== 'raw') session.breach(`the format is ${String(format)}, and not raw`)
    if (encoding !== 'LINEAR16') session.breach(`the encoding is ${String(encoding)}, and not LINEAR16`)
    if (typeof interimResults !== 'boolean') session.breach('interimResults is not a boolean')
    session.listen({ sampleRate: Number(sampleRateHz), encoding: 'linear16' }, (event) => {
      if (event.type === 'onset' || (event.type === 'partial' && interimResults !== true)) return
      // A server has nothing to say of voice that it did not understand.
      if (event.text === '') return
      session.report(event, ({ type, text, confidence }) => ({
        type: 'transcription',
        is_final: type === 'final',
        alternatives: [{ transcript: text, confidence }],
        language,
        channel: 1,
      }))
    })
  }
  return {
    text(message) {
      const type = (message as { readonly type?: unknown } | null)?.type
      if (session.hasEnded) return session.breach(`${String(type)} was sent after stop`)
      if (type === 'start') return start(message as Start)
      if (type !== 'stop') return session.breach(`a message of the type ${String(type)} was sent`)
      if (!hasStarted) session.breach('stop was sent before start')
      session.finalize()
      session.hasEnded = true
      session.end()
    },
    audio: (bytes) => session.audio(bytes),
  }
}
