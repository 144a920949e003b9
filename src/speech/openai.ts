// OpenAI over REST: speech and transcriptions. `whisper` is the older name of the same vendor.
import { AppError } from '../lib/errors.ts'
import { memberOf, textOf } from '../lib/members.ts'
import { chooseVoice } from './choose-voice.ts'
import { readWav } from './read-wav.ts'
import type { Offer, Settings, SpeechVendor, VendorOptions } from './speech.ts'
import { toUpload } from './upload.ts'
import { callVendor, neededSetting, parseAnswer } from './vendor-call.ts'

const publicAddress = 'https://api.openai.com/v1'
const languages = [
  { value: 'en', name: 'English' },
  { value: 'de', name: 'German' },
  { value: 'es', name: 'Spanish' },
  { value: 'fr', name: 'French' },
]
const voices = ['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'].map((name) => ({
  value: name,
  name: name.charAt(0).toUpperCase() + name.slice(1),
}))

const offer: Offer = {
  tts: languages.map((language) => ({ ...language, voices })),
  stt: languages,
  models: [
    { value: 'gpt-4o-mini-tts', name: 'GPT-4o mini TTS' },
    { value: 'tts-1', name: 'TTS-1' },
    { value: 'tts-1-hd', name: 'TTS-1 HD' },
  ],
  sttModels: [
    { value: 'gpt-4o-mini-transcribe', name: 'GPT-4o mini Transcribe' },
    { value: 'gpt-4o-transcribe', name: 'GPT-4o Transcribe' },
    { value: 'whisper-1', name: 'Whisper 1' },
  ],
}

export function createOpenAi(
  { outgoing }: VendorOptions,
  at: string = publicAddress,
  vendor: 'openai' | 'whisper' = 'openai',
): SpeechVendor {
  const headers = (settings: Settings, contentType: string): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${neededSetting(settings, 'api_key', vendor)}`,
    'content-type': contentType,
  })
  return {
    name: vendor,
    version: '1',
    needsCredential: true,
    offer,
    synthesizer: {
      takesSsml: false,
      choose: (wish) => chooseVoice(offer, wish, { voice: 'alloy', language: null }),
      soundOf: speakingModel,
      async synthesize({ text, voice }, settings) {
        const answer = await callVendor(outgoing, settings, {
          vendor,
          method: 'POST',
          url: `${at}/audio/speech`,
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
          url: `${at}/audio/transcriptions`,
          headers: headers(settings, contentType),
          body,
          accepts: /^application\/json/,
        })
        const text = memberOf(parseAnswer(answer, vendor), 'text')
        if (typeof text !== 'string')
          throw new AppError('speech_failed', `${vendor} answered without a result`)
        return text.trim()
      },
    },
  }
}

export function createWhisper(options: VendorOptions): SpeechVendor {
  return createOpenAi(options, publicAddress, 'whisper')
}

/** The one model of a credential either speaks or listens, which its name tells. */
function speakingModel(settings: Settings): string {
  const model = textOf(settings, 'model_id')
  return model !== undefined && /tts/.test(model) ? model : 'gpt-4o-mini-tts'
}

function listeningModel(settings: Settings): string {
  const model = textOf(settings, 'model_id')
  return model !== undefined && !/tts/.test(model) ? model : 'gpt-4o-mini-transcribe'
}
