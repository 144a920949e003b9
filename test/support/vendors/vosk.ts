// The stand-in for vosk-server: every message of audio gets a reply.
import {
  member,
  plain,
  startFront,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard } from './stt-engine.ts'

/** The server compares this text, and not the JSON in it. */
const endText = '{"eof" : 1}'

export function startVosk(options: FrontOptions): Promise<Front> {
  return startFront({ name: 'vosk-server', path: '/', open: handlersOf }, options)
}

function handlersOf(session: Session): SessionHandlers {
  let hasWords = false
  let hasStarted = false
  let partial = ''
  let hasReplied = false

  function listen(sampleRate: number): void {
    hasStarted = true
    session.listen({ sampleRate, encoding: 'linear16' }, (event) => {
      if (event.type === 'onset') return
      if (event.type === 'partial') {
        partial = plain(event.text)
        return
      }
      partial = ''
      hasReplied = true
      session.report(event, resultOf)
    })
  }

  function resultOf({ text, words }: Heard) {
    const result = words.map((word) => ({
      conf: word.confidence,
      start: word.startMs / 1000,
      end: word.endMs / 1000,
      word: plain(word.text),
    }))
    return hasWords && words.length > 0 ? { result, text: plain(text) } : { text: plain(text) }
  }

  return {
    text(message, text) {
      if (session.hasEnded) return session.breach('a message was sent after the end')
      if (text === endText) {
        hasReplied = false
        session.finalize()
        if (!hasReplied) session.send({ text: '' })
        session.hasEnded = true
        return session.end()
      }
      if (member(message, 'eof') !== undefined)
        return session.breach(`the end is ${text}, and the server compares with ${endText}`)
      if (member(message, 'reset') !== undefined) return session.finalize()
      const config = member(message, 'config')
      if (config === undefined)
        return session.breach(`a message without config was sent: ${text.slice(0, 40)}`)
      if (hasStarted) return session.breach('config was sent after audio or another config')
      hasWords = member(config, 'words') === true
      listen(Number(member(config, 'sample_rate') ?? 8000))
    },
    audio(bytes) {
      // Without config the server assumes the rate of its start.
      if (!hasStarted) listen(8000)
      hasReplied = false
      session.audio(bytes)
      if (hasReplied) return
      const words = partial === '' ? [] : partial.split(' ')
      const place = { startMs: 0, endMs: session.audioMs, confidence: 1 }
      session.report(
        { type: 'partial', text: partial, words: words.map((text) => ({ text, ...place })), ...place },
        (heard) => ({ partial: heard.text }),
      )
    },
  }
}
