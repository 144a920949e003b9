// Gains in the forms that applications write: 6, "6", "-10 dB".

export const decibelPattern = '^\\s*[+-]?\\d{1,3}(\\.\\d{1,3})?\\s*([dD][bB])?\\s*$'

/** A lower gain is inaudible, and a higher one than the maximum a mistake. */
export const minGainDb = -60
export const maxGainDb = 30

/** Returns the gain, limited to the bounds. A text must match the pattern. */
export function toDecibels(given: number | string): number {
  const db = typeof given === 'number' ? given : Number.parseFloat(given)
  return Math.min(maxGainDb, Math.max(minGainDb, db))
}
