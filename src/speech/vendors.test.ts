// Tests of every vendor against a server on loopback that checks each request and responds as the vendor documents.
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AwsV4Signer } from 'aws4fetch'
import { decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { AppError } from '../lib/errors.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { createAws } from './aws.ts'
import { createCustom } from './custom.ts'
import { createDeepgram } from './deepgram.ts'
import { createElevenLabs } from './elevenlabs.ts'
import { createGoogle } from './google.ts'
import { createMicrosoft } from './microsoft.ts'
import { createOpenAi } from './openai.ts'
import type { Pcm, Settings, SpeechVendor, VendorOptions } from './vendor.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'

interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

type Answer = (request: Received, response: ServerResponse) => unknown

let server: Server
let at: string
let received: Received[] = []
let answer: Answer = () => {}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', headers } = request
      const entry = { method, headers, url: new URL(request.url ?? '', at), body: Buffer.concat(chunks) }
      received.push(entry)
      answer(entry, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const clock = createFakeClock()
let outgoing: Outgoing
beforeEach(() => {
  received = []
  outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger, clock })
})
afterEach(() => outgoing.close())

const options = (): VendorOptions => ({ scratchDir: '/nowhere', outgoing, clock, log: silentLogger })

const samples = Buffer.from(Int16Array.from({ length: 400 }, (_, index) => index * 50).buffer)
const wav = Buffer.concat([wavHeader(16_000, samples.length), samples])
const recording: Pcm = { sampleRate: 16_000, bytes: samples }
const sent = Buffer.concat([wavHeader(16_000, samples.length), samples])

const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body))
const audio = (response: ServerResponse, body: Buffer, type = 'audio/wav'): void =>
  void response.writeHead(200, { 'content-type': type }).end(body)

const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const serviceKey = JSON.stringify({
  client_email: 'speech@project.example',
  private_key: rsa.privateKey,
  private_key_id: 'key-1',
  // This is another server: the assertion must go to Google, not to an address that a key may name.
  token_uri: 'http://203.0.113.1/token',
})

/** A vendor, the settings it needs, and a server that responds to it successfully. */
interface Case {
  readonly make: () => SpeechVendor
  readonly settings: () => Settings
  readonly good: Answer
}

const cases: Readonly<Record<string, Case>> = {
  google: {
    make: () =>
      createGoogle(options(), {
        token: `${at}/token`,
        synthesis: `${at}/tts/v1`,
        recognition: `${at}/stt/v1`,
      }),
    settings: () => ({ service_key: serviceKey }),
    good: ({ url }, response) => {
      if (url.pathname === '/token')
        json(response, { access_token: 'ya29', expires_in: 3600, token_type: 'Bearer' })
      else if (url.pathname.endsWith('synthesize')) json(response, { audioContent: wav.toString('base64') })
      else if (url.pathname.endsWith('recognize'))
        json(response, {
          results: [
            { alternatives: [{ transcript: 'hello', confidence: 0.9 }] },
            { alternatives: [{ transcript: ' world' }] },
          ],
        })
      else
        json(response, {
          voices: [{ name: 'en-US-Wavenet-A', languageCodes: ['en-US'], ssmlGender: 'FEMALE' }],
        })
    },
  },
  microsoft: {
    make: () => createMicrosoft(options(), (region, service) => `${at}/${region}/${service}`),
    settings: () => ({ api_key: 'ms-key-0123456789', region: 'westeurope' }),
    good: ({ url }, response) => {
      if (url.pathname.endsWith('/voices/list'))
        json(response, [
          { ShortName: 'en-US-AvaNeural', DisplayName: 'Ava', Locale: 'en-US', LocaleName: 'English (US)' },
        ])
      else if (url.pathname.includes('/stt/'))
        json(response, { RecognitionStatus: 'Success', DisplayText: 'Hello world.' })
      else audio(response, wav, 'audio/x-wav')
    },
  },
  aws: {
    make: () => createAws(options(), (region, service) => `${at}/${region}/${service}`),
    settings: () => ({
      aws_region: 'eu-west-1',
      access_key_id: 'AKIAEXAMPLE',
      secret_access_key: 'aws-secret-0123',
    }),
    good: ({ url }, response) => {
      if (url.pathname.endsWith('/voices'))
        json(response, {
          Voices: [{ Id: 'Joanna', Name: 'Joanna', LanguageCode: 'en-US', LanguageName: 'US English' }],
        })
      else audio(response, samples, 'audio/pcm')
    },
  },
  deepgram: {
    make: () => createDeepgram(options(), at),
    settings: () => ({
      api_key: 'dg-key-0123456789',
      deepgram_tts_uri: at,
      deepgram_stt_uri: at.slice('http://'.length),
    }),
    good: ({ url }, response) => {
      if (url.pathname === '/v1/speak') audio(response, wav)
      else if (url.pathname === '/v1/models')
        json(response, {
          stt: [
            { name: 'general', canonical_name: 'nova-3-general', languages: ['en-US', 'de'] },
            { name: 'phonecall', canonical_name: 'nova-2-phonecall', languages: ['en-US'] },
          ],
          tts: [
            { name: 'thalia', canonical_name: 'aura-2-thalia-en', languages: ['en', 'en-US'] },
            { name: 'sienna', canonical_name: 'flux-sienna-en', languages: ['en'] },
          ],
        })
      else json(response, { results: { channels: [{ alternatives: [{ transcript: 'hello world' }] }] } })
    },
  },
  elevenlabs: {
    make: () => createElevenLabs(options()),
    settings: () => ({
      api_key: 'xi-key-0123456789',
      model_id: 'eleven_flash_v2_5',
      api_uri: at,
      options: '{"voice_settings":{"stability":0.5}}',
    }),
    good: ({ url }, response) => {
      if (url.pathname === '/v1/voices') json(response, { voices: [{ voice_id: 'v1', name: 'Vee' }] })
      else if (url.pathname === '/v1/models')
        json(response, [
          {
            model_id: 'm1',
            name: 'Em',
            can_do_text_to_speech: true,
            languages: [{ language_id: 'en', name: 'English' }],
          },
          { model_id: 'm2', can_do_text_to_speech: false },
        ])
      else if (url.pathname === '/v1/speech-to-text')
        json(response, { text: 'hello world', language_code: 'en' })
      else audio(response, samples, 'audio/pcm')
    },
  },
  openai: {
    make: () => createOpenAi(options(), `${at}/v1`),
    settings: () => ({ api_key: 'sk-key-0123456789', model_id: 'tts-1' }),
    good: ({ url }, response) => {
      if (url.pathname === '/v1/audio/speech')
        audio(response, Buffer.concat([wavHeader(24_000, samples.length), samples]))
      else if (url.pathname === '/v1/models')
        json(response, {
          data: ['tts-1-hd', 'gpt-9-tts', 'gpt-9', 'whisper-1', 'gpt-realtime-whisper'].map((id) => ({ id })),
        })
      else json(response, { text: 'hello world' })
    },
  },
  custom: {
    make: () => createCustom(options()),
    settings: () => ({ auth_token: 'my-token-0123', custom_tts_url: `${at}/say` }),
    good: (_request, response) => audio(response, wav),
  },
}

const utterance = { text: 'Fish & chips', isSsml: false, voice: 'en-US-Standard-C', language: 'en-US' }
const speak = ({ make, settings }: Case, more: Partial<typeof utterance> = {}): Promise<Pcm> =>
  make().synthesizer!.synthesize({ ...utterance, ...more }, settings())

function bodyOf(index: number): unknown {
  return JSON.parse(received[index]!.body.toString())
}

async function formOf({ headers, body }: Received): Promise<Record<string, string | Buffer>> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': String(headers['content-type']) },
  }).formData()
  const fields: Record<string, string | Buffer> = {}
  for (const [name, value] of form)
    fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer())
  return fields
}

describe('google', () => {
  const google = cases['google']!

  it('signs an assertion for a token, and asks for 16 kHz samples with it', async () => {
    answer = google.good
    expect(await speak(google)).toEqual({ sampleRate: 16_000, bytes: samples })
    const grant = new URLSearchParams(received[0]!.body.toString())
    expect(grant.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const assertion = grant.get('assertion')!
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    const { payload } = await jwtVerify(assertion, await importSPKI(rsa.publicKey, 'RS256'), {
      currentDate: new Date(clock.now()),
    })
    expect(payload).toEqual({
      iss: 'speech@project.example',
      aud: `${at}/token`,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iat: Math.floor(clock.now() / 1000),
      exp: Math.floor(clock.now() / 1000) + 3600,
    })
    expect(received[1]).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer ya29' } })
    expect(received[1]!.url.pathname).toBe('/tts/v1/text:synthesize')
    expect(bodyOf(1)).toEqual({
      input: { text: 'Fish & chips' },
      voice: { languageCode: 'en-US', name: 'en-US-Standard-C' },
      audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 16_000 },
    })
  })

  it('uses a token until shortly before its end, and then gets another', async () => {
    answer = google.good
    const vendor = google.make()
    const once = () => vendor.synthesizer!.synthesize(utterance, google.settings())
    await once()
    await once()
    const tokens = () => received.filter(({ url }) => url.pathname === '/token').length
    expect(tokens()).toBe(1)
    clock.advance(3_550_000)
    await once()
    expect(tokens()).toBe(2)
  })

  it('hands SSML over whole', async () => {
    answer = google.good
    await speak(google, { text: '<speak>Hi<break time="1s"/></speak>', isSsml: true })
    expect(bodyOf(1)).toMatchObject({ input: { ssml: '<speak>Hi<break time="1s"/></speak>' } })
  })

  it('speaks with a voice made for the customer, by its model or its cloning key', async () => {
    answer = google.good
    const { synthesizer } = google.make()
    const custom_voice = {
      model: 'projects/1/models/2',
      reported_usage: 'REALTIME',
      voice_cloning_key: 'clone',
    }
    const made = { ...google.settings(), custom_voice }
    await synthesizer!.synthesize({ ...utterance, voice: 'custom_1' }, made)
    expect(bodyOf(1)).toMatchObject({
      voice: {
        languageCode: 'en-US',
        customVoice: { model: 'projects/1/models/2', reportedUsage: 'REALTIME' },
      },
    })
    const cloned = { ...made, custom_voice: { ...custom_voice, use_voice_cloning_key: 1 } }
    await synthesizer!.synthesize({ ...utterance, voice: 'custom_1' }, cloned)
    expect(bodyOf(2)).toMatchObject({
      voice: { languageCode: 'en-US', voiceClone: { voiceCloningKey: 'clone' } },
    })
    expect(synthesizer!.soundOf!(made)).not.toBe(synthesizer!.soundOf!(cloned))
  })

  it('transcribes a recording, all its parts', async () => {
    answer = google.good
    expect(await google.make().recognizer!.transcribe(recording, 'en-US', google.settings())).toBe(
      'hello  world',
    )
    expect(received[1]!.url.pathname).toBe('/stt/v1/speech:recognize')
    expect(bodyOf(1)).toEqual({
      config: { encoding: 'LINEAR16', sampleRateHertz: 16_000, languageCode: 'en-US' },
      audio: { content: sent.toString('base64') },
    })
  })

  it('lists the voices of the vendor by language', async () => {
    answer = google.good
    const offer = await google.make().fetchOffer!(google.settings())
    expect(offer.tts).toEqual([
      {
        value: 'en-US',
        name: 'English (US)',
        voices: [{ value: 'en-US-Wavenet-A', name: 'en-US-Wavenet-A (female)' }],
      },
    ])
  })

  it.each([
    ['no JSON', 'x'],
    ['no private key', '{"client_email":"a"}'],
    ['a private key that is none', '{"client_email":"a","private_key":"-----BEGIN PRIVATE KEY-----\\nx"}'],
  ])(
    'says that the service key cannot be used when it has %s, and sends no request',
    async (_what, service_key) => {
      await expect(google.make().synthesizer!.synthesize(utterance, { service_key })).rejects.toMatchObject({
        code: 'speech_failed',
        message: 'the service key for google cannot be used',
      })
      expect(received).toEqual([])
    },
  )
})

describe('microsoft', () => {
  const microsoft = cases['microsoft']!

  it('sends SSML around the escaped text, with the key, and takes 16 kHz samples', async () => {
    answer = microsoft.good
    expect(await speak(microsoft, { voice: 'en-US-JennyNeural' })).toEqual({
      sampleRate: 16_000,
      bytes: samples,
    })
    const [request] = received
    expect(request!.url.pathname).toBe('/westeurope/tts/cognitiveservices/v1')
    expect(request!.headers).toMatchObject({
      'ocp-apim-subscription-key': 'ms-key-0123456789',
      'content-type': 'application/ssml+xml',
      'x-microsoft-outputformat': 'riff-16khz-16bit-mono-pcm',
      'user-agent': 'switchhook',
    })
    expect(request!.body.toString()).toMatch(
      /^<speak version="1.0" xmlns=\S+ xmlns:mstts=\S+ xml:lang="en-US"><voice name="en-US-JennyNeural">Fish &amp; chips<\/voice><\/speak>$/,
    )
  })

  it('puts its voice into a document that names none, and none into one that does', async () => {
    answer = microsoft.good
    await speak(microsoft, { text: '<speak>Hi<break/></speak>', isSsml: true })
    await speak(microsoft, { text: '<speak><voice name="x">Hi</voice></speak>', isSsml: true })
    expect(received[0]!.body.toString()).toContain(
      '<voice name="en-US-Standard-C">Hi<break/></voice></speak>',
    )
    expect(received[1]!.body.toString()).toMatch(/xml:lang="en-US"><voice name="x">Hi<\/voice><\/speak>$/)
  })

  it('goes to a deployment of one’s own, or a container', async () => {
    answer = microsoft.good
    const { synthesizer, recognizer } = microsoft.make()
    const deployed = { ...microsoft.settings(), use_custom_tts: 1, custom_tts_endpoint: 'dep/1' }
    await synthesizer!.synthesize(utterance, deployed)
    expect(received[0]!.url.href).toBe(`${at}/westeurope/voice/cognitiveservices/v1?deploymentId=dep%2F1`)
    const container = { use_custom_tts: 1, custom_tts_endpoint_url: `${at}/mine`, use_custom_stt: 1 }
    await synthesizer!.synthesize(utterance, container)
    expect(received[1]!.url.href).toBe(`${at}/mine`)
    expect(received[1]!.headers).not.toHaveProperty('ocp-apim-subscription-key')
    const listening = {
      ...container,
      custom_stt_endpoint_url: `${at.replace('http', 'ws')}/stt/x`,
      custom_stt_endpoint: 'c',
    }
    await recognizer!.transcribe(recording, 'de-DE', listening)
    expect(received[2]!.url.href).toBe(`${at}/stt/x?language=de-DE&cid=c`)
    expect(synthesizer!.soundOf!(deployed)).not.toBe(synthesizer!.soundOf!(container))
  })

  it.each(['http://[broken', 'https://a b'])('is refused where the URL of a container is %s', async (url) => {
    const settings = { use_custom_stt: 1, custom_stt_endpoint_url: url }
    const { recognizer } = microsoft.make()
    await expect(recognizer!.transcribe(recording, 'en-US', settings)).rejects.toThrow(AppError)
  })

  it('transcribes a recording', async () => {
    answer = microsoft.good
    expect(await microsoft.make().recognizer!.transcribe(recording, 'en-US', microsoft.settings())).toBe(
      'Hello world.',
    )
    const [request] = received
    expect(request!.url.href).toBe(
      `${at}/westeurope/stt/speech/recognition/conversation/cognitiveservices/v1?language=en-US`,
    )
    expect(request!.headers['content-type']).toBe('audio/wav; codecs=audio/pcm; samplerate=16000')
    expect(request!.body).toEqual(sent)
  })

  it('lists the voices of the region', async () => {
    answer = microsoft.good
    expect((await microsoft.make().fetchOffer!(microsoft.settings())).tts).toEqual([
      { value: 'en-US', name: 'English (US)', voices: [{ value: 'en-US-AvaNeural', name: 'Ava' }] },
    ])
    expect(received[0]!.url.pathname).toBe('/westeurope/tts/cognitiveservices/voices/list')
  })

  it('lets no region lead to another host', async () => {
    const settings = { api_key: 'k', region: 'evil.example/#' }
    await expect(microsoft.make().synthesizer!.synthesize(utterance, settings)).rejects.toThrow(
      'not a region',
    )
    expect(received).toEqual([])
  })
})

describe('aws', () => {
  const aws = cases['aws']!

  /** Signs the received request again, as the library reads it, and compares the signatures. */
  async function expectSigned(request: Received, service: string, keys: object): Promise<void> {
    const { authorization, 'x-amz-date': datetime, host } = request.headers
    const again = await new AwsV4Signer({
      accessKeyId: 'AKIAEXAMPLE',
      secretAccessKey: 'aws-secret-0123',
      ...keys,
      method: request.method,
      url: request.url.href,
      service,
      region: 'eu-west-1',
      datetime: String(datetime),
      ...(request.body.length === 0 ? {} : { body: request.body.toString() }),
    }).sign()
    expect(host).toBe(new URL(at).host)
    expect(authorization).toBe(again.headers.get('authorization'))
  }

  it('signs its request, and asks for 16 kHz samples', async () => {
    answer = aws.good
    expect(await speak(aws, { voice: 'Joanna' })).toEqual({ sampleRate: 16_000, bytes: samples })
    const [request] = received
    expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
    expect(request!.url.pathname).toBe('/eu-west-1/polly/v1/speech')
    expect(bodyOf(0)).toEqual({
      OutputFormat: 'pcm',
      SampleRate: '16000',
      Text: 'Fish & chips',
      TextType: 'text',
      VoiceId: 'Joanna',
      Engine: 'neural',
    })
    const amzDate = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    expect(request!.headers['x-amz-date']).toBe(amzDate)
    expect(request!.headers.authorization).toMatch(
      new RegExp(
        `^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/${amzDate.slice(0, 8)}/eu-west-1/polly/aws4_request, `,
      ),
    )
    await expectSigned(request!, 'polly', {})
  })

  it('takes the older engine for a voice that has no other', async () => {
    answer = (request, response) =>
      request.body.includes('"neural"')
        ? json(response, { message: 'This voice does not support the selected engine: neural' }, 400)
        : aws.good(request, response)
    expect((await speak(aws)).bytes).toEqual(samples)
    expect(bodyOf(1)).toMatchObject({ Engine: 'standard' })
  })

  it('assumes a role, and signs with what it was lent until shortly before that ends', async () => {
    const lent = { AccessKeyId: 'ASIALENT', SecretAccessKey: 'lent', SessionToken: 'session' }
    answer = (request, response) => {
      if (!request.url.pathname.startsWith('/eu-west-1/sts')) return aws.good(request, response)
      const expiry = new Date(clock.now() + 3_600_000).toISOString()
      const tags = Object.entries({ ...lent, Expiration: expiry }).map(
        ([tag, text]) => `<${tag}>${text}</${tag}>`,
      )
      const document = `<AssumeRoleResponse><Credentials>${tags.join('\n')}</Credentials></AssumeRoleResponse>`
      return response.writeHead(200, { 'content-type': 'text/xml' }).end(document)
    }
    const vendor = aws.make()
    const settings = { ...aws.settings(), role_arn: 'arn:aws:iam::1:role/speech' }
    await vendor.synthesizer!.synthesize(utterance, settings)
    await vendor.synthesizer!.synthesize(utterance, settings)
    expect(received.map(({ url }) => url.pathname.split('/')[2])).toEqual(['sts', 'polly', 'polly'])
    expect(Object.fromEntries(new URLSearchParams(received[0]!.body.toString()))).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: 'arn:aws:iam::1:role/speech',
    })
    expect(received[1]!.headers['x-amz-security-token']).toBe('session')
    await expectSigned(received[1]!, 'polly', {
      accessKeyId: 'ASIALENT',
      secretAccessKey: 'lent',
      sessionToken: 'session',
    })
    clock.advance(3_590_000)
    await vendor.synthesizer!.synthesize(utterance, settings)
    expect(received[3]!.url.pathname).toContain('/sts')
    // Another account may know the id of the key, which is not secret, but it has not proven that it has the key.
    await vendor.synthesizer!.synthesize(utterance, { ...settings, secret_access_key: 'guessed' })
    expect(received[5]!.url.pathname).toContain('/sts')
  })

  it('lists voices by language', async () => {
    answer = aws.good
    expect((await aws.make().fetchOffer!(aws.settings())).tts).toEqual([
      { value: 'en-US', name: 'US English', voices: [{ value: 'Joanna', name: 'Joanna' }] },
    ])
    await expectSigned(received[0]!, 'polly', {})
  })

  it('lists voices page after page, and those alone that its engines speak', async () => {
    const voice = (Id: string, engine: string): object => ({
      Id,
      Name: Id,
      LanguageCode: 'en-US',
      SupportedEngines: [engine],
    })
    answer = ({ url }, response) =>
      url.searchParams.get('NextToken') === 'a+b'
        ? json(response, { Voices: [voice('Joey', 'standard')] })
        : json(response, {
            Voices: [voice('Ruth', 'neural'), voice('Patrick', 'long-form')],
            NextToken: 'a+b',
          })
    const { tts } = await aws.make().fetchOffer!(aws.settings())
    expect(tts?.flatMap(({ voices }) => voices.map(({ value }) => value))).toEqual(['Ruth', 'Joey'])
    expect(received).toHaveLength(2)
  })

  it('says that it has no keys', async () => {
    const settings = { aws_region: 'eu-west-1', role_arn: 'arn' }
    await expect(aws.make().synthesizer!.synthesize(utterance, settings)).rejects.toThrow(
      'has no access keys',
    )
  })
})

describe('deepgram', () => {
  const deepgram = cases['deepgram']!

  it('names the voice as its model, and asks for 16 kHz samples', async () => {
    answer = deepgram.good
    expect(await speak(deepgram, { voice: 'aura-2-thalia-en' })).toEqual({
      sampleRate: 16_000,
      bytes: samples,
    })
    const [request] = received
    expect(request!.url.href).toBe(
      `${at}/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=wav&sample_rate=16000`,
    )
    expect(request!.headers).toMatchObject({
      authorization: 'Token dg-key-0123456789',
      'content-type': 'application/json',
    })
    expect(bodyOf(0)).toEqual({ text: 'Fish & chips' })
  })

  it('reads a WAV file whose writer did not know its length yet', async () => {
    const unknown = Buffer.from(wav)
    unknown.writeUInt32LE(0xffffffff, 40)
    answer = (_request, response) => audio(response, unknown)
    expect((await speak(deepgram)).bytes).toEqual(samples)
  })

  it('transcribes a recording with the model of the credential', async () => {
    answer = deepgram.good
    const { recognizer } = deepgram.make()
    const settings = { ...deepgram.settings(), model_id: 'nova-3' }
    expect(await recognizer!.transcribe(recording, 'en-US', settings)).toBe('hello world')
    expect(received[0]!.url.href).toBe(`${at}/v1/listen?model=nova-3&language=en-US`)
    expect(received[0]!.headers['content-type']).toBe('audio/wav')
    expect(received[0]!.body).toEqual(sent)
  })

  it('lists voices, the models that speak and listen, and the languages that these understand', async () => {
    answer = deepgram.good
    const english = [{ value: 'aura-2-thalia-en', name: 'Thalia' }]
    expect(await deepgram.make().fetchOffer!(deepgram.settings())).toEqual({
      tts: [
        { value: 'en', name: 'English', voices: english },
        { value: 'en-US', name: 'English (US)', voices: english },
      ],
      stt: [
        { value: 'de', name: 'German' },
        { value: 'en-US', name: 'English (US)' },
      ],
      models: [{ value: 'aura-2-thalia-en', name: 'Aura 2 Thalia En' }],
      sttModels: [
        { value: 'nova-3-general', name: 'Nova 3 General' },
        { value: 'nova-2-phonecall', name: 'Nova 2 Phonecall' },
      ],
    })
    expect(received[0]!.headers.authorization).toBe('Token dg-key-0123456789')
  })

  it('lists what is known where an installation of one’s own has no key to ask with', async () => {
    const { api_key: _key, ...settings } = deepgram.settings()
    const vendor = deepgram.make()
    expect(await vendor.fetchOffer!(settings)).toEqual(vendor.offer())
    expect(received).toEqual([])
  })

  it('speaks with the model of the credential in its language, and never listens with it', async () => {
    answer = deepgram.good
    const { synthesizer, recognizer } = deepgram.make()
    const settings = { ...deepgram.settings(), model_id: 'aura-2-luna-en' }
    const voiceFor = (voice: string | null, language: string | null): string =>
      synthesizer!.choose({ voice, language }, settings).voice
    expect(voiceFor(null, null)).toBe('aura-2-luna-en')
    expect(voiceFor(null, 'en-GB')).toBe('aura-2-luna-en')
    expect(voiceFor(null, 'fr-CA')).toBe('aura-2-agathe-fr')
    expect(voiceFor('aura-2-zeus-en', 'en-US')).toBe('aura-2-zeus-en')
    await recognizer!.transcribe(recording, 'en-US', settings)
    expect(received[0]!.url.searchParams.get('model')).toBe('nova-2')
  })

  it('sends no key to an installation of one’s own that has none', async () => {
    answer = deepgram.good
    const { api_key: _key, ...settings } = deepgram.settings()
    await deepgram.make().synthesizer!.synthesize(utterance, settings)
    expect(received[0]!.headers).not.toHaveProperty('authorization')
  })
})

describe('elevenlabs', () => {
  const elevenlabs = cases['elevenlabs']!

  it('asks for 16 kHz samples with the model, language and voice settings', async () => {
    answer = elevenlabs.good
    expect(await speak(elevenlabs, { voice: 'a/../b' })).toEqual({ sampleRate: 16_000, bytes: samples })
    const [request] = received
    expect(request!.url.href).toBe(`${at}/v1/text-to-speech/a%2F..%2Fb?output_format=pcm_16000`)
    expect(request!.headers['xi-api-key']).toBe('xi-key-0123456789')
    expect(bodyOf(0)).toEqual({
      text: 'Fish & chips',
      model_id: 'eleven_flash_v2_5',
      language_code: 'en',
      voice_settings: { stability: 0.5 },
    })
  })

  it('names no language to a model that takes none', async () => {
    answer = elevenlabs.good
    const settings = { ...elevenlabs.settings(), model_id: 'eleven_multilingual_v2' }
    await elevenlabs.make().synthesizer!.synthesize(utterance, settings)
    expect(bodyOf(0)).not.toHaveProperty('language_code')
  })

  it('uploads a recording to transcribe it', async () => {
    answer = elevenlabs.good
    const { recognizer } = elevenlabs.make()
    expect(await recognizer!.transcribe(recording, 'en-US', elevenlabs.settings())).toBe('hello world')
    expect(received[0]!.url.pathname).toBe('/v1/speech-to-text')
    expect(await formOf(received[0]!)).toEqual({ model_id: 'scribe_v1', language_code: 'en', file: sent })
  })

  it('lists voices, and the models that speak', async () => {
    answer = elevenlabs.good
    const offer = await elevenlabs.make().fetchOffer!(elevenlabs.settings())
    expect(offer.tts).toEqual([{ value: 'en', name: 'English', voices: [{ value: 'v1', name: 'Vee' }] }])
    expect(offer.models).toEqual([{ value: 'm1', name: 'Em' }])
  })
})

describe('openai', () => {
  const openai = cases['openai']!

  it('asks for a WAV file with the model that speaks', async () => {
    answer = openai.good
    expect(await speak(openai, { voice: 'nova' })).toEqual({ sampleRate: 24_000, bytes: samples })
    expect(received[0]!.url.pathname).toBe('/v1/audio/speech')
    expect(received[0]!.headers.authorization).toBe('Bearer sk-key-0123456789')
    expect(bodyOf(0)).toEqual({
      model: 'tts-1',
      voice: 'nova',
      input: 'Fish & chips',
      response_format: 'wav',
    })
  })

  it('uploads a recording for the model that listens, and never to one that speaks', async () => {
    answer = openai.good
    const { recognizer, synthesizer } = openai.make()
    expect(await recognizer!.transcribe(recording, 'en-US', openai.settings())).toBe('hello world')
    const form = { language: 'en', response_format: 'json', file: sent }
    expect(await formOf(received[0]!)).toEqual({ ...form, model: 'gpt-4o-mini-transcribe' })
    const listening = { ...openai.settings(), model_id: 'whisper-1' }
    await recognizer!.transcribe(recording, 'en-US', listening)
    expect(await formOf(received[1]!)).toEqual({ ...form, model: 'whisper-1' })
    await synthesizer!.synthesize(utterance, listening)
    expect(bodyOf(2)).toMatchObject({ model: 'gpt-4o-mini-tts' })
  })

  it('lists the models that speak and those that listen', async () => {
    answer = openai.good
    expect(await openai.make().fetchOffer!(openai.settings())).toMatchObject({
      models: [
        { value: 'gpt-9-tts', name: 'gpt-9-tts' },
        { value: 'tts-1-hd', name: 'TTS-1 HD' },
      ],
      sttModels: [{ value: 'whisper-1', name: 'Whisper 1' }],
    })
    expect(received[0]!.headers.authorization).toBe('Bearer sk-key-0123456789')
  })
})

describe('a custom vendor', () => {
  const custom = cases['custom']!

  it('gets text, language and voice, with its token', async () => {
    answer = custom.good
    expect(await speak(custom, { voice: 'mine' })).toEqual({ sampleRate: 16_000, bytes: samples })
    expect(received[0]!.url.pathname).toBe('/say')
    expect(received[0]!.headers.authorization).toBe('Bearer my-token-0123')
    expect(bodyOf(0)).toEqual({ language: 'en-US', voice: 'mine', type: 'text', text: 'Fish & chips' })
  })

  it('gets SSML whole, and may answer with bare samples', async () => {
    answer = (_request, response) => audio(response, samples, 'audio/l16;rate=16000')
    expect(await speak(custom, { text: '<speak>x</speak>', isSsml: true })).toEqual({
      sampleRate: 16_000,
      bytes: samples,
    })
    expect(bodyOf(0)).toMatchObject({ type: 'ssml', text: '<speak>x</speak>' })
  })

  it.each([
    ['audio/mpeg', 'cannot be played'],
    ['audio/l16;rate=4000', '4000 samples a second'],
    ['text/html', 'text/html'],
  ])('is refused when it sends %s', async (type, message) => {
    answer = (_request, response) => audio(response, samples, type)
    await expect(speak(custom)).rejects.toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining(message),
    })
  })

  it('is cached by where it is, not by its name', () => {
    const { synthesizer } = custom.make()
    const soundAt = (custom_tts_url: string) => synthesizer!.soundOf!({ custom_tts_url })
    expect(soundAt('https://a.example')).not.toBe(soundAt('https://b.example'))
  })

  it('is not reached on an address inside', async () => {
    const settings = { custom_tts_url: 'http://169.254.169.254/latest' }
    await expect(custom.make().synthesizer!.synthesize(utterance, settings)).rejects.toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('may not be reached'),
    })
  })
})

describe.each(Object.entries(cases))('%s that fails', (name, vendor) => {
  const secrets = (): string[] => Object.values(vendor.settings()).map(String)
  const outcome = async (): Promise<Error> =>
    speak(vendor).then(
      () => new Error('spoken'),
      (error: Error) => error,
    )

  it.each([
    [401, 'refused the credential (status 401'],
    [403, 'refused the credential (status 403'],
    [429, 'refuses more requests for now (status 429'],
    [400, 'responded with status 400'],
    [500, 'responded with status 500'],
    [302, 'responded with status 302'],
  ])('with status %i is reported as such, with its reason and without a secret', async (status, sentence) => {
    const reason = `no ${secrets().join(' ')}\r\nX: y`
    answer = (_request, response) => json(response, { error: { message: reason } }, status)
    const error = await outcome()
    expect(error).toMatchObject({ code: 'speech_failed', message: expect.stringContaining(sentence) })
    expect(error.message).toContain(': no ')
    expect(error.message).not.toMatch(/[\r\n]/)
    for (const [field, value] of Object.entries(vendor.settings()))
      if (/key$|key_|secret|token/.test(field) && field !== 'access_key_id')
        expect(error.message).not.toContain(String(value))
  })

  it('by silence is given up', async () => {
    let isAsked = (): void => {}
    const asked = new Promise<void>((resolve) => (isAsked = resolve))
    answer = () => isAsked()
    const failing = outcome()
    await asked
    clock.advance(10_000)
    expect(await failing).toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('in time'),
    })
  })

  it('by a page of HTML is reported as such', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    expect(await outcome()).toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('text/html'),
    })
  })

  it('by closing the connection is reported as such', async () => {
    answer = (_request, response) => response.destroy()
    expect(await outcome()).toMatchObject({ code: 'speech_failed' })
  })

  it('by more bytes than are accepted is cut off', async () => {
    const megabyte = Buffer.alloc(1024 * 1024)
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' })
      for (let sentBytes = 0; sentBytes < 13; sentBytes++) response.write(megabyte)
      response.end()
    }
    expect(await outcome()).toMatchObject({
      code: 'speech_failed',
      message: expect.stringContaining('more bytes'),
    })
  })

  it('is known by its name, and needs a credential', () => {
    expect(vendor.make()).toMatchObject({ name, needsCredential: true })
  })
})

describe('damaged answers', () => {
  it.each([
    ['no RIFF file', Buffer.from('x'.repeat(100))],
    ['a file that is cut short', wav.subarray(0, 20)],
    ['two channels', withChannels(2)],
    ['no samples', wavHeader(8000, 0).subarray(0, 36)],
  ])('with %s are refused', async (_what, body) => {
    answer = (_request, response) => audio(response, body)
    await expect(speak(cases['deepgram']!)).rejects.toMatchObject({ code: 'speech_failed' })
  })

  it.each(['{', '[]', '{}', 'null'])('with the document %s are refused', async (text) => {
    answer = ({ url }, response) =>
      url.pathname === '/token'
        ? json(response, { access_token: 'ya29', expires_in: 3600 })
        : response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    await expect(speak(cases['google']!)).rejects.toMatchObject({ code: 'speech_failed' })
    for (const name of ['microsoft', 'deepgram', 'elevenlabs', 'openai']) {
      const { make, settings } = cases[name]!
      await expect(make().recognizer!.transcribe(recording, 'en-US', settings())).rejects.toMatchObject({
        code: 'speech_failed',
      })
    }
  })
})

function withChannels(channels: number): Buffer {
  const file = Buffer.from(wav)
  file.writeUInt16LE(channels, 22)
  return file
}

describe('the recording that is sent', () => {
  it('is the same to every vendor', async () => {
    const digest = (body: Buffer): string => createHash('sha256').update(body).digest('hex')
    const seen: string[] = []
    for (const name of ['microsoft', 'deepgram', 'elevenlabs', 'openai']) {
      const { make, settings, good } = cases[name]!
      answer = good
      received = []
      await make().recognizer!.transcribe(recording, 'en-US', settings())
      const form = name === 'elevenlabs' || name === 'openai' ? await formOf(received[0]!) : undefined
      seen.push(digest((form?.['file'] as Buffer | undefined) ?? received[0]!.body))
    }
    expect(new Set(seen)).toEqual(new Set([digest(sent)]))
  })
})
