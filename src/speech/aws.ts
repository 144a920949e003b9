// Amazon Polly over REST and Amazon Transcribe over a WebSocket, signed with the credential's keys or its role's.
import { AppError } from '../lib/errors.ts'
import { listOf, memberOf, textOf } from '../lib/members.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { signForAws, type AwsKeys } from '../outgoing/sign-aws.ts'
import { chooseVoice } from './choose-voice.ts'
import { awsOffer } from './offers/aws.ts'
import { readLentKeys, roleForm } from '../outgoing/assume-role.ts'
import { decodeEvent, encodeEvent } from '../outgoing/event-stream.ts'
import {
  spokenRate,
  type Pcm,
  type Settings,
  type SpeechVendor,
  type Utterance,
  type VendorOptions,
} from './vendor.ts'
import {
  byLanguage,
  callVendor,
  converseWithVendor,
  parseAnswer,
  regionSetting,
  toPieces,
  vendorSentence,
  type VendorAnswer,
} from './vendor-call.ts'

const vendor = 'aws'

/** Returns the address of a region's service; tests pass their own. */
export type AwsAddress = (region: string, service: 'polly' | 'sts' | 'transcribestreaming') => string

// The WebSockets of Transcribe have their own port.
const inAws: AwsAddress = (region, service) =>
  `https://${service}.${region}.amazonaws.com${service === 'transcribestreaming' ? ':8443' : ''}`

const voiceNames = {
  language: 'LanguageCode',
  languageName: 'LanguageName',
  voice: 'Id',
  voiceName: 'Name',
}

interface SignedCall {
  readonly service: 'polly' | 'sts'
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly contentType?: string
  readonly body?: string
  readonly accepts: RegExp
}

export function createAws(options: VendorOptions, at: AwsAddress = inAws): SpeechVendor {
  const { outgoing, clock } = options
  const roles = new Map<string, { readonly keys: AwsKeys; readonly expiresAt: number }>()

  async function send(settings: Settings, keys: AwsKeys, call: SignedCall): Promise<VendorAnswer> {
    const { service, method, path, contentType, body, accepts } = call
    const region = regionSetting(settings, 'aws_region', vendor)
    const content = body === undefined ? {} : { body }
    const { url, headers } = await signForAws(clock, keys, {
      service,
      region,
      method,
      url: `${at(region, service)}${path}`,
      ...(contentType === undefined ? {} : { headers: { 'content-type': contentType } }),
      ...content,
    })
    return callVendor(outgoing, settings, { vendor, method, url, headers, accepts, ...content })
  }

  /** Returns the credential's own keys, or those that its role lends for an hour. */
  async function keysOf(settings: Settings): Promise<AwsKeys> {
    const own = ownKeys(settings)
    const role = textOf(settings, 'role_arn')
    if (role === undefined) return own
    // The secret is part of the name: another account that knows only the id of the key must not get the role's keys.
    const name = JSON.stringify([own, role])
    const known = roles.get(name)
    if (known !== undefined && known.expiresAt - renewBeforeMs > clock.now()) return known.keys
    const answer = await send(settings, own, {
      service: 'sts',
      method: 'POST',
      path: '/',
      contentType: 'application/x-www-form-urlencoded; charset=utf-8',
      body: roleForm(role),
      accepts: /xml/,
    })
    const lent = readLentKeys(answer.body)
    if (lent === undefined) throw new AppError('speech_failed', `${vendor} returned no keys for the role`)
    if (roles.size >= maxRoles) roles.clear()
    roles.set(name, lent)
    return lent.keys
  }

  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: awsOffer,
    synthesizer: {
      takesSsml: true,
      choose: (wanted) => chooseVoice(awsOffer(), wanted, { voice: 'Joanna', language: 'en-US' }),
      async synthesize(utterance, settings) {
        const keys = await keysOf(settings)
        const say = (engine: 'neural' | 'standard'): Promise<VendorAnswer> =>
          send(settings, keys, {
            service: 'polly',
            method: 'POST',
            path: '/v1/speech',
            contentType: 'application/json',
            body: JSON.stringify(toRequest(utterance, engine)),
            accepts: /^audio\//,
          })
        // Most voices have the better engine; Polly returns an error for one without it.
        const { body } = await say('neural').catch((error: unknown) => {
          if (error instanceof AppError && /does not support the selected engine/i.test(error.message))
            return say('standard')
          throw error
        })
        return { sampleRate: spokenRate, bytes: body.subarray(0, body.length - (body.length % 2)) }
      },
    },
    recognizer: {
      async transcribe(recording, language, settings) {
        const region = regionSetting(settings, 'aws_region', vendor)
        const form = {
          'language-code': language,
          'media-encoding': 'pcm',
          'sample-rate': String(recording.sampleRate),
          'X-Amz-Expires': '300',
        }
        const path = `/stream-transcription-websocket?${new URLSearchParams(form).toString()}`
        const signed = await signForAws(clock, await keysOf(settings), {
          service: 'transcribe',
          region,
          method: 'GET',
          url: `${at(region, 'transcribestreaming')}${path}`,
          signQuery: true,
        })
        return listen(outgoing, signed.url, recording, settings)
      },
    },
    async fetchOffer(settings) {
      const keys = await keysOf(settings)
      const voices: unknown[] = []
      let path: string | undefined = '/v1/voices'
      for (let page = 0; path !== undefined && page < maxPages; page += 1) {
        const answer = await send(settings, keys, { service: 'polly', method: 'GET', path, accepts: /json/ })
        const parsed = parseAnswer(answer, vendor)
        voices.push(...listOf(parsed, 'Voices').filter(isSpokenHere))
        const next = textOf(parsed, 'NextToken')
        path = next === undefined ? undefined : `/v1/voices?NextToken=${encodeURIComponent(next)}`
      }
      return { ...awsOffer(), tts: byLanguage(voices, voiceNames) }
    },
  }
}

/** Reports whether one of the engines in use here supports the voice. */
function isSpokenHere(voice: unknown): boolean {
  const engines = listOf(voice, 'SupportedEngines')
  return engines.length === 0 || engines.some((engine) => engine === 'neural' || engine === 'standard')
}

/** Sends the recording in pieces and then an empty one; Transcribe closes after it has sent all that it heard. */
async function listen(
  outgoing: Outgoing,
  signedUrl: string,
  recording: Pcm,
  settings: Settings,
): Promise<string> {
  const headers = {
    ':content-type': 'application/octet-stream',
    ':event-type': 'AudioEvent',
    ':message-type': 'event',
  }
  const words: string[] = []
  await converseWithVendor(outgoing, {
    vendor,
    url: signedUrl.replace(/^http/, 'ws'),
    messages: [...toPieces(recording), Buffer.alloc(0)].map((payload) => encodeEvent({ headers, payload })),
    hear(message) {
      const event = typeof message === 'string' ? undefined : decodeEvent(message)
      if (event === undefined) throw new AppError('speech_failed', `${vendor} sent a damaged message`)
      const said = parseAnswer({ contentType: '', body: event.payload }, vendor)
      if (event.headers[':message-type'] === 'exception')
        throw vendorSentence(
          vendor,
          textOf(said, 'Message') ?? event.headers[':exception-type'] ?? '',
          settings,
        )
      for (const result of listOf(said, 'Transcript', 'Results'))
        if (memberOf(result, 'IsPartial') === false)
          words.push(textOf(result, 'Alternatives', 0, 'Transcript') ?? '')
      return false
    },
  })
  return words.join(' ').trim()
}

function toRequest({ text, isSsml, voice }: Utterance, engine: string): object {
  return {
    OutputFormat: 'pcm',
    SampleRate: String(spokenRate),
    Text: text,
    TextType: isSsml ? 'ssml' : 'text',
    VoiceId: voice,
    Engine: engine,
  }
}

// Longer than one request with the keys may take.
const renewBeforeMs = 60_000
const maxRoles = 500
// Today there is one page.
const maxPages = 10

function ownKeys(settings: Settings): AwsKeys {
  const accessKeyId = textOf(settings, 'access_key_id')
  const secretAccessKey = textOf(settings, 'secret_access_key')
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new AppError('speech_failed', 'the credential for aws has no access keys', {
      cure: 'Make a credential with access_key_id and secret_access_key; a role_arn needs keys that may assume it.',
    })
  return { accessKeyId, secretAccessKey }
}
