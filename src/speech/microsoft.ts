// Microsoft Azure Speech over REST: synthesis from SSML, recognition of short audio.
import { isSet, listOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { microsoftOffer } from './offers/microsoft.ts'
import { readWav } from './read-wav.ts'
import type { Settings, SpeechVendor, Utterance, VendorOptions } from './vendor.ts'
import { byLanguage, callVendor, parseAnswer, regionSetting, withoutResult } from './vendor-call.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'

const vendor = 'microsoft'

/** Returns the address of a region's service; tests pass their own. */
export type MicrosoftAddress = (region: string, service: 'tts' | 'stt' | 'voice') => string

const inAzure: MicrosoftAddress = (region, service) => `https://${region}.${service}.speech.microsoft.com`

const voiceNames = {
  language: 'Locale',
  languageName: 'LocaleName',
  voice: 'ShortName',
  voiceName: 'DisplayName',
}

export function createMicrosoft({ outgoing }: VendorOptions, at: MicrosoftAddress = inAzure): SpeechVendor {
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: microsoftOffer,
    synthesizer: {
      takesSsml: true,
      choose: (wanted) =>
        chooseVoice(microsoftOffer(), wanted, { voice: 'en-US-JennyNeural', language: 'en-US' }),
      soundOf: (settings) => JSON.stringify(customOf(settings, 'tts') ?? null),
      async synthesize(utterance, settings) {
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: synthesisUrl(settings, at),
          headers: {
            ...keyHeader(settings),
            'content-type': 'application/ssml+xml',
            'x-microsoft-outputformat': 'riff-16khz-16bit-mono-pcm',
            'user-agent': 'switchhook',
          },
          body: toSsml(utterance),
          accepts: /^audio\//,
        })
        return readWav(answer.body, vendor)
      },
    },
    recognizer: {
      async transcribe({ sampleRate, bytes }, language, settings) {
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: recognitionUrl(settings, language, at),
          headers: {
            ...keyHeader(settings),
            'content-type': `audio/wav; codecs=audio/pcm; samplerate=${sampleRate}`,
            accept: 'application/json',
          },
          body: Buffer.concat([wavHeader(sampleRate, bytes.length), bytes]),
          accepts: /^application\/json/,
        })
        const parsed = parseAnswer(answer, vendor)
        const status = textOf(parsed, 'RecognitionStatus')
        if (status === undefined) throw withoutResult(vendor)
        return textOf(parsed, 'DisplayText') ?? ''
      },
    },
    async fetchOffer(settings) {
      // A custom endpoint has no list of voices.
      if (textOf(settings, 'region') === undefined) return microsoftOffer()
      const answer = await callVendor(outgoing, settings, {
        vendor,
        method: 'GET',
        url: `${at(regionSetting(settings, 'region', vendor), 'tts')}/cognitiveservices/voices/list`,
        headers: keyHeader(settings),
        accepts: /^application\/json/,
      })
      return { ...microsoftOffer(), tts: byLanguage(listOf(parseAnswer(answer, vendor)), voiceNames) }
    },
  }
}

interface CustomEndpoint {
  /** The id of a deployment in the region. */
  readonly id: string | undefined
  /** The URL of the customer's own container. */
  readonly url: string | undefined
}

const customSettings = {
  tts: { use: 'use_custom_tts', id: 'custom_tts_endpoint', url: 'custom_tts_endpoint_url' },
  stt: { use: 'use_custom_stt', id: 'custom_stt_endpoint', url: 'custom_stt_endpoint_url' },
} as const

function customOf(settings: Settings, kind: 'tts' | 'stt'): CustomEndpoint | undefined {
  const names = customSettings[kind]
  if (!isSet(settings, names.use)) return undefined
  const id = textOf(settings, names.id)
  const url = textOf(settings, names.url)
  return id === undefined && url === undefined ? undefined : { id, url }
}

function synthesisUrl(settings: Settings, at: MicrosoftAddress): string {
  const custom = customOf(settings, 'tts')
  if (custom?.url !== undefined) return custom.url
  const region = regionSetting(settings, 'region', vendor)
  return custom?.id === undefined
    ? `${at(region, 'tts')}/cognitiveservices/v1`
    : `${at(region, 'voice')}/cognitiveservices/v1?deploymentId=${encodeURIComponent(custom.id)}`
}

function recognitionUrl(settings: Settings, language: string, at: MicrosoftAddress): string {
  const custom = customOf(settings, 'stt')
  const path = '/speech/recognition/conversation/cognitiveservices/v1'
  const base = custom?.url ?? `${at(regionSetting(settings, 'region', vendor), 'stt')}${path}`
  const url = URL.parse(base.replace(/^ws(s?):/i, 'http$1:'))
  // The client refuses a malformed URL, with the sentence that every vendor's URL gets.
  if (url === null) return base
  url.searchParams.set('language', language)
  if (custom?.id !== undefined) url.searchParams.set('cid', custom.id)
  return url.href
}

function keyHeader(settings: Settings): Readonly<Record<string, string>> {
  const key = textOf(settings, 'api_key')
  return key === undefined ? {} : { 'ocp-apim-subscription-key': key }
}

/** Returns the SSML. A document names its voice itself, or its text is wrapped in the chosen voice. */
function toSsml({ text, isSsml, voice, language }: Utterance): string {
  const lang = escapeXml(language ?? 'en-US')
  const said = isSsml ? text.replace(/^\s*<speak[^>]*>/i, '').replace(/<\/speak>\s*$/i, '') : escapeXml(text)
  const spoken = isSsml && /<voice\b/i.test(said) ? said : `<voice name="${escapeXml(voice)}">${said}</voice>`
  const namespaces = 'xmlns="http://www.w3.org/2001/10/synthesis" xmlns:mstts="https://www.w3.org/2001/mstts"'
  return `<speak version="1.0" ${namespaces} xml:lang="${lang}">${spoken}</speak>`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
