// Google Cloud: Text-to-Speech and Speech-to-Text over REST, with the key of a service account.
import { createHash } from 'node:crypto'
import { SignJWT, importPKCS8 } from 'jose'
import { AppError } from '../lib/errors.ts'
import { chooseVoice } from './choose-voice.ts'
import { readWav } from './read-wav.ts'
import type {
  Choice,
  Offer,
  Pcm,
  Settings,
  SpeechVendor,
  Utterance,
  VendorOptions,
  VoicesOfLanguage,
} from './speech.ts'
import { usualLanguages } from './usual-languages.ts'
import { callVendor, listOf, memberOf, neededSetting, parseAnswer, textOf } from './vendor-call.ts'
import { wavHeader } from './wav-header.ts'

const vendor = 'google'
const json = /^application\/json/

export interface GoogleAddresses {
  readonly token: string
  readonly synthesis: string
  readonly recognition: string
}

const addresses: GoogleAddresses = {
  token: 'https://oauth2.googleapis.com/token',
  synthesis: 'https://texttospeech.googleapis.com/v1',
  recognition: 'https://speech.googleapis.com/v1',
}

const offer: Offer = {
  tts: [
    { value: 'en-US', name: 'English (US)', voices: [voice('en-US-Standard-C'), voice('en-US-Standard-D')] },
    { value: 'en-GB', name: 'English (UK)', voices: [voice('en-GB-Standard-A'), voice('en-GB-Standard-B')] },
    { value: 'de-DE', name: 'German', voices: [voice('de-DE-Standard-A'), voice('de-DE-Standard-B')] },
    { value: 'es-ES', name: 'Spanish (Spain)', voices: [voice('es-ES-Standard-A')] },
    { value: 'fr-FR', name: 'French', voices: [voice('fr-FR-Standard-A'), voice('fr-FR-Standard-B')] },
  ],
  stt: usualLanguages,
}

export function createGoogle(options: VendorOptions, at: GoogleAddresses = addresses): SpeechVendor {
  const { outgoing } = options
  const tokens = createTokens(options, at.token)

  async function post(url: string, body: object, settings: Settings): Promise<unknown> {
    const headers = { ...(await authorize(settings)), 'content-type': 'application/json; charset=utf-8' }
    const call = { vendor, method: 'POST', url, headers, body: JSON.stringify(body), accepts: json } as const
    return parseAnswer(await callVendor(outgoing, settings, call), vendor)
  }

  async function authorize(settings: Settings): Promise<{ readonly authorization: string }> {
    return { authorization: `Bearer ${await tokens.obtain(settings)}` }
  }

  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer,
    synthesizer: {
      takesSsml: true,
      choose: (wish) => chooseVoice(offer, wish, { voice: 'en-US-Standard-C', language: 'en-US' }),
      soundOf: ({ model_id, custom_voice }) => JSON.stringify([model_id, custom_voice]),
      async synthesize(utterance, settings) {
        const answer = await post(`${at.synthesis}/text:synthesize`, toRequest(utterance, settings), settings)
        const audio = textOf(answer, 'audioContent')
        if (audio === undefined) throw new AppError('speech_failed', `${vendor} answered without audio`)
        return readWav(Buffer.from(audio, 'base64'), vendor)
      },
    },
    recognizer: {
      async transcribe(recording, languageCode, settings) {
        const { sampleRate } = recording
        const body = {
          config: { encoding: 'LINEAR16', sampleRateHertz: sampleRate, languageCode },
          audio: { content: toWav(recording).toString('base64') },
        }
        const answer = await post(`${at.recognition}/speech:recognize`, body, settings)
        return listOf(answer, 'results')
          .map((result) => textOf(result, 'alternatives', 0, 'transcript') ?? '')
          .join(' ')
          .trim()
      },
    },
    async fetchOffer(settings) {
      const headers = await authorize(settings)
      const url = `${at.synthesis}/voices`
      const call = { vendor, method: 'GET', url, headers, accepts: json } as const
      const answer = parseAnswer(await callVendor(outgoing, settings, call), vendor)
      return { ...offer, tts: toVoices(answer) }
    },
  }
}

function toRequest({ text, isSsml, voice: name, language }: Utterance, settings: Settings): object {
  // The language is the first two parts of the names of Google's voices; theirs is needed beside the name.
  const languageCode = /^[a-z]{2,3}-[A-Z]{2}(?=-)/.exec(name)?.[0] ?? language ?? 'en-US'
  return {
    input: isSsml ? { ssml: text } : { text },
    voice: { languageCode, ...toVoice(name, settings) },
    audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: 8000 },
  }
}

function toVoice(name: string, settings: Settings): object {
  const custom = memberOf(settings, 'custom_voice')
  const model = textOf(settings, 'model_id')
  if (custom === undefined) return { name, ...(model === undefined ? {} : { modelName: model }) }
  const voiceCloningKey = textOf(custom, 'voice_cloning_key')
  if (memberOf(custom, 'use_voice_cloning_key') === 1 && voiceCloningKey !== undefined)
    return { voiceClone: { voiceCloningKey } }
  return { customVoice: { model: textOf(custom, 'model'), reportedUsage: textOf(custom, 'reported_usage') } }
}

function toWav({ sampleRate, bytes }: Pcm): Buffer {
  return Buffer.concat([wavHeader(sampleRate, bytes.length), bytes])
}

function toVoices(answer: unknown): readonly VoicesOfLanguage[] {
  const languages = new Map<string, Choice[]>()
  for (const entry of listOf(answer, 'voices')) {
    const name = textOf(entry, 'name')
    if (name === undefined) continue
    for (const language of listOf(entry, 'languageCodes')) {
      if (typeof language !== 'string') continue
      const voices = languages.get(language) ?? []
      const gender = textOf(entry, 'ssmlGender')
      voices.push({ value: name, name: gender === undefined ? name : `${name} (${gender.toLowerCase()})` })
      languages.set(language, voices)
    }
  }
  return [...languages].map(([value, voices]) => ({ value, name: value, voices }))
}

function voice(value: string): Choice {
  return { value, name: value }
}

interface Token {
  readonly text: string
  readonly expiresAt: number
}

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const tokenSeconds = 3600
// Longer than one request with it may take.
const renewBeforeMs = 60_000
const mostTokens = 500

/** Access tokens by the JWT bearer grant (RFC 7523 §2.1), kept until shortly before they expire. */
function createTokens({ outgoing, clock }: VendorOptions, url: string) {
  const tokens = new Map<string, Token>()

  async function fetchToken(settings: Settings): Promise<Token> {
    const now = clock.now()
    const assertion = await signAssertion(settings, url, Math.floor(now / 1000))
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
    const answer = await callVendor(outgoing, settings, {
      vendor,
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(grant).toString(),
      accepts: json,
    })
    const parsed = parseAnswer(answer, vendor)
    const text = textOf(parsed, 'access_token')
    if (text === undefined) throw new AppError('speech_failed', `${vendor} answered without a token`)
    const seconds = Number(memberOf(parsed, 'expires_in') ?? 0)
    return { text, expiresAt: now + (Number.isFinite(seconds) ? seconds * 1000 : 0) }
  }

  return {
    async obtain(settings: Settings): Promise<string> {
      const name = createHash('sha256')
        .update(neededSetting(settings, 'service_key', vendor))
        .digest('hex')
      const known = tokens.get(name)
      if (known !== undefined && known.expiresAt - renewBeforeMs > clock.now()) return known.text
      const token = await fetchToken(settings)
      if (tokens.size >= mostTokens) tokens.clear()
      tokens.set(name, token)
      return token.text
    },
  }
}

async function signAssertion(settings: Settings, audience: string, issuedAt: number): Promise<string> {
  const unusable = (cause: unknown): AppError =>
    new AppError('speech_failed', 'the service key for google cannot be used', {
      cause,
      cure: 'Make a new JSON key for the service account and a new credential with it.',
    })
  let key: unknown
  try {
    key = JSON.parse(neededSetting(settings, 'service_key', vendor))
  } catch (cause) {
    throw unusable(cause)
  }
  const [email, privateKey, kid] = ['client_email', 'private_key', 'private_key_id'].map((name) =>
    textOf(key, name),
  )
  if (email === undefined || privateKey === undefined) throw unusable(undefined)
  const signer = await importPKCS8(privateKey, 'RS256').catch((cause: unknown) => {
    throw unusable(cause)
  })
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
    .setIssuer(email)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + tokenSeconds)
    .sign(signer)
}
