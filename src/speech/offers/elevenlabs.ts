// The offer of ElevenLabs as known without a request: the voices that every account has.
import { once } from '../../lib/once.ts'
import { toLanguages } from '../languages.ts'
import type { Choice, Offer } from '../vendor.ts'

/** The first voice speaks if an application names none. */
const voices: readonly Choice[] = Object.entries({
  George: 'JBFqnCBsd6RMkjVDRZzb',
  Alice: 'Xb7hH8MSUJpSbSDYk0k2',
  Bella: 'hpp4J3VqNfWAUOO0d1Us',
  Bill: 'pqHfZKP75CvOlQylNhV4',
  Brian: 'nPczCjzI2devNBz1zQrb',
  Callum: 'N2lVS1w4EtoT3dr4eOWO',
  Charlie: 'IKne3meq5aSn9XLyUdCD',
  Chris: 'iP95p4xoKVk53GoZ742B',
  Daniel: 'onwK4e9ZLuTAKqWW03F9',
  Eric: 'cjVigY5qzO86Huf0OWal',
  Harry: 'SOYHLrjzK2X1ezoPC6cr',
  Jessica: 'cgSgspJ2msm6clMCkdW9',
  Laura: 'FGY2WhTYpPnrIDTdsKH5',
  Liam: 'TX3LPaxmHKxFdv7VOQHJ',
  Lily: 'pFZP5JQG7iQjIQuC4Bku',
  Matilda: 'XrExE9yKIg1WjnnlVkGX',
  River: 'SAz9YHcvj6GT2YYXdXww',
  Roger: 'CwhRBWXzGAHq8TQ4Fs17',
  Sarah: 'EXAVITQu4vr4xnSDxMaL',
  Will: 'bIHbv24MWmeRgasZH58o',
}).map(([name, value]) => ({ value, name }))

const spoken = once(() =>
  toLanguages(
    'en de es fr ar bg cs da el fi fil hi hr hu id it ja ko ms nl no pl pt ro ru sk sv ta tr uk vi zh',
  ),
)

export const elevenLabsOffer = once((): Offer => ({
  // Every voice speaks every language of its model.
  tts: spoken().map((language) => ({ ...language, voices })),
  stt: [
    ...spoken(),
    ...toLanguages(
      'af az be bn bs ca cy et fa gl gu he hy is ka kk kn lt lv mk ml mn mr ne pa sl sr sw te th ur uz',
    ),
  ],
  models: [
    { value: 'eleven_flash_v2_5', name: 'Flash v2.5' },
    { value: 'eleven_turbo_v2_5', name: 'Turbo v2.5' },
    { value: 'eleven_multilingual_v2', name: 'Multilingual v2' },
    { value: 'eleven_v3', name: 'v3' },
    { value: 'eleven_flash_v2', name: 'Flash v2, English' },
    { value: 'eleven_turbo_v2', name: 'Turbo v2, English' },
  ],
  sttModels: [{ value: 'scribe_v1', name: 'Scribe v1' }],
}))
