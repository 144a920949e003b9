// Gains as applications write them: 6, "6", "-10 dB".

export const decibelPattern = '^\\s*[+-]?\\d{1,3}(\\.\\d{1,3})?\\s*([dD][bB])?\\s*$'

/** Less cannot be heard, and more would be a mistake. */
export const minGainDb = -60
export const maxGainDb = 30

/** A text must match the pattern. What is beyond the bounds is taken for them. */
export function toDecibels(given: number | string): number {
  const db = typeof given === 'number' ? given : Number.parseFloat(given)
  return Math.min(maxGainDb, Math.max(minGainDb, db))
}
