// Deepgram over REST: Aura voices, recognition of recordings.
import { isSet, listOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { capitalize, languageName } from './languages.ts'
import { deepgramOffer, modelName, modelsOf } from './offers/deepgram.ts'
import { readWav } from './read-wav.ts'
import {
  spokenRate,
  type Choice,
  type Offer,
  type Settings,
  type SpeechVendor,
  type VendorOptions,
  type WantedVoice,
} from './vendor.ts'
import { addressOf, callVendor, parseAnswer, withoutResult } from './vendor-call.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'

const vendor = 'deepgram'
const publicAddress = 'https://api.deepgram.com'
const preset = { voice: 'aura-2-thalia-en', language: 'en-US' }

export function createDeepgram({ outgoing }: VendorOptions, at: string = publicAddress): SpeechVendor {
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: deepgramOffer,
    synthesizer: {
      takesSsml: false,
      choose: (wanted, settings) =>
        chooseVoice(
          deepgramOffer(),
          { ...wanted, voice: wanted.voice ?? ownVoice(wanted, settings) },
          preset,
        ),
      soundOf: (settings) => synthesisAddress(settings),
      async synthesize({ text, voice }, settings) {
        const form = { model: voice, encoding: 'linear16', container: 'wav', sample_rate: String(spokenRate) }
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${synthesisAddress(settings)}/v1/speak?${new URLSearchParams(form).toString()}`,
          headers: { ...keyHeader(settings), 'content-type': 'application/json' },
          body: JSON.stringify({ text }),
          accepts: /^audio\//,
        })
        return readWav(answer.body, vendor)
      },
    },
    recognizer: {
      async transcribe({ sampleRate, bytes }, language, settings) {
        const form = { model: listeningModel(settings), language }
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${recognitionAddress(settings)}/v1/listen?${new URLSearchParams(form).toString()}`,
          headers: { ...keyHeader(settings), 'content-type': 'audio/wav' },
          body: Buffer.concat([wavHeader(sampleRate, bytes.length), bytes]),
          accepts: /^application\/json/,
        })
        const [channel] = listOf(parseAnswer(answer, vendor), 'results', 'channels')
        if (channel === undefined) throw withoutResult(vendor)
        return textOf(channel, 'alternatives', 0, 'transcript') ?? ''
      },
    },
    async fetchOffer(settings) {
      // A private installation has no list.
      if (textOf(settings, 'api_key') === undefined) return deepgramOffer()
      const answer = await callVendor(outgoing, settings, {
        vendor,
        method: 'GET',
        url: `${at}/v1/models`,
        headers: keyHeader(settings),
        accepts: /^application\/json/,
      })
      return toOffer(parseAnswer(answer, vendor))
    },
  }
}

function synthesisAddress(settings: Settings): string {
  return addressOf(textOf(settings, 'deepgram_tts_uri') ?? publicAddress, true)
}

function recognitionAddress(settings: Settings): string {
  const isTls = isSet(settings, 'deepgram_stt_use_tls')
  return addressOf(textOf(settings, 'deepgram_stt_uri') ?? publicAddress, isTls)
}

/** Returns the header of the key, which a private installation does not need. */
function keyHeader(settings: Settings): Readonly<Record<string, string>> {
  const key = textOf(settings, 'api_key')
  return key === undefined ? {} : { authorization: `Token ${key}` }
}

// The only model of a credential either speaks or listens, which its name shows. Flux voices use another interface.
const speaking = /^aura-/

/** Returns the voice of the credential if it speaks the wanted language, or if no language is wanted. */
function ownVoice({ language }: WantedVoice, settings: Settings): string | null {
  const model = textOf(settings, 'model_id')
  if (model === undefined || !speaking.test(model)) return null
  const isSpoken = language === null || model.endsWith(`-${language.toLowerCase().split('-')[0] ?? ''}`)
  return isSpoken ? model : null
}

function listeningModel(settings: Settings): string {
  const model = textOf(settings, 'model_id')
  return model === undefined || speaking.test(model) ? 'nova-2' : model
}

function toOffer(answer: unknown): Offer {
  const voices = new Map<string, Choice[]>()
  for (const entry of listOf(answer, 'tts')) {
    const value = textOf(entry, 'canonical_name')
    if (value === undefined || !speaking.test(value)) continue
    const choice = { value, name: capitalize(textOf(entry, 'name') ?? value) }
    for (const language of languagesOf(entry)) voices.set(language, [...(voices.get(language) ?? []), choice])
  }
  const tts = [...voices].map(([value, list]) => ({ value, name: languageName(value), voices: list }))
  const models = new Map<string, Choice>()
  const understood = new Set<string>()
  for (const entry of listOf(answer, 'stt')) {
    const value = textOf(entry, 'canonical_name')
    if (value === undefined) continue
    models.set(value, { value, name: modelName(value) })
    for (const language of languagesOf(entry)) understood.add(language)
  }
  return {
    tts,
    stt: [...understood].sort().map((value) => ({ value, name: languageName(value) })),
    models: modelsOf(tts),
    sttModels: [...models.values()],
  }
}

function languagesOf(model: unknown): readonly string[] {
  return listOf(model, 'languages').filter((language) => typeof language === 'string')
}
