// OpenAI over REST: speech and transcriptions. `whisper` is the older name of the same vendor.
import { listOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { openAiOffer } from './offers/openai.ts'
import { readWav } from './read-wav.ts'
import type { Choice, Offer, Settings, SpeechVendor, VendorOptions } from './vendor.ts'
import { toUpload } from '../outgoing/upload.ts'
import { addressOf, callVendor, neededSetting, parseAnswer, parseTranscript } from './vendor-call.ts'

const publicAddress = 'https://api.openai.com/v1'

export function createOpenAi(
  { outgoing }: VendorOptions,
  at: string = publicAddress,
  vendor: 'openai' | 'whisper' = 'openai',
): SpeechVendor {
  const keyHeader = (settings: Settings) => ({
    authorization: `Bearer ${neededSetting(settings, 'api_key', vendor)}`,
  })
  const baseOf = (settings: Settings): string => {
    const own = textOf(settings, 'api_uri')
    if (own === undefined) return at
    const address = addressOf(own, true)
    return /^https?:\/\/[^/]+$/i.test(address) ? `${address}/v1` : address
  }
  const headers = (settings: Settings, contentType: string): Readonly<Record<string, string>> => ({
    ...keyHeader(settings),
    'content-type': contentType,
  })
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer: openAiOffer,
    synthesizer: {
      takesSsml: false,
      choose: (wanted) => chooseVoice(openAiOffer(), wanted, { voice: 'alloy', language: null }),
      soundOf: (settings) => [speakingModel(settings), textOf(settings, 'api_uri') ?? []].flat().join(' '),
      async synthesize({ text, voice }, settings) {
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${baseOf(settings)}/audio/speech`,
          headers: headers(settings, 'application/json'),
          body: JSON.stringify({
            model: speakingModel(settings),
            voice,
            input: text,
            response_format: 'wav',
          }),
          accepts: /^audio\//,
        })
        return readWav(answer.body, vendor)
      },
    },
    recognizer: {
      async transcribe(recording, language, settings) {
        const { contentType, body } = await toUpload(recording, {
          model: listeningModel(settings),
          language: language.split('-')[0] ?? language,
          response_format: 'json',
        })
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${baseOf(settings)}/audio/transcriptions`,
          headers: headers(settings, contentType),
          body,
          accepts: /^application\/json/,
        })
        return parseTranscript(answer, vendor)
      },
    },
    async fetchOffer(settings) {
      const answer = await callVendor(outgoing, settings, {
        vendor,
        method: 'GET',
        url: `${baseOf(settings)}/models`,
        headers: keyHeader(settings),
        accepts: /^application\/json/,
      })
      return toOffer(parseAnswer(answer, vendor))
    },
  }
}

export function createWhisper(options: VendorOptions): SpeechVendor {
  return createOpenAi(options, publicAddress, 'whisper')
}

/** Returns the model that speaks. The only model of a credential either speaks or listens, which its name shows. */
function speakingModel(settings: Settings): string {
  const model = textOf(settings, 'model_id')
  return model !== undefined && /tts/.test(model) ? model : 'gpt-4o-mini-tts'
}

function listeningModel(settings: Settings): string {
  const model = textOf(settings, 'model_id')
  return model !== undefined && !/tts/.test(model) ? model : 'gpt-4o-mini-transcribe'
}

/** Returns the offer from OpenAI's list of all models, without those that need another interface. */
function toOffer(answer: unknown): Offer {
  const ids = listOf(answer, 'data')
    .map((entry) => textOf(entry, 'id') ?? '')
    .filter((id) => !/realtime|diarize/.test(id))
    .sort()
  return {
    ...openAiOffer(),
    models: toModels(
      ids.filter((id) => /tts/.test(id)),
      openAiOffer().models,
    ),
    sttModels: toModels(
      ids.filter((id) => /transcribe|whisper/.test(id)),
      openAiOffer().sttModels,
    ),
  }
}

function toModels(ids: readonly string[], known: readonly Choice[] = []): readonly Choice[] {
  return ids.map((value) => known.find((model) => model.value === value) ?? { value, name: value })
}
