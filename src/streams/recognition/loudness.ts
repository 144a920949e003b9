// Whether frames have a voice in them, by their level over that of the noise so far.
// A level and not a model: it decides only how audio is cut for a vendor, never what was said.

/** Frames below this level (of 32767) are silence wherever noise is low. */
const floorLevel = 180
/** A voice is three times as loud as the noise. */
const overNoise = 3
/** How fast the estimate of the noise rises, and falls, in a frame of 20 ms. */
const rise = 1.01
const fall = 0.9

export class Loudness {
  #noise = floorLevel / overNoise

  /** Returns whether a frame of 16-bit samples, little-endian, is voiced. */
  isVoiced(octets: Uint8Array): boolean {
    const level = levelOf(octets)
    this.#noise = level < this.#noise ? Math.max(1, this.#noise * fall) : Math.min(level, this.#noise * rise)
    return level > Math.max(floorLevel, this.#noise * overNoise)
  }
}

/** Returns the root of the mean square of every second sample. */
function levelOf(octets: Uint8Array): number {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
  let sum = 0
  let count = 0
  for (let at = 0; at + 1 < octets.length; at += 4) {
    const sample = view.getInt16(at, true)
    sum += sample * sample
    count += 1
  }
  return count === 0 ? 0 : Math.sqrt(sum / count)
}
