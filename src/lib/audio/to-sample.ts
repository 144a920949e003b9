/** Returns the nearest sample of 16 bits; louder values are clipped. */
export function toSample(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
