// Leaves out a little of a voice without a click: the frame begins as it would, and ends where what was left out ends.
import { frameSamples } from '../codecs/coders.ts'
import { likeness } from './concealment.ts'

const shortestLag = 80
// Where the two join at their most alike, half a frame of mixing is enough.
const mixedSamples = 80

/** Samples of two frames that are at hand go into one; returns how many it stands for. `lag`: when not given, 10 to 20 ms. */
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
