// The offer of Deepgram as known without a request: the voices of Aura 2, and the models that listen.
import { once } from '../../lib/once.ts'
import { capitalize, toLanguages, toVoices } from '../languages.ts'
import type { Choice, Offer, VoicesOfLanguage } from '../vendor.ts'

/** The first voice of a language speaks if an application names only the language. */
const speaking = once(() =>
  toVoices(
    {
      'en-US': `thalia andromeda apollo arcas aries asteria athena atlas aurora callista cora cordelia delia electra
      harmonia helena hera hermes iris janus juno jupiter luna mars minerva neptune odysseus ophelia orion orpheus
      phoebe pluto saturn selene vesta zeus`,
      'en-GB': 'draco pandora',
      'en-AU': 'hyperion theia',
      'en-PH': 'amalthea',
      'es-ES': 'nestor agustina alvaro carina diana silvia',
      'es-419': 'aquila selena',
      'es-AR': 'antonia',
      'es-CO': 'celeste gloria',
      'es-MX': 'estrella javier luciano olivia sirio valerio',
      'de-DE': 'viktoria aurelia elara fabian julius kara lara',
      'fr-FR': 'agathe hector',
      'it-IT': 'livia cesare cinzia demetra dionisio elio flavio maia melia perseo',
      'ja-JP': 'izanami ama ebisu fujin uzume',
      'nl-NL': 'rhea beatrix cornelia daphne hestia lars leda roman sander',
    },
    (name, language) => ({ value: `aura-2-${name}-${language.slice(0, 2)}`, name: capitalize(name) }),
  ),
)

const listening = [
  'nova-3',
  'nova-3-medical',
  'nova-2',
  ...[
    'atc',
    'automotive',
    'conversationalai',
    'drivethru',
    'finance',
    'medical',
    'meeting',
    'phonecall',
    'video',
  ]
    .concat('voicemail')
    .map((purpose) => `nova-2-${purpose}`),
  'enhanced',
  'base',
]

export const deepgramOffer = once((): Offer => ({
  tts: speaking(),
  stt: toLanguages(`
    en-US en-GB de es fr en en-AU en-IN en-NZ multi bg ca cs da da-DK de-CH el es-419 et fi fr-CA hi hu id it ja ko
    ko-KR lt lv ms nl nl-BE no pl pt pt-BR pt-PT ro ru sk sv sv-SE th th-TH tr uk vi zh zh-CN zh-HK zh-Hans zh-Hant
    zh-TW`),
  models: modelsOf(speaking()),
  sttModels: listening.map((value) => ({ value, name: modelName(value) })),
}))

/** Returns the voices as models: each voice of Deepgram is a separate model. */
export function modelsOf(languages: readonly VoicesOfLanguage[]): readonly Choice[] {
  const models = new Map<string, Choice>()
  for (const { voices } of languages)
    for (const { value } of voices) models.set(value, { value, name: modelName(value) })
  return [...models.values()]
}

/** Returns Aura 2 Thalia En for `aura-2-thalia-en`, Nova 3 for `nova-3`. */
export function modelName(value: string): string {
  return value.split('-').map(capitalize).join(' ')
}
