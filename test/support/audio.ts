// Audio as numbers: makes WAV files to serve and judges the ones a phone recorded.

export interface Audio {
  readonly sampleRate: number
  /** One channel, -1 to 1. */
  readonly samples: Float64Array
}

export function durationMs({ sampleRate, samples }: Audio): number {
  return (samples.length / sampleRate) * 1000
}

export function tone(frequencyHz: number, lengthMs: number, { sampleRate = 8000, level = 0.5 } = {}): Audio {
  const samples = new Float64Array(Math.round((sampleRate * lengthMs) / 1000))
  for (let index = 0; index < samples.length; index += 1)
    samples[index] = level * Math.sin((2 * Math.PI * frequencyHz * index) / sampleRate)
  return { sampleRate, samples }
}

/** Returns a WAV file of PCM, 16 bit, mono. */
export function toWav({ sampleRate, samples }: Audio): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + samples.length * 2, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(samples.length * 2, 40)
  // Not Int16Array.from with a function, which takes twenty times as long: a phone speaks for a minute and more.
  const data = new Int16Array(samples.length)
  for (let index = 0; index < samples.length; index += 1)
    data[index] = Math.round(Math.max(-1, Math.min(1, samples[index] ?? 0)) * 32_767)
  return Buffer.concat([header, new Uint8Array(data.buffer)])
}

/** Reads the first channel of a WAV file of 16-bit PCM. A recorder that was killed leaves a data length of 0. */
export function fromWav(bytes: Buffer): Audio {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE')
    throw new Error('not a WAV file')
  let channels = 1
  let sampleRate = 8000
  for (let at = 12; at + 8 <= bytes.length;) {
    const id = bytes.toString('latin1', at, at + 4)
    const length = bytes.readUInt32LE(at + 4)
    const start = at + 8
    if (id === 'fmt ') {
      channels = bytes.readUInt16LE(start + 2)
      sampleRate = bytes.readUInt32LE(start + 4)
      if (bytes.readUInt16LE(start + 14) !== 16) throw new Error('not 16 bit PCM')
    }
    if (id === 'data') {
      const end = length === 0 ? bytes.length : Math.min(bytes.length, start + length)
      const samples = new Float64Array(Math.floor((end - start) / (2 * channels)))
      const view = new DataView(bytes.buffer, bytes.byteOffset)
      for (let index = 0; index < samples.length; index += 1)
        samples[index] = view.getInt16(start + index * 2 * channels, true) / 32_768
      return { sampleRate, samples }
    }
    at = start + length + (length % 2)
  }
  throw new Error('a WAV file without data')
}

export function slice({ sampleRate, samples }: Audio, fromMs: number, toMs: number): Audio {
  const at = (ms: number): number => Math.round((ms * sampleRate) / 1000)
  return { sampleRate, samples: samples.subarray(at(fromMs), at(toMs)) }
}

/** Returns the root mean square, 0 to 1: silence is near 0, a full-scale sine 0.707. */
export function rms({ samples }: Audio): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length)
}

/** Returns the share, 0 to 1, of the power that one frequency carries (Goertzel). A clean tone gives nearly 1. */
export function toneShare(audio: Audio, frequencyHz: number): number {
  const { sampleRate, samples } = audio
  const coefficient = 2 * Math.cos((2 * Math.PI * frequencyHz) / sampleRate)
  let previous = 0
  let beforeThat = 0
  for (const sample of samples) {
    const current = sample + coefficient * previous - beforeThat
    beforeThat = previous
    previous = current
  }
  const power = previous ** 2 + beforeThat ** 2 - coefficient * previous * beforeThat
  const total = rms(audio) ** 2 * samples.length
  return total === 0 ? 0 : power / (total * (samples.length / 2))
}

export interface Segment {
  readonly startMs: number
  readonly endMs: number
}

/** Returns the stretches louder than `threshold`. Gaps shorter than `bridgeMs` do not end a stretch. */
export function soundSegments(audio: Audio, { threshold = 0.01, bridgeMs = 300 } = {}): Segment[] {
  const windowMs = 20
  const segments: { startMs: number; endMs: number }[] = []
  for (let startMs = 0; startMs + windowMs <= durationMs(audio); startMs += windowMs) {
    if (rms(slice(audio, startMs, startMs + windowMs)) < threshold) continue
    const current = segments.at(-1)
    if (current !== undefined && startMs - current.endMs <= bridgeMs) current.endMs = startMs + windowMs
    else segments.push({ startMs, endMs: startMs + windowMs })
  }
  return segments
}

/** Returns the stretches in which a tone is heard, in windows of 100 ms. Gaps up to `bridgeMs` do not end one. */
export function toneSegments(audio: Audio, frequencyHz: number, { bridgeMs = 100 } = {}): Segment[] {
  const windowMs = 100
  const segments: { startMs: number; endMs: number }[] = []
  for (let startMs = 0; startMs + windowMs <= durationMs(audio); startMs += windowMs / 2) {
    const window = slice(audio, startMs, startMs + windowMs)
    if (rms(window) < 0.02 || toneShare(window, frequencyHz) < 0.8) continue
    const current = segments.at(-1)
    if (current !== undefined && startMs <= current.endMs + bridgeMs) current.endMs = startMs + windowMs
    else segments.push({ startMs, endMs: startMs + windowMs })
  }
  return segments
}

/** Returns the strongest frequency between 100 and 3900 Hz, to 5 Hz. */
export function dominantFrequencyHz(audio: Audio): number {
  let best = 0
  let bestShare = -1
  for (let frequencyHz = 100; frequencyHz <= 3900; frequencyHz += 5) {
    const share = toneShare(audio, frequencyHz)
    if (share > bestShare) {
      best = frequencyHz
      bestShare = share
    }
  }
  return best
}
