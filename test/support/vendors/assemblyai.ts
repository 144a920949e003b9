// The stand-in for AssemblyAI's streaming (/v3/ws).
import {
  member,
  plain,
  shown,
  startFront,
  type AudioFormat,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard, HeardWord } from './stt-engine.ts'

const encodings: Readonly<Record<string, AudioFormat['encoding']>> = {
  pcm_s16le: 'linear16',
  pcm_mulaw: 'mulaw',
}
/** A message of audio outside of these is an error (3007). */
const chunkMs = { least: 50, most: 1000 }

export function startAssemblyai(options: FrontOptions): Promise<Front> {
  const { key = 'assemblyai-key' } = options
  return startFront(
    {
      name: 'AssemblyAI',
      path: '/v3/ws',
      keyFault: ({ headers }, url) =>
        headers.authorization === key || url.searchParams.get('token') === key
          ? undefined
          : 'neither the header authorization nor token is the bare key',
      open: handlersOf,
    },
    options,
  )
}

function handlersOf(session: Session): SessionHandlers {
  const { query } = session
  const format = { sampleRate: Number(query.get('sample_rate')), encoding: encodingOf(session) }
  const isFormatted = query.get('format_turns') === 'true'
  // The models before Universal-3 send the end of a turn as it was heard, and then once more, formatted.
  const endsTwice = isFormatted && !/^(u3|universal-3)/.test(query.get('speech_model') ?? '')
  const silenceMs = session.options.silenceMs ?? Math.max(200, Number(query.get('min_turn_silence') ?? 240))
  const startedAt = performance.now()
  let order = 0
  session.listen(
    format,
    (event) => {
      if (event.type === 'onset') return session.send({ type: 'SpeechStarted', timestamp: event.startMs })
      if (event.type === 'partial') return session.report(event, (heard) => turn(heard, false))
      if (event.words.length === 0) return
      if (endsTwice) session.send(turn(event, false))
      session.report(event, (heard) => turn(heard, isFormatted))
      order += 1
    },
    silenceMs,
  )
  session.send({
    type: 'Begin',
    id: 'de5d9927-73a6-4be8-b52d-b4c07be37e6b',
    expires_at: Math.round(Date.now() / 1000) + 10_800,
  })

  function turn({ type, text, words, confidence }: Heard, turn_is_formatted: boolean) {
    const isEnd = type === 'final'
    // The last word may still change while it is spoken.
    const stable = isEnd ? words : words.slice(0, -1)
    const shown = turn_is_formatted ? text : plain(stable.map((word) => word.text).join(' '))
    return {
      type: 'Turn',
      turn_order: order,
      turn_is_formatted,
      end_of_turn: isEnd,
      transcript: shown,
      utterance: isEnd ? shown : '',
      end_of_turn_confidence: isEnd ? confidence : 0.01,
      words: words.map((word) => wordOf(word, turn_is_formatted, isEnd || word !== words.at(-1))),
    }
  }

  return {
    text(message) {
      const type = member(message, 'type')
      if (session.hasEnded) return session.breach(`${shown(type)} was sent after Terminate`)
      if (type === 'KeepAlive' || type === 'UpdateConfiguration') return
      if (type === 'ForceEndpoint') return session.finalize()
      if (type !== 'Terminate') return session.breach(`a message of the type ${shown(type)} was sent`)
      session.finalize()
      session.hasEnded = true
      session.send({
        type: 'Termination',
        audio_duration_seconds: Math.round(session.audioMs / 1000),
        session_duration_seconds: Math.round((performance.now() - startedAt) / 1000),
      })
      session.end()
    },
    audio(bytes) {
      const ms = (bytes.length / (format.encoding === 'mulaw' ? 1 : 2) / format.sampleRate) * 1000
      if (ms < chunkMs.least || ms > chunkMs.most)
        session.breach(`a message of ${ms} ms of audio was sent, and it may have 50 to 1000`)
      session.audio(bytes)
    },
  }
}

function encodingOf(session: Session): AudioFormat['encoding'] {
  const name = session.query.get('encoding') ?? 'pcm_s16le'
  const encoding = encodings[name]
  if (encoding === undefined) session.breach(`the encoding is ${name}`)
  return encoding ?? 'linear16'
}

function wordOf(
  { text, startMs, endMs, confidence }: HeardWord,
  isFormatted: boolean,
  word_is_final: boolean,
) {
  return {
    text: isFormatted ? text : plain(text),
    start: Math.round(startMs),
    end: Math.round(endMs),
    confidence,
    word_is_final,
  }
}
