// The ability to change how loud everything is that the far end hears.
import type { Leg } from '../leg/leg.ts'
import type { Sound } from './abilities.ts'

export function createSound({ media }: Pick<Leg, 'media'>): Sound {
  return { boost: (gainDb) => media.sound.boost(gainDb) }
}
