// The stand-in for ElevenLabs' realtime speech to text.
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

/** Less audio than this is not committed (commit_throttled). */
const leastCommitMs = 300
/** An empty chunk keeps the connection alive. */
const idleMs = 15_000

export function startElevenlabs(options: FrontOptions): Promise<Front> {
  const { key = 'elevenlabs-key' } = options
  return startFront(
    {
      name: 'ElevenLabs',
      path: '/v1/speech-to-text/realtime',
      keyFault: ({ headers }) =>
        headers['xi-api-key'] === key ? undefined : 'the header xi-api-key is not the key',
      open: handlersOf,
    },
    options,
  )
}

function handlersOf(session: Session): SessionHandlers {
  const { query } = session
  const format = formatOf(query.get('audio_format') ?? 'pcm_16000')
  const strategy = query.get('commit_strategy') ?? 'manual'
  const hasTimes = query.get('include_timestamps') === 'true'
  const seconds = Number(query.get('vad_silence_threshold_secs') ?? 1.5)
  const isManual = strategy === 'manual'
  let committedMs = 0
  let pending: HeardWord[] = []

  if (query.get('model_id') === null) session.breach('no model_id was named')
  if (strategy !== 'manual' && strategy !== 'vad') session.breach(`the commit_strategy is ${strategy}`)
  if (seconds <= 0.3 || seconds > 3)
    session.breach(`vad_silence_threshold_secs is ${seconds}, and not in 0.3 to 3`)
  if (format === undefined) session.breach(`the audio_format is ${query.get('audio_format') ?? ''}`)
  else session.listen(format, hear, session.options.silenceMs ?? (isManual ? 240 : seconds * 1000))
  session.send({
    message_type: 'session_started',
    session_id: '0b0a72b57fd743ebbed6555d44836cf2',
    config: { ...Object.fromEntries(query), sample_rate: format?.sampleRate, commit_strategy: strategy },
  })

  function hear(event: Heard | { readonly type: 'onset' }): void {
    if (event.type === 'onset' || event.words.length === 0) return
    const words = [...pending, ...event.words]
    const whole: Heard = { ...event, words, text: words.map(({ text }) => text).join(' ') }
    if (event.type === 'final' && !isManual) commit(whole)
    else {
      if (event.type === 'final') pending = words
      session.report({ ...whole, type: 'partial' }, ({ text }) => ({
        message_type: 'partial_transcript',
        text,
      }))
    }
  }

  function commit(heard: Heard): void {
    committedMs = session.audioMs
    pending = []
    session.report(heard, ({ text }) => ({ message_type: 'committed_transcript', text }))
    if (hasTimes)
      session.send({
        message_type: 'committed_transcript_with_timestamps',
        text: heard.text,
        language_code: query.get('language_code') ?? 'en',
        words: heard.words.flatMap(timed),
      })
  }

  function commitNow(): void {
    if (session.audioMs - committedMs < leastCommitMs) {
      session.breach(`commit was sent with less than ${leastCommitMs} ms of audio since the last one`)
      return session.send({ message_type: 'commit_throttled', error: 'not enough uncommitted audio' })
    }
    session.finalize()
    const text = pending.map((word) => word.text).join(' ')
    const [startMs, endMs] = [pending[0]?.startMs ?? committedMs, session.audioMs]
    // In the strategy vad, `finalize` has committed.
    if (isManual) commit({ type: 'final', words: pending, text, confidence: 1, startMs, endMs })
  }

  return {
    idleMs: session.options.idleMs ?? idleMs,
    text(message) {
      const type = member(message, 'message_type')
      if (type === 'commit') return commitNow()
      if (type !== 'input_audio_chunk')
        return session.breach(`a message of the message_type ${shown(type)} was sent`)
      const chunk = member(message, 'audio_base_64')
      const rate = member(message, 'sample_rate')
      if (typeof chunk !== 'string') return session.breach('a chunk has no audio_base_64')
      if (rate !== undefined && rate !== format?.sampleRate)
        session.breach(`a chunk of ${shown(rate)} Hz was sent`)
      if (chunk !== '') session.audio(Buffer.from(chunk, 'base64'))
      if (member(message, 'commit') === true) commitNow()
    },
    audio: () => session.breach('audio was sent as a binary message'),
  }
}

function formatOf(name: string): AudioFormat | undefined {
  const [, kind, rate] = /^(pcm|ulaw)_(\d+)$/.exec(name) ?? []
  if (kind === undefined) return undefined
  return { sampleRate: Number(rate), encoding: kind === 'ulaw' ? 'mulaw' : 'linear16' }
}

/** Spaces are entries of their own. */
function timed({ text, startMs, endMs, confidence }: HeardWord, index: number) {
  const [start, end] = [startMs / 1000, endMs / 1000]
  const word = {
    text: plain(text) === '' ? '' : text,
    start,
    end,
    type: 'word',
    logprob: Math.log(confidence),
  }
  return index === 0 ? [word] : [{ text: ' ', start, end: start, type: 'spacing' }, word]
}
