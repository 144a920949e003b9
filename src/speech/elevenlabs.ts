// ElevenLabs over REST: synthesis, and recognition with Scribe.
import { AppError } from '../lib/errors.ts'
import { readJson } from '../lib/read-json.ts'
import { listOf, memberOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { elevenLabsOffer } from './offers/elevenlabs.ts'
import {
  spokenRate,
  type Choice,
  type Offer,
  type Settings,
  type SpeechVendor,
  type Utterance,
  type VendorOptions,
} from './vendor.ts'
import { addressOf, callVendor, neededSetting, parseAnswer, parseTranscript } from './vendor-call.ts'
import { toUpload } from '../outgoing/upload.ts'

const vendor = 'elevenlabs'
const publicAddress = 'https://api.elevenlabs.io'
const preset = { voice: 'JBFqnCBsd6RMkjVDRZzb', language: null }

export function createElevenLabs({ outgoing }: VendorOptions): SpeechVendor {
  const get = async (path: string, settings: Settings): Promise<unknown> => {
    const url = `${baseOf(settings)}${path}`
    const call = { vendor, method: 'GET', url, headers: keyHeader(settings), accepts: json } as const
    return parseAnswer(await callVendor(outgoing, settings, call), vendor)
  }
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: elevenLabsOffer,
    synthesizer: {
      takesSsml: false,
      choose: (wanted) => chooseVoice(elevenLabsOffer(), wanted, preset),
      soundOf: ({ model_id, options, api_uri }) => JSON.stringify([model_id, options, api_uri]),
      async synthesize(utterance, settings) {
        const path = `/v1/text-to-speech/${encodeURIComponent(utterance.voice)}`
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          // Every plan has PCM at 16 kHz; not every model has it at 8 kHz.
          url: `${baseOf(settings)}${path}?output_format=pcm_${spokenRate}`,
          headers: { ...keyHeader(settings), 'content-type': 'application/json' },
          body: JSON.stringify(toRequest(utterance, settings)),
          accepts: /^(audio\/|application\/octet-stream)/,
        })
        return {
          sampleRate: spokenRate,
          bytes: answer.body.subarray(0, answer.body.length - (answer.body.length % 2)),
        }
      },
    },
    recognizer: {
      async transcribe(recording, language, settings) {
        const upload = await toUpload(recording, {
          model_id: 'scribe_v1',
          language_code: language.split('-')[0] ?? language,
        })
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${baseOf(settings)}/v1/speech-to-text`,
          headers: { ...keyHeader(settings), 'content-type': upload.contentType },
          body: upload.body,
          accepts: json,
        })
        return parseTranscript(answer, vendor)
      },
    },
    async fetchOffer(settings) {
      const [voices, models] = await Promise.all([get('/v1/voices', settings), get('/v1/models', settings)])
      return toOffer(voices, models)
    },
  }
}

const json = /^application\/json/

function baseOf(settings: Settings): string {
  return addressOf(textOf(settings, 'api_uri') ?? publicAddress, true)
}

function keyHeader(settings: Settings): Readonly<Record<string, string>> {
  return { 'xi-api-key': neededSetting(settings, 'api_key', vendor) }
}

function toRequest({ text, language }: Utterance, settings: Settings): object {
  const model_id = textOf(settings, 'model_id')
  const settingsOfVoice = memberOf(parseOptions(settings), 'voice_settings')
  // Models without a choice of language refuse one; the models with a choice are those of version 2.5.
  const takesLanguage = language !== null && /_v2_5$/.test(model_id ?? '')
  return {
    text,
    ...(model_id === undefined ? {} : { model_id }),
    ...(takesLanguage ? { language_code: language.split('-')[0] } : {}),
    ...(settingsOfVoice === undefined ? {} : { voice_settings: settingsOfVoice }),
  }
}

function parseOptions(settings: Settings): unknown {
  const options = textOf(settings, 'options')
  if (options === undefined) return undefined
  try {
    return readJson(options)
  } catch (cause) {
    throw new AppError('speech_failed', `the options of the credential for ${vendor} are not JSON`, { cause })
  }
}

function toOffer(voices: unknown, models: unknown): Offer {
  const spoken = listOf(voices, 'voices').flatMap((entry): Choice[] => {
    const value = textOf(entry, 'voice_id')
    return value === undefined ? [] : [{ value, name: textOf(entry, 'name') ?? value }]
  })
  const speaking = listOf(models).filter((model) => memberOf(model, 'can_do_text_to_speech') === true)
  const languages = new Map<string, string>()
  for (const model of speaking) {
    for (const language of listOf(model, 'languages')) {
      const value = textOf(language, 'language_id')
      if (value !== undefined) languages.set(value, textOf(language, 'name') ?? value)
    }
  }
  return {
    ...elevenLabsOffer(),
    // Every voice speaks every language of its model.
    tts: [...languages].map(([value, name]) => ({ value, name, voices: spoken })),
    models: speaking.flatMap((model): Choice[] => {
      const value = textOf(model, 'model_id')
      return value === undefined ? [] : [{ value, name: textOf(model, 'name') ?? value }]
    }),
  }
}
