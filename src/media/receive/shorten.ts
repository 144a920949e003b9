// Leaves out a little of a voice without a click: the frame begins as it would, and ends where what was left out ends.
import { frameSamples } from '../codecs/coders.ts'
import { likeness } from './concealment.ts'

/** Samples that must be there. */
export const shortenedFrom = 2 * frameSamples

const shortestLag = 80
// Where the two join at their most alike, half a frame of mixing is enough.
const mixedSamples = 80

/** Writes a frame and returns how many samples it stands for. `lag` more than a frame; when not given, 10 to 20 ms. */
export function shorten(samples: Int16Array, into: Int16Array, lag?: number): number {
  const skipped = lag ?? bestLag(samples)
  const mixed = lag === undefined ? mixedSamples : frameSamples
  for (let index = 0; index < frameSamples; index += 1) {
    const share = Math.min(1, (index + 1) / mixed)
    into[index] = Math.round((samples[index] ?? 0) * (1 - share) + (samples[index + skipped] ?? 0) * share)
  }
  return frameSamples + skipped
}

function bestLag(samples: Int16Array): number {
  let best = frameSamples
  let bestScore = -Infinity
  for (let lag = frameSamples; lag >= shortestLag; lag -= 1) {
    const score = likeness(samples, lag, lag)
    if (score > bestScore) {
      best = lag
      bestScore = score
    }
  }
  return best
}
