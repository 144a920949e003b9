// The format of spooled files: WAV with two channels of 16 bits at 8000 Hz. The header gets its sizes only when the
// file is finished; a file left by a killed process is finished by its size.

export const rate = 8000
export const channels = 2
export const headerBytes = 44
/** The bytes of one sample of both channels. */
export const sampleBytes = 2 * channels
export const bytesPerMs = (rate * sampleBytes) / 1000
/** Both sizes in the header have 32 bits. */
export const maxDataBytes = 2 ** 32 - 1 - headerBytes

export function headerOf(dataBytes: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(headerBytes - 8 + dataBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  // PCM.
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * sampleBytes, 28)
  header.writeUInt16LE(sampleBytes, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes, 40)
  return header
}

/** Returns the bytes of audio in a file of this size. Only whole samples count. */
export function dataBytesIn(fileBytes: number): number {
  const bytes = Math.min(maxDataBytes, Math.max(0, fileBytes - headerBytes))
  return bytes - (bytes % sampleBytes)
}

export function durationOf(dataBytes: number): number {
  return Math.round(dataBytes / bytesPerMs)
}
