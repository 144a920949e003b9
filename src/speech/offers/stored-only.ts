// The models of the vendors whose credentials are stored, and which this release does not speak or listen with. Forms of
// clients let a person choose a model from these lists and send no other. Published by each vendor; a start, not
// complete lists: the fields take any model.
import { once } from '../../lib/once.ts'
import type { Choice, Offer } from '../vendor.ts'

const named = (models: Readonly<Record<string, string>>): readonly Choice[] =>
  Object.entries(models).map(([value, name]) => ({ value, name }))

const offers = once(
  (): ReadonlyMap<string, Offer> =>
    new Map([
      [
        'cartesia',
        {
          models: named({
            'sonic-3': 'Sonic 3',
            'sonic-2': 'Sonic 2',
            'sonic-turbo': 'Sonic Turbo',
            sonic: 'Sonic',
          }),
          sttModels: named({ 'ink-whisper': 'Ink Whisper' }),
        },
      ],
      ['inworld', { models: named({ 'inworld-tts-1': 'TTS-1', 'inworld-tts-1-max': 'TTS-1 Max' }) }],
      [
        'rimelabs',
        {
          models: named({
            coda: 'Coda',
            arcana: 'Arcana',
            mistv3: 'Mist v3',
            mistv2: 'Mist v2',
            mist: 'Mist',
          }),
        },
      ],
      // The engines, for voice_engine.
      ['playht', { models: named({ 'Play3.0-mini': 'Play 3.0 mini', PlayDialog: 'PlayDialog' }) }],
    ]),
)

/** Returns undefined for a vendor whose credentials need no model, and for one that is not known. */
export function storedOffer(vendor: string): Offer | undefined {
  const offer = offers().get(vendor)
  return offer === undefined ? undefined : { tts: [], stt: [], ...offer }
}
