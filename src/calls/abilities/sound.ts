// The ability to change the volume of everything that the far end hears.
import type { Leg } from '../leg/leg.ts'
import type { Sound } from '../verb/abilities.ts'

export function createSound({ media }: Pick<Leg, 'media'>): Sound {
  return { boost: (gainDb) => media.sound.boost(gainDb) }
}
