// The stand-in for Speechmatics in real time (/v2).
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
import type { Heard, HeardWord } from './stt-engine.ts'

const encodings: Readonly<Record<string, AudioFormat['encoding']>> = { pcm_s16le: 'linear16', mulaw: 'mulaw' }
const secondsOf = (ms: number): number => Math.round(ms) / 1000

export function startSpeechmatics(options: FrontOptions): Promise<Front> {
  return startFront(
    {
      name: 'Speechmatics',
      path: '/v2',
      keyFault: schemeFault('Bearer ', options.key ?? 'speechmatics-key'),
      open: handlersOf,
    },
    options,
  )
}

function handlersOf(session: Session): SessionHandlers {
  let hasStarted = false
  let frames = 0
  let endsUtterances = false
  function utteranceEnd({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }): void {
    const metadata = { start_time: secondsOf(startMs), end_time: secondsOf(endMs) }
    session.send({ message: 'EndOfUtterance', format: '2.9', metadata }, 'end')
  }
  function fail(type: string, reason: string): void {
    session.breach(reason)
    session.send({ message: 'Error', type, reason })
    session.hasEnded = true
    session.end(1003, type)
  }
  function start(message: unknown): void {
    if (hasStarted) return session.breach('StartRecognition was sent twice')
    hasStarted = true
    const format = member(message, 'audio_format')
    const config = member(message, 'transcription_config')
    if (member(format, 'type') !== 'raw') return fail('invalid_audio_type', 'the audio is not raw')
    const name = shown(member(format, 'encoding'))
    const encoding = encodings[name]
    if (encoding === undefined) return fail('invalid_audio_type', `the encoding is ${name}`)
    if (typeof member(config, 'language') !== 'string') return fail('invalid_config', 'no language was named')
    const silence = member(member(config, 'conversation_config'), 'end_of_utterance_silence_trigger')
    endsUtterances = typeof silence === 'number' && silence > 0
    const silenceMs = endsUtterances ? Math.max(200, Number(silence) * 1000) : undefined
    const hasPartials = member(config, 'enable_partials') === true
    session.listen(
      { sampleRate: Number(member(format, 'sample_rate')), encoding },
      (event) => {
        if (event.type === 'onset' || event.words.length === 0) return
        if (event.type === 'partial' && !hasPartials) return
        session.report(event, transcriptOf)
        if (event.type === 'final' && endsUtterances)
          utteranceEnd({ startMs: event.endMs, endMs: event.endMs })
      },
      session.options.silenceMs ?? silenceMs,
    )
    session.send({ message: 'RecognitionStarted', id: 'c5a5a6b0-0d3e-4f0f-9c7f-1c2f4b7d9e21' })
  }
  return {
    text(message) {
      const name = member(message, 'message')
      if (session.hasEnded) return session.breach(`${shown(name)} was sent after EndOfStream`)
      if (name === 'StartRecognition') return start(message)
      if (!hasStarted) return session.breach(`${shown(name)} was sent before StartRecognition`)
      if (name === 'SetRecognitionConfig') return
      if (name === 'ForceEndOfUtterance') {
        const before = session.finals.length
        session.finalize()
        if (session.finals.length === before || !endsUtterances)
          utteranceEnd({ startMs: session.audioMs, endMs: session.audioMs })
        return
      }
      if (name !== 'EndOfStream') return session.breach(`a message ${shown(name)} was sent`)
      const last = member(message, 'last_seq_no')
      if (last !== frames) session.breach(`last_seq_no is ${shown(last)} after ${frames} messages of audio`)
      session.finalize()
      session.hasEnded = true
      session.send({ message: 'EndOfTranscript' })
    },
    audio(bytes) {
      if (!hasStarted) return fail('protocol_error', 'audio was sent before StartRecognition')
      session.audio(bytes)
      frames += 1
      session.send({ message: 'AudioAdded', seq_no: frames })
    },
  }
}

function transcriptOf({ type, text, words, startMs, endMs }: Heard) {
  return {
    message: type === 'final' ? 'AddTranscript' : 'AddPartialTranscript',
    format: '2.9',
    metadata: {
      start_time: secondsOf(startMs),
      end_time: secondsOf(endMs),
      transcript: text === '' ? '' : `${text} `,
    },
    results: words.flatMap(resultsOf),
  }
}

/** A mark is a result of its own, which attaches to the word before it. */
function resultsOf({ text, startMs, endMs, confidence }: HeardWord) {
  const [, content = text, mark = ''] = /^(.*?)([.,?!]?)$/.exec(text) ?? []
  const times = { start_time: secondsOf(startMs), end_time: secondsOf(endMs) }
  const word = { type: 'word', ...times, alternatives: [{ content, confidence, language: 'en' }] }
  if (mark === '') return [word]
  const at = { start_time: times.end_time, end_time: times.end_time }
  const alternatives = [{ content: mark, confidence: 1, language: 'en' }]
  return [word, { type: 'punctuation', attaches_to: 'previous', is_eos: mark !== ',', ...at, alternatives }]
}
