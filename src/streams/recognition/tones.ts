// Tones in frames of audio: a beep is one frequency that stays; what a network signals is one or two, which are no voice.

/** The measures of a frame. */
export interface Tones {
  /** The frequency that fits best, in Hz. */
  readonly frequency: number
  /** How far from it the rest of the sound is, in Hz: near 0 for a single tone. */
  readonly spread: number
  /** The share of the sound that one tone or two do not explain. */
  readonly rest: number
}

/**
 * Fits x[n+1] + x[n-1] = k x[n], which holds for one tone, and x[n+2] + x[n-2] = a (x[n+1] + x[n-1]) + b x[n], which
 * holds for two. The frame must have a sound.
 */
export function tonesOf(samples: Int16Array, rate: number): Tones {
  let [xx, sx, ss, tt, ts, tx] = [0, 0, 0, 0, 0, 0]
  for (let at = 2; at + 2 < samples.length; at += 1) {
    const x = samples[at] ?? 0
    const s = (samples[at + 1] ?? 0) + (samples[at - 1] ?? 0)
    const t = (samples[at + 2] ?? 0) + (samples[at - 2] ?? 0)
    xx += x * x
    sx += s * x
    ss += s * s
    tt += t * t
    ts += t * s
    tx += t * x
  }
  if (xx === 0) return { frequency: 0, spread: Infinity, rest: 1 }
  const k = Math.min(2, Math.max(-2, sx / xx))
  const angle = Math.acos(k / 2)
  const toHz = rate / (2 * Math.PI)
  const residual = Math.max(0, ss - k * sx) / xx
  const spread = (Math.sqrt(residual) / Math.max(0.01, 2 * Math.sin(angle))) * toHz
  const determinant = ss * xx - sx * sx
  // Of a single tone the two sums say the same.
  const isOne = determinant < 1e-6 * ss * xx
  const a = isOne ? 0 : (ts * xx - tx * sx) / determinant
  const b = isOne ? tx / xx : (tx * ss - ts * sx) / determinant
  const rest = Math.max(0, tt - a * ts - b * tx) / (tt + xx)
  return { frequency: angle * toHz, spread, rest }
}
