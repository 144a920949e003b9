// Leaves out a little of a voice without a click: the frame begins where it would, and ends where the left-out part
// ends.
import { frameSamples } from '../codecs/coders.ts'
import { likeness } from './concealment.ts'

const shortestLag = 80
// The two parts are joined where they are most alike, so that half a frame of mixing is enough.
const mixedSamples = 80

/**
 * Shortens samples of two frames into one, and returns how many samples it used. `lag` is chosen, from 10 to 20 ms,
 * if left out.
 */
export function shorten(samples: Int16Array, into: Int16Array, lag?: number): number {
  const frame = into.length
  const perUnit = frame / frameSamples
  const skipped = lag ?? bestLag(samples, perUnit)
  const mixed = lag === undefined ? mixedSamples * perUnit : frame
  for (let index = 0; index < frame; index += 1) {
    const share = Math.min(1, (index + 1) / mixed)
    into[index] = Math.round((samples[index] ?? 0) * (1 - share) + (samples[index + skipped] ?? 0) * share)
  }
  return frame + skipped
}

function bestLag(samples: Int16Array, perUnit: number): number {
  const longest = frameSamples * perUnit
  let best = longest
  let bestScore = -Infinity
  for (let lag = longest; lag >= shortestLag * perUnit; lag -= perUnit) {
    const score = likeness(samples, lag, lag, perUnit)
    if (score > bestScore) {
      best = lag
      bestScore = score
    }
  }
  return best
}
