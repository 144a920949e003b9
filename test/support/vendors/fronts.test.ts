import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../wait.ts'
import { startAssemblyai } from './assemblyai.ts'
import { startDeepgramFlux, type FluxOptions } from './deepgram-flux.ts'
import { startElevenlabs } from './elevenlabs.ts'
import { member, type Fault, type Front, type FrontOptions } from './front.ts'
import { startGladia } from './gladia.ts'
import { onLine, type LineOptions } from './line.ts'
import { startOpenaiRealtime } from './openai-realtime.ts'
import { startSoniox } from './soniox.ts'
import { speechClips } from './speech-clips.ts'
import { startSpeechmatics } from './speechmatics.ts'
import { Talk } from './talk.ts'
import { startVosk } from './vosk.ts'

type Message = object | string | Buffer

/** How a client of one vendor speaks with it. */
interface Client {
  readonly name: string
  readonly start: (options: FrontOptions) => Promise<Front>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent before audio. */
  readonly first?: readonly Message[]
  readonly line: LineOptions
  /** Pieces of 20 ms in one message. */
  readonly pieces?: number
  readonly wrap?: (bytes: Buffer) => Message
  /** Sent at the end. Nothing if the client closes the socket. */
  readonly end?: (messages: number) => Message
  readonly finals: (messages: readonly object[]) => readonly unknown[]
}

const base64 = (bytes: Buffer): string => bytes.toString('base64')
const typed = (messages: readonly object[], type: string): readonly object[] =>
  messages.filter((message) => member(message, 'type') === type)

const flux: Client = {
  name: 'Deepgram Flux',
  start: startDeepgramFlux,
  query: { model: 'flux-general-en', encoding: 'mulaw', sample_rate: '8000' },
  headers: { authorization: 'Token deepgram-key' },
  line: {},
  pieces: 4,
  end: () => ({ type: 'CloseStream' }),
  finals: (messages) =>
    messages
      .filter((message) => member(message, 'event') === 'EndOfTurn')
      .map((message) => member(message, 'transcript')),
}

const openai: Client = {
  name: 'OpenAI realtime',
  start: startOpenaiRealtime,
  query: { intent: 'transcription' },
  headers: { authorization: 'Bearer openai-key' },
  first: [
    {
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcmu' },
            transcription: { model: 'gpt-live-transcribe', language: 'en' },
            turn_detection: { type: 'server_vad', silence_duration_ms: 300 },
          },
        },
      },
    },
  ],
  line: {},
  wrap: (bytes) => ({ type: 'input_audio_buffer.append', audio: base64(bytes) }),
  finals: (messages) =>
    typed(messages, 'conversation.item.input_audio_transcription.completed').map((message) =>
      member(message, 'transcript'),
    ),
}

const assemblyai: Client = {
  name: 'AssemblyAI',
  start: startAssemblyai,
  query: { sample_rate: '16000', encoding: 'pcm_s16le', format_turns: 'true', speech_model: 'u3-rt-pro' },
  headers: { authorization: 'assemblyai-key' },
  line: { sampleRate: 16_000, encoding: 'linear16' },
  pieces: 3,
  end: () => ({ type: 'Terminate' }),
  finals: (messages) =>
    messages
      .filter((message) => member(message, 'end_of_turn') === true)
      .map((message) => member(message, 'transcript')),
}

const sonioxStart = {
  api_key: 'soniox-key',
  model: 'stt-rt-v3',
  audio_format: 'mulaw',
  sample_rate: 8000,
  num_channels: 1,
  enable_endpoint_detection: true,
}
const soniox: Client = {
  name: 'Soniox',
  start: startSoniox,
  first: [sonioxStart],
  line: {},
  end: () => '',
  finals(messages) {
    const tokens = messages.flatMap((message) => member(message, 'tokens') as object[])
    const finals = tokens.filter((token) => member(token, 'is_final') === true)
    const text = finals.map((token) => member(token, 'text')).join('')
    return text.split('<end>').filter((one) => one !== '')
  },
}

const speechmaticsStart = {
  message: 'StartRecognition',
  audio_format: { type: 'raw', encoding: 'mulaw', sample_rate: 8000 },
  transcription_config: {
    language: 'en',
    enable_partials: true,
    conversation_config: { end_of_utterance_silence_trigger: 0.25 },
  },
}
const speechmatics: Client = {
  name: 'Speechmatics',
  start: startSpeechmatics,
  headers: { authorization: 'Bearer speechmatics-key' },
  first: [speechmaticsStart],
  line: {},
  end: (last_seq_no) => ({ message: 'EndOfStream', last_seq_no }),
  finals: (messages) =>
    messages
      .filter((message) => member(message, 'message') === 'AddTranscript')
      .map((message) => String(member(member(message, 'metadata'), 'transcript')).trim()),
}

const chunkOf = (bytes: Buffer, commit = false): object => ({
  message_type: 'input_audio_chunk',
  audio_base_64: base64(bytes),
  commit,
  sample_rate: 8000,
})
const elevenlabs: Client = {
  name: 'ElevenLabs',
  start: startElevenlabs,
  query: {
    model_id: 'scribe_v2_realtime',
    audio_format: 'pcm_8000',
    commit_strategy: 'vad',
    vad_silence_threshold_secs: '0.4',
    include_timestamps: 'true',
  },
  headers: { 'xi-api-key': 'elevenlabs-key' },
  line: { encoding: 'linear16' },
  wrap: chunkOf,
  finals: (messages) =>
    messages
      .filter((message) => member(message, 'message_type') === 'committed_transcript')
      .map((message) => member(message, 'text')),
}

const vosk: Client = {
  name: 'vosk-server',
  start: startVosk,
  first: ['{"config":{"sample_rate":8000,"words":true}}'],
  line: { encoding: 'linear16' },
  end: () => '{"eof" : 1}',
  finals: (messages) =>
    messages.map((message) => member(message, 'text')).filter((text) => text !== undefined && text !== ''),
}

const gladiaOrder = {
  encoding: 'wav/pcm',
  sample_rate: 8000,
  bit_depth: 16,
  channels: 1,
  messages_config: { receive_partial_transcripts: true, receive_lifecycle_events: true },
}

const clips = speechClips(['I would like to book a table for two.', 'Goodbye and have a nice day.'])
const [table, goodbye] = clips as [(typeof clips)[0], (typeof clips)[0]]
const plainTable = 'i would like to book a table for two'

const fronts: Front[] = []
afterAll(() => Promise.all(fronts.map((front) => front.close())))

async function started(start: Client['start'], options: Partial<FrontOptions>, faults: readonly Fault[]) {
  const front = await start({ clips, ...options })
  fronts.push(front)
  front.fail(...faults)
  return front
}

async function connect(
  client: Client,
  {
    query = {},
    headers = client.headers,
    fault = {},
    options = {},
  }: Partial<Client> & { readonly fault?: Fault; readonly options?: Partial<FluxOptions> } = {},
) {
  const front = await started(client.start, options, [fault])
  const talk = await Talk.open(
    `${front.url}?${new URLSearchParams({ ...client.query, ...query }).toString()}`,
    { headers: { ...headers } },
  )
  return { front, talk }
}

/** Sends the sound in messages as the vendor wants them. Returns how many there were. */
async function say(client: Client, talk: Talk, pieces: readonly Buffer[]): Promise<number> {
  const { wrap, pieces: size = 1 } = client
  const whole = pieces.slice(0, pieces.length - (pieces.length % size))
  const messages = whole.map((_, index) =>
    index % size === size - 1 ? Buffer.concat(whole.slice(index - size + 1, index + 1)) : Buffer.alloc(0),
  )
  let count = 0
  await talk.say(messages, (bytes) => {
    if (bytes.length === 0) return undefined
    count += 1
    return wrap?.(bytes) ?? bytes
  })
  return count
}

const begin = (client: Client, talk: Talk): void => {
  for (const message of client.first ?? []) talk.send(message)
}

describe.concurrent.each([flux, openai, assemblyai, soniox, speechmatics, elevenlabs, vosk])(
  'The stand-in for $name',
  (client) => {
    it('hears a sentence and a second one, and finds nothing wrong', async () => {
      const { front, talk } = await connect(client)
      begin(client, talk)
      const pieces = [...onLine(table.audio, client.line), ...onLine(goodbye.audio, client.line)]
      const count = await say(client, talk, pieces)
      if (client.end !== undefined) talk.send(client.end(count))
      const wanted =
        client === vosk ? [plainTable, 'goodbye and have a nice day'] : [table.text, goodbye.text]
      await until('two finals', () => client.finals(talk.received).length === 2)
      expect(client.finals(talk.received)).toEqual(wanted)
      expect(front.breaches).toEqual([])
      if (client.end !== undefined && client !== speechmatics) expect(await talk.closed()).toBe(1000)
      talk.close()
    })

    it('breaks off in the middle of a sentence when it is scripted to', async () => {
      const { talk } = await connect(client, { fault: { cutAfterWords: 3, cutCode: 1011 } })
      begin(client, talk)
      await say(client, talk, onLine(table.audio, client.line))
      expect(await talk.closed()).toBe(1011)
      expect(client.finals(talk.received)).toEqual([])
    })

    it('does not say a word when it is scripted to stall', async () => {
      const { front, talk } = await connect(client, { fault: { stalls: true } })
      begin(client, talk)
      await say(client, talk, onLine(table.audio, client.line).slice(0, 60))
      expect(talk.received).toEqual([])
      expect(front.breaches).toEqual([])
      talk.close()
    })
  },
)

describe.concurrent('The stand-ins with keys in a header', () => {
  it.each([flux, openai, assemblyai, speechmatics, elevenlabs])(
    'refuse a wrong one: $name',
    async (client) => {
      await expect(connect(client, { headers: { authorization: 'wrong' } })).rejects.toThrow('401')
    },
  )
})

interface Breach {
  readonly client: Client
  readonly what: string
  readonly sentence: RegExp
  readonly query?: Readonly<Record<string, string>>
  readonly messages: readonly Message[]
}

const silence = Buffer.alloc(960, 0)
const breaches: readonly Breach[] = [
  {
    client: flux,
    what: 'a model of /v1',
    sentence: /not one of Flux/,
    query: { model: 'nova-3' },
    messages: [],
  },
  { client: flux, what: 'KeepAlive', sentence: /Flux does not have/, messages: [{ type: 'KeepAlive' }] },
  {
    client: flux,
    what: 'an eager threshold above the other',
    sentence: /above eot_threshold/,
    messages: [{ type: 'Configure', thresholds: { eager_eot_threshold: 0.9 } }],
  },
  {
    client: flux,
    what: 'a parameter of /v1',
    sentence: /one of \/v1/,
    query: { interim_results: 'true' },
    messages: [],
  },
  {
    client: openai,
    what: 'a model in the query',
    sentence: /invalid_model/,
    query: { model: 'whisper-1' },
    messages: [],
  },
  {
    client: openai,
    what: 'audio before the session was updated',
    sentence: /before its format/,
    messages: [{ type: 'input_audio_buffer.append', audio: base64(silence) }],
  },
  {
    client: openai,
    what: 'an empty commit',
    sentence: /less than 100 ms/,
    messages: [...openai.first!, { type: 'input_audio_buffer.commit' }],
  },
  {
    client: openai,
    what: 'a name of the former interface',
    sentence: /transcription_session/,
    messages: [{ type: 'transcription_session.update' }],
  },
  {
    client: assemblyai,
    what: 'messages of 20 ms',
    sentence: /20 ms of audio/,
    messages: [Buffer.alloc(640)],
  },
  {
    client: assemblyai,
    what: 'audio after Terminate',
    sentence: /after the end/,
    messages: [{ type: 'Terminate' }, Buffer.alloc(1920)],
  },
  {
    client: assemblyai,
    what: 'an encoding',
    sentence: /encoding is mulaw/,
    query: { encoding: 'mulaw' },
    messages: [],
  },
  {
    client: soniox,
    what: 'a wrong key',
    sentence: /has not the key/,
    messages: [{ ...sonioxStart, api_key: 'wrong' }],
  },
  { client: soniox, what: 'audio first', sentence: /before its format/, messages: [silence] },
  {
    client: soniox,
    what: 'no number of channels',
    sentence: /num_channels/,
    messages: [{ ...sonioxStart, num_channels: undefined }],
  },
  {
    client: soniox,
    what: 'finalize before audio',
    sentence: /before any audio/,
    messages: [sonioxStart, { type: 'finalize' }],
  },
  { client: speechmatics, what: 'audio first', sentence: /before StartRecognition/, messages: [silence] },
  {
    client: speechmatics,
    what: 'a wrong count of messages',
    sentence: /last_seq_no is 2 after 1/,
    messages: [speechmaticsStart, silence, { message: 'EndOfStream', last_seq_no: 2 }],
  },
  { client: elevenlabs, what: 'binary audio', sentence: /binary/, messages: [silence] },
  {
    client: elevenlabs,
    what: 'a commit of too little',
    sentence: /less than 300 ms/,
    messages: [chunkOf(silence, true)],
  },
  {
    client: elevenlabs,
    what: 'a chunk at another rate',
    sentence: /16000 Hz/,
    messages: [{ ...chunkOf(silence), sample_rate: 16_000 }],
  },
  { client: vosk, what: 'an end in other letters', sentence: /compares with/, messages: ['{"eof":1}'] },
  {
    client: vosk,
    what: 'config after audio',
    sentence: /after audio/,
    messages: [silence, ...vosk.first!],
  },
]

describe.concurrent('The stand-ins', () => {
  it.each(breaches)('record $what ($client.name)', async ({ client, sentence, query = {}, messages }) => {
    const { front, talk } = await connect(client, { query })
    for (const message of messages) talk.send(message)
    await until('the breach', () => front.breaches.length > 0)
    expect(front.breaches).toEqual([expect.stringMatching(sentence)])
    talk.close()
  })
})

const eventsOf = (talk: Talk): unknown[] =>
  talk.received
    .map((message) => member(message, 'event'))
    .filter((event) => event !== undefined && event !== 'Update')

describe.concurrent('The stand-in for Deepgram Flux in its turns', () => {
  it('may end a turn early and take it back, and ends it once', async () => {
    const query = { eager_eot_threshold: '0.4' }
    // The pause between the clips is longer than the early end, and shorter than the end.
    const { front, talk } = await connect(flux, { query, options: { endMs: 900 } })
    const joined = [...onLine(table.audio, { afterMs: 0 }), ...onLine(goodbye.audio, { afterMs: 1200 })]
    await say({ ...flux, pieces: 1 }, talk, joined)
    await until('the end', () => flux.finals(talk.received).length > 0)
    expect(flux.finals(talk.received)).toEqual([`${table.text} ${goodbye.text}`])
    const events = eventsOf(talk)
    expect(events.at(0)).toBe('StartOfTurn')
    expect(events.slice(-2)).toEqual(['EagerEndOfTurn', 'EndOfTurn'])
    const taken = events.filter((event) => event === 'TurnResumed')
    expect(taken.length).toBeGreaterThan(0)
    expect(events.filter((event) => event === 'EagerEndOfTurn')).toHaveLength(taken.length + 1)
    expect(talk.received.filter(({ event }) => event === 'Update').length).toBeGreaterThan(8)
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('leaves the end to the client at a threshold of 1', async () => {
    const { front, talk } = await connect(flux, { query: { eot_threshold: '1.0' } })
    await say(flux, talk, onLine(table.audio))
    expect(flux.finals(talk.received)).toEqual([])
    talk.send({ type: 'ForceEndTurn' })
    await until('the end', () => flux.finals(talk.received).length > 0)
    expect(flux.finals(talk.received)).toEqual([table.text])
    talk.send({ type: 'Configure', thresholds: { eot_threshold: 0.8 } })
    await until('the reply', () => typed(talk.received, 'ConfigureSuccess').length > 0)
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('sends the end of a turn twice when it is scripted to', async () => {
    const { talk } = await connect(flux, { fault: { repeatsEnds: true } })
    await say(flux, talk, onLine(table.audio))
    await until('two ends', () => flux.finals(talk.received).length === 2)
    talk.close()
  })
})

describe.concurrent('The stand-ins in what is their own', () => {
  it('AssemblyAI: the models before Universal-3 end a turn twice, raw and formatted', async () => {
    const { talk } = await connect(assemblyai, { query: { speech_model: 'universal-streaming-english' } })
    await say(assemblyai, talk, onLine(table.audio, assemblyai.line))
    await until('two ends', () => assemblyai.finals(talk.received).length === 2)
    const ends = talk.received.filter(({ end_of_turn }) => end_of_turn === true)
    expect(ends).toMatchObject([
      { transcript: plainTable, turn_is_formatted: false, turn_order: 0 },
      { transcript: table.text, turn_is_formatted: true, turn_order: 0 },
    ])
    talk.close()
  })

  it('OpenAI: a client without turns of the server commits, in 24 kHz too', async () => {
    const { front, talk } = await connect(openai)
    const [{ session }] = openai.first as [{ session: { audio: { input: object } } }]
    const format = { type: 'audio/pcm', rate: 24_000 }
    const input = { ...session.audio.input, format, turn_detection: null }
    talk.send({ type: 'session.update', session: { ...session, audio: { input } } })
    // Every sample three times is what a bad resampler would send, and good enough to be heard.
    const pieces = onLine(table.audio, { encoding: 'linear16' }).map((piece) => {
      const wide = Buffer.alloc(piece.length * 3)
      for (let at = 0; at < piece.length * 3; at += 2)
        wide.writeInt16LE(piece.readInt16LE(2 * Math.floor(at / 6)), at)
      return wide
    })
    await say(openai, talk, pieces)
    expect(openai.finals(talk.received)).toEqual([])
    talk.send({ type: 'input_audio_buffer.commit' })
    await until('the final', () => openai.finals(talk.received).length === 1)
    expect(openai.finals(talk.received)).toEqual([table.text])
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('OpenAI: completes the second item before the first when it is scripted to', async () => {
    const { talk } = await connect(openai, { fault: { swapsFinals: true } })
    begin(openai, talk)
    await say(openai, talk, [...onLine(table.audio), ...onLine(goodbye.audio)])
    await until('two finals', () => openai.finals(talk.received).length === 2)
    const completed = typed(talk.received, 'conversation.item.input_audio_transcription.completed')
    expect(completed.map((message) => member(message, 'item_id'))).toEqual(['item_2', 'item_1'])
    talk.close()
  })

  it('Soniox: finalizes on request and says when it has', async () => {
    const { front, talk } = await connect(soniox, { options: { silenceMs: 2000 } })
    begin(soniox, talk)
    await say(soniox, talk, onLine(table.audio))
    talk.send({ type: 'keepalive' })
    talk.send({ type: 'finalize' })
    await until('the mark', () => JSON.stringify(talk.received.at(-1)).includes('<fin>'))
    expect(soniox.finals(talk.received)).toEqual([`${table.text}<fin>`])
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('Speechmatics: acknowledges audio, ends utterances, and ends after the transcript', async () => {
    const { talk } = await connect(speechmatics)
    begin(speechmatics, talk)
    const count = await say(speechmatics, talk, onLine(table.audio))
    talk.send({ message: 'ForceEndOfUtterance' })
    talk.send(speechmatics.end!(count))
    await until('the end', () => talk.received.at(-1)?.['message'] === 'EndOfTranscript')
    const named = (name: string) => talk.received.filter(({ message }) => message === name)
    expect(named('AudioAdded').at(-1)).toEqual({ message: 'AudioAdded', seq_no: count })
    expect(named('EndOfUtterance')).toHaveLength(2)
    const [final] = named('AddTranscript')
    expect(JSON.stringify(final)).toContain('"content":"two"')
    expect(JSON.stringify(final)).toContain('"attaches_to":"previous"')
    talk.close()
  })

  it('ElevenLabs: commits on request, in both forms if times are wanted', async () => {
    const { front, talk } = await connect(elevenlabs, { query: { commit_strategy: 'manual' } })
    await say(elevenlabs, talk, onLine(table.audio, elevenlabs.line))
    expect(elevenlabs.finals(talk.received)).toEqual([])
    talk.send(chunkOf(Buffer.alloc(0), true))
    await until('the final', () => elevenlabs.finals(talk.received).length === 1)
    expect(elevenlabs.finals(talk.received)).toEqual([table.text])
    await until(
      'the times',
      () => talk.received.at(-1)?.['message_type'] === 'committed_transcript_with_timestamps',
    )
    expect(front.breaches).toEqual([])
    talk.close()
  })

  it('vosk-server: replies to each message of audio', async () => {
    const { talk } = await connect(vosk)
    begin(vosk, talk)
    const count = await say(vosk, talk, onLine(table.audio, vosk.line))
    await until('the replies', () => talk.received.length === count)
    expect(talk.received.filter((message) => 'result' in message)).toHaveLength(1)
    talk.close()
  })
})

describe.concurrent('The stand-in for Gladia', () => {
  async function order(front: Front, key = 'gladia-key', more: object = {}): Promise<Response> {
    return await fetch(front.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gladia-key': key },
      body: JSON.stringify({ ...gladiaOrder, ...more }),
    })
  }
  const urlIn = async (response: Response): Promise<string> =>
    ((await response.json()) as { url: string }).url
  const textsOf = (talk: Talk): unknown[] =>
    typed(talk.received, 'transcript')
      .filter((message) => member(member(message, 'data'), 'is_final') === true)
      .map((message) => member(member(member(message, 'data'), 'utterance'), 'text'))

  it('makes a session whose socket may be opened again after a break', async () => {
    const front = await started(startGladia, {}, [{ cutAfterWords: 3 }])
    const response = await order(front)
    expect(response.status).toBe(201)
    const url = await urlIn(response)
    const cut = await Talk.open(url)
    await cut.say(onLine(table.audio, { encoding: 'linear16' }))
    expect(await cut.closed()).toBe(1006)
    const talk = await Talk.open(url)
    await talk.say(onLine(goodbye.audio, { encoding: 'linear16' }))
    talk.send({ type: 'stop_recording' })
    expect(await talk.closed()).toBe(1000)
    expect(textsOf(talk)).toEqual([goodbye.text])
    const types = talk.received.map(({ type }) => type)
    expect(types.at(0)).toBe('start_session')
    expect(types.at(-1)).toBe('end_session')
    expect(types).toContain('speech_end')
    expect(talk.received.find(({ type }) => type === 'audio_chunk')).toMatchObject({ acknowledged: true })
    expect(front.breaches).toEqual([])
  })

  it('records a wrong key, a wrong encoding, a token of no session and a second socket', async () => {
    const front = await started(startGladia, {}, [])
    expect((await order(front, 'wrong')).status).toBe(401)
    expect((await order(front, 'gladia-key', { encoding: 'mulaw' })).status).toBe(400)
    await expect(Talk.open(`ws://${front.host}/v2/live?token=none`)).rejects.toThrow('401')
    const url = await urlIn(await order(front))
    await Talk.open(url)
    const second = await Talk.open(url)
    expect(await second.closed()).toBe(4409)
    expect(front.breaches).toEqual([
      expect.stringMatching(/X-Gladia-Key/),
      expect.stringMatching(/encoding is mulaw/),
      expect.stringMatching(/token is of no session/),
      expect.stringMatching(/second connection/),
    ])
  })

  it('refuses a session as it is scripted to', async () => {
    const front = await started(startGladia, {}, [{ refuseWith: 429 }])
    expect((await order(front)).status).toBe(429)
    expect((await order(front)).status).toBe(201)
  })
})
