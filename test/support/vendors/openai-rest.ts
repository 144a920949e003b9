// The stand-in for the transcription of whole recordings in OpenAI's dialect (POST /v1/audio/transcriptions).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fromWav, toWav, type Audio } from '../audio.ts'
import { plain, startFront, type Front, type FrontOptions, type Session } from './front.ts'
import type { Heard } from './stt-engine.ts'

/** The largest upload that OpenAI takes. */
const maxBytes = 25 * 2 ** 20
const formats = ['json', 'verbose_json', 'text']

export function startOpenaiRest(options: FrontOptions): Promise<Front> {
  const { key = 'openai-key' } = options
  return startFront(
    {
      name: 'OpenAI transcriptions',
      path: '/v1/audio/transcriptions',
      keyFault: ({ headers: { authorization } }) =>
        authorization === `Bearer ${key}` ? undefined : 'the header authorization is not Bearer and the key',
      // A whole recording is sent at once.
      open: () => ({ text: () => undefined, audio: () => undefined }),
      request: answer,
    },
    { maxAheadMs: Infinity, ...options },
  )
}

async function answer(session: Session, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = await readForm(request)
  const { delayMs = 0, stalls, cutAfterWords, garbage, giantBytes, emptyFinals } = session.fault
  const heard = recognise(session, form)
  if (stalls === true) return
  const text = emptyFinals === true ? '' : heard.map((one) => one.text).join(' ')
  const reply = (): void => {
    if (cutAfterWords !== undefined) return void response.destroy()
    const format = textOf(form, 'response_format') ?? 'json'
    const message = format === 'verbose_json' ? verbose(session, heard, text) : { text }
    const padding = giantBytes === undefined ? '' : ' '.repeat(giantBytes)
    const whole = Buffer.from(format === 'text' ? `${text}\n` : padding + JSON.stringify(message))
    session.sent.push(message)
    response.writeHead(200, {
      'content-type': format === 'text' ? 'text/plain; charset=utf-8' : 'application/json',
    })
    if (garbage === true) return void response.end('{"text": "half')
    const wide = whole.findIndex((octet) => octet >= 0xc0)
    const cut = session.fault.splitsUtf8 === true ? wide + 1 : 0
    response.write(whole.subarray(0, cut))
    // In a packet of its own.
    session.after(cut === 0 ? 0 : 50, () => response.end(whole.subarray(cut)))
  }
  if (delayMs === 0) reply()
  else session.after(delayMs, reply)
}

function recognise(session: Session, form: FormData): readonly Heard[] {
  if (textOf(form, 'model') === undefined) session.breach('no model was named')
  const format = textOf(form, 'response_format')
  if (format !== undefined && !formats.includes(format))
    session.breach(`the response_format is ${format}, which this stand-in does not know`)
  const file = form.get('file')
  if (!(file instanceof File)) {
    session.breach('there is no file in the form')
    return []
  }
  // The service knows the kind of a recording by the name of its file alone.
  if (!file.name.endsWith('.wav')) session.breach(`the file is named "${file.name}", and not .wav`)
  const audio = wavs.get(file)
  if (audio === undefined) {
    session.breach('the file is not a WAV file of 16 bits')
    return []
  }
  const heard: Heard[] = []
  const { sampleRate } = audio
  session.listen({ sampleRate, encoding: 'linear16' }, (event) => {
    if (event.type === 'final' && event.text !== '') heard.push(event)
  })
  if (sampleRate === 8000 || sampleRate === 16_000) session.audio(toWav(audio).subarray(44))
  session.finalize()
  session.hasEnded = true
  return heard
}

function verbose({ audioMs }: Session, heard: readonly Heard[], text: string) {
  return {
    task: 'transcribe',
    language: 'english',
    duration: audioMs / 1000,
    text,
    words: heard.flatMap(({ words }) =>
      words.map((word) => ({ word: plain(word.text), start: word.startMs / 1000, end: word.endMs / 1000 })),
    ),
    segments: heard.map((one, id) => ({
      id,
      seek: 0,
      start: one.startMs / 1000,
      end: one.endMs / 1000,
      text: ` ${one.text}`,
      temperature: 0,
      avg_logprob: Math.log(one.confidence),
      no_speech_prob: 1 - one.confidence,
    })),
  }
}

const wavs = new WeakMap<File, Audio>()

/** Reads the form, and the WAV file in it. */
async function readForm(request: IncomingMessage): Promise<FormData> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data; *boundary=/.test(type)) throw new Error(`the content type is "${type}"`)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error('the upload is larger than 25 MB')
    chunks.push(chunk)
  }
  const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData()
  const file = form.get('file')
  if (file instanceof File)
    try {
      wavs.set(file, fromWav(Buffer.from(await file.arrayBuffer())))
    } catch {
      // Reported as a breach where the file is used.
    }
  return form
}

function textOf(form: FormData, name: string): string | undefined {
  const value = form.get(name)
  return typeof value === 'string' ? value : undefined
}
