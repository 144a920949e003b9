// Deepgram over REST: Aura voices, recognition of recordings.
import { AppError } from '../lib/errors.ts'
import { isSet, listOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { readWav } from './read-wav.ts'
import type { Choice, Offer, Settings, SpeechVendor, VendorOptions } from './speech.ts'
import { addressOf, callVendor, parseAnswer } from './vendor-call.ts'
import { wavHeader } from './wav-header.ts'

const vendor = 'deepgram'
const publicAddress = 'https://api.deepgram.com'

const offer: Offer = {
  tts: [
    {
      value: 'en-US',
      name: 'English (US)',
      voices: [
        { value: 'aura-2-thalia-en', name: 'Thalia' },
        { value: 'aura-2-andromeda-en', name: 'Andromeda' },
        { value: 'aura-asteria-en', name: 'Asteria (Aura 1)' },
      ],
    },
  ],
  stt: [
    { value: 'en-US', name: 'English (US)' },
    { value: 'en-GB', name: 'English (UK)' },
    { value: 'de', name: 'German' },
    { value: 'es', name: 'Spanish' },
    { value: 'fr', name: 'French' },
  ],
  sttModels: [
    { value: 'nova-3', name: 'Nova 3' },
    { value: 'nova-2', name: 'Nova 2' },
    { value: 'nova-2-phonecall', name: 'Nova 2, telephony' },
  ],
}

export function createDeepgram({ outgoing }: VendorOptions): SpeechVendor {
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer,
    synthesizer: {
      takesSsml: false,
      choose: (wish) => chooseVoice(offer, wish, { voice: 'aura-2-thalia-en', language: 'en-US' }),
      soundOf: (settings) => synthesisAddress(settings),
      async synthesize({ text, voice }, settings) {
        const form = { model: voice, encoding: 'linear16', container: 'wav', sample_rate: '8000' }
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
        const form = { model: textOf(settings, 'model_id') ?? 'nova-2', language }
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${recognitionAddress(settings)}/v1/listen?${new URLSearchParams(form).toString()}`,
          headers: { ...keyHeader(settings), 'content-type': 'audio/wav' },
          body: Buffer.concat([wavHeader(sampleRate, bytes.length), bytes]),
          accepts: /^application\/json/,
        })
        const [channel] = listOf(parseAnswer(answer, vendor), 'results', 'channels')
        if (channel === undefined) throw new AppError('speech_failed', `${vendor} answered without a result`)
        return textOf(channel, 'alternatives', 0, 'transcript') ?? ''
      },
    },
    async fetchOffer(settings) {
      const answer = await callVendor(outgoing, settings, {
        vendor,
        method: 'GET',
        url: `${publicAddress}/v1/models`,
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

/** One's own installation needs no key. */
function keyHeader(settings: Settings): Readonly<Record<string, string>> {
  const key = textOf(settings, 'api_key')
  return key === undefined ? {} : { authorization: `Token ${key}` }
}

function toOffer(answer: unknown): Offer {
  const languages = new Map<string, Choice[]>()
  for (const entry of listOf(answer, 'tts')) {
    const value = textOf(entry, 'canonical_name')
    if (value === undefined) continue
    for (const language of listOf(entry, 'languages')) {
      if (typeof language !== 'string') continue
      languages.set(language, [
        ...(languages.get(language) ?? []),
        { value, name: textOf(entry, 'name') ?? value },
      ])
    }
  }
  const models = new Map<string, Choice>()
  for (const entry of listOf(answer, 'stt')) {
    const value = textOf(entry, 'canonical_name')
    if (value !== undefined) models.set(value, { value, name: value })
  }
  return {
    ...offer,
    tts: [...languages].map(([value, voices]) => ({ value, name: value, voices })),
    sttModels: [...models.values()],
  }
}
