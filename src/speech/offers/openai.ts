// The known part of the offer of OpenAI. OpenAI has no request for its voices and languages.
import { once } from '../../lib/once.ts'
import { capitalize, toLanguages } from '../languages.ts'
import type { Offer } from '../vendor.ts'

/** The languages, each with the same voices and models. */
const languages = once(() =>
  toLanguages(`
  en de es fr af ar az be bg bs ca cs cy da el et fa fi gl he hi hr hu hy id is it ja kk kn ko lt lv mi mk mr ms ne nl
  no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh`),
)

const voices = [
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable'],
  ...['marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
].map((value) => ({ value, name: capitalize(value) }))

export const openAiOffer = once((): Offer => ({
  tts: languages().map((language) => ({ ...language, voices })),
  stt: languages(),
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
}))
