/** The nearest sample of 16 bits: what is louder than the scale is cut off. */
export function toSample(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
