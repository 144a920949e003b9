// Google Cloud: Text-to-Speech and Speech-to-Text over REST, with the key of a service account.
import { AppError } from '../lib/errors.ts'
import { listOf, memberOf, textOf } from '../lib/members.ts'
import { createServiceAccountTokens, googleTokenUrl } from '../outgoing/service-account.ts'
import { chooseVoice } from './choose-voice.ts'
import { languageName } from './languages.ts'
import { googleOffer } from './offers/google.ts'
import { readWav } from './read-wav.ts'
import {
  spokenRate,
  type Choice,
  type Pcm,
  type Settings,
  type SpeechVendor,
  type Utterance,
  type VendorOptions,
  type VoicesOfLanguage,
} from './vendor.ts'
import { callVendor, neededSetting, parseAnswer } from './vendor-call.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'

const vendor = 'google'
const json = /^application\/json/
const scope = 'https://www.googleapis.com/auth/cloud-platform'

export interface GoogleAddresses {
  readonly token: string
  readonly synthesis: string
  readonly recognition: string
}

const addresses: GoogleAddresses = {
  token: googleTokenUrl,
  synthesis: 'https://texttospeech.googleapis.com/v1',
  recognition: 'https://speech.googleapis.com/v1',
}

export function createGoogle(options: VendorOptions, at: GoogleAddresses = addresses): SpeechVendor {
  const { outgoing, clock } = options
  const tokens = createServiceAccountTokens({ url: at.token, scope, code: 'speech_failed', clock })

  async function post(url: string, body: object, settings: Settings): Promise<unknown> {
    const headers = { ...(await authorize(settings)), 'content-type': 'application/json; charset=utf-8' }
    const call = { vendor, method: 'POST', url, headers, body: JSON.stringify(body), accepts: json } as const
    return parseAnswer(await callVendor(outgoing, settings, call), vendor)
  }

  async function authorize(settings: Settings): Promise<{ readonly authorization: string }> {
    const token = await tokens.obtain(neededSetting(settings, 'service_key', vendor), (form) =>
      askForToken(form, settings),
    )
    return { authorization: `Bearer ${token}` }
  }

  async function askForToken(body: string, settings: Settings): Promise<unknown> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const call = { vendor, method: 'POST', url: at.token, headers, body, accepts: json } as const
    return parseAnswer(await callVendor(outgoing, settings, call), vendor)
  }

  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: googleOffer,
    synthesizer: {
      takesSsml: true,
      choose: (wanted) =>
        chooseVoice(googleOffer(), wanted, { voice: 'en-US-Standard-C', language: 'en-US' }),
      soundOf: ({ model_id, custom_voice }) => JSON.stringify([model_id, custom_voice]),
      async synthesize(utterance, settings) {
        const answer = await post(`${at.synthesis}/text:synthesize`, toRequest(utterance, settings), settings)
        const audio = textOf(answer, 'audioContent')
        if (audio === undefined) throw new AppError('speech_failed', `${vendor} responded without audio`)
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
      return { ...googleOffer(), tts: toVoices(answer) }
    },
  }
}

function toRequest({ text, isSsml, voice: name, language }: Utterance, settings: Settings): object {
  // The names of Google's voices begin with the language in two parts, which the request needs besides the name.
  const languageCode = /^[a-z]{2,3}-[A-Z]{2}(?=-)/.exec(name)?.[0] ?? language ?? 'en-US'
  return {
    input: isSsml ? { ssml: text } : { text },
    voice: { languageCode, ...toVoice(name, settings) },
    audioConfig: { audioEncoding: 'LINEAR16', sampleRateHertz: spokenRate },
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
  return [...languages].map(([value, voices]) => ({ value, name: languageName(value), voices }))
}
