// The stand-in for Gladia's live transcription: POST /v2/live makes a session, whose WebSocket may be opened again.
import { text as bodyOf } from 'node:stream/consumers'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  member,
  plain,
  shown,
  startFront,
  type AudioFormat,
  type Fault,
  type Front,
  type FrontOptions,
  type Session,
  type SessionHandlers,
} from './front.ts'
import type { Heard } from './stt-engine.ts'

const encodings: Readonly<Record<string, AudioFormat['encoding']>> = {
  'wav/pcm': 'linear16',
  'wav/ulaw': 'mulaw',
}

interface Made {
  readonly format: AudioFormat
  readonly config: unknown
  readonly fault: Fault
  utterances: number
  open: Session | undefined
}

export function startGladia(options: FrontOptions): Promise<Front> {
  const { key = 'gladia-key' } = options
  const made = new Map<string, Made>()
  const madeOf = (query: URLSearchParams): Made | undefined => made.get(query.get('token') ?? '')
  return startFront(
    {
      name: 'Gladia',
      path: '/v2/live',
      keyFault({ headers, method }, { searchParams }) {
        if (method === 'POST')
          return headers['x-gladia-key'] === key ? undefined : 'the header X-Gladia-Key is not the key'
        return madeOf(searchParams) === undefined ? 'the token is of no session' : undefined
      },
      // The POST takes the fault of the script that refuses; its first connection takes the others of that fault.
      earlierFault: (_, { searchParams }) => {
        const session = madeOf(searchParams)
        return session === undefined || session.open !== undefined ? undefined : session.fault
      },
      open: (session) => handlersOf(session, madeOf(session.query)),
      request: async (session, request, response) => {
        const token = `session-${made.size + 1}`
        const body = await initiate(session, request, response)
        if (body !== undefined)
          made.set(token, { ...body, fault: session.fault, utterances: 0, open: undefined })
        if (body === undefined) return
        const url = `ws://${request.headers.host ?? ''}/v2/live?token=${token}`
        const reply = JSON.stringify({ id: token, created_at: new Date().toISOString(), url })
        response.writeHead(201, { 'content-type': 'application/json' }).end(reply)
      },
    },
    options,
  )
}

async function initiate(
  session: Session,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Pick<Made, 'format' | 'config'> | undefined> {
  if (request.method !== 'POST') {
    session.breach(`the method is ${request.method ?? ''}`)
    return void response.writeHead(405).end()
  }
  const config = JSON.parse(await bodyOf(request)) as unknown
  session.received.push(config)
  const name = shown(member(config, 'encoding') ?? 'wav/pcm')
  const encoding = encodings[name]
  const depth = member(config, 'bit_depth') ?? 16
  const isRight = encoding === 'mulaw' ? depth === 8 || depth === 16 : depth === 16
  if (encoding === undefined || !isRight) {
    session.breach(`the encoding is ${name} with a bit_depth of ${shown(depth)}`)
    return void response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"invalid"}')
  }
  return { config, format: { sampleRate: Number(member(config, 'sample_rate') ?? 16_000), encoding } }
}

function handlersOf(session: Session, made: Made | undefined): SessionHandlers {
  const none: SessionHandlers = { text: () => undefined, audio: () => undefined }
  if (made === undefined) return none
  if (made.open !== undefined && made.open.code === undefined) {
    session.breach('a second connection of one session was opened')
    session.end(4409, 'busy')
    return none
  }
  made.open = session
  const messages = member(made.config, 'messages_config')
  const wants = (name: string, preset: boolean): boolean => (member(messages, name) ?? preset) === true
  const session_id = session.query.get('token')
  const send = (type: string, data: unknown, more: object = {}): void =>
    session.send({ type, session_id, created_at: new Date().toISOString(), ...more, data })
  const lifecycle = (type: string): void => {
    if (wants('receive_lifecycle_events', false)) session.send({ type, session_id })
  }
  let octets = 0
  lifecycle('start_session')
  session.listen(made.format, (event) => {
    if (event.type === 'onset') {
      if (wants('receive_speech_events', true))
        send('speech_start', { time: event.startMs / 1000, channel: 0 })
      return
    }
    if (
      event.words.length === 0 ||
      (event.type === 'partial' && !wants('receive_partial_transcripts', false))
    )
      return
    const id = `00_${String(made.utterances).padStart(8, '0')}`
    session.report(event, (heard) => ({
      type: 'transcript',
      session_id,
      created_at: new Date().toISOString(),
      data: { id, is_final: heard.type === 'final', utterance: utteranceOf(heard) },
    }))
    if (event.type !== 'final') return
    made.utterances += 1
    if (wants('receive_speech_events', true)) send('speech_end', { time: event.endMs / 1000, channel: 0 })
  })
  function audio(bytes: Buffer): void {
    if (octets === 0) lifecycle('start_recording')
    session.audio(bytes)
    const byte_range = [octets, (octets += bytes.length)]
    if (wants('receive_acknowledgments', true))
      send(
        'audio_chunk',
        { byte_range, time_range: [0, session.audioMs / 1000] },
        { acknowledged: true, error: null },
      )
  }
  return {
    text(message) {
      const type = member(message, 'type')
      if (session.hasEnded) return session.breach(`${shown(type)} was sent after stop_recording`)
      if (type === 'audio_chunk') {
        const chunk = member(member(message, 'data'), 'chunk')
        if (typeof chunk === 'string') return audio(Buffer.from(chunk, 'base64'))
        return session.breach('an audio_chunk has no data.chunk')
      }
      if (type !== 'stop_recording') return session.breach(`a message of the type ${shown(type)} was sent`)
      session.finalize()
      session.hasEnded = true
      if (wants('receive_acknowledgments', true)) {
        const data = { recording_duration: session.audioMs / 1000, recording_left_to_process: 0 }
        send('stop_recording', data, { acknowledged: true, error: null })
      }
      lifecycle('end_recording')
      lifecycle('end_session')
      session.end()
    },
    audio,
  }
}

function utteranceOf({ text, words, confidence, startMs, endMs }: Heard) {
  return {
    text,
    start: startMs / 1000,
    end: endMs / 1000,
    language: 'en',
    confidence,
    channel: 0,
    words: words.map((word, index) => ({
      word: `${index === 0 ? '' : ' '}${word.text}`,
      start: word.startMs / 1000,
      end: word.endMs / 1000,
      confidence: plain(word.text) === '' ? 0 : word.confidence,
    })),
  }
}
