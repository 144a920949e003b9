// The check that a fetched file is a WAV file of a playable coding; media reads the rest when it plays the file.
import { AppError } from '../lib/errors.ts'
import type { ArrivingFile } from './arriving-file.ts'

/** PCM, floating point, A-law and mu-law. */
const playableBits: ReadonlyMap<number, readonly number[]> = new Map([
  [1, [8, 16, 24, 32]],
  [3, [32, 64]],
  [6, [8]],
  [7, [8]],
])
const extensible = 0xfffe
// Notes and padding may precede the format; a file with more chunks than this before it is not worth a search.
const maxChunks = 64

function startsLikeWav(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE'
}

/** Throws audio_not_supported. */
export async function checkWav(file: Pick<ArrivingFile, 'readAt'>): Promise<void> {
  const head = await file.readAt(0, 12)
  if (head.length < 12 || !startsLikeWav(head)) throw notSupported('is not a WAV file')
  let offset = 12
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const header = await file.readAt(offset, 8)
    if (header.length < 8) break
    const bytes = header.readUInt32LE(4)
    if (header.toString('latin1', 0, 4) === 'fmt ') return checkFormat(await file.readAt(offset + 8, 26))
    // Chunks start on even offsets.
    offset += 8 + bytes + (bytes % 2)
  }
  throw notSupported('does not say how it is coded')
}

function checkFormat(format: Buffer): void {
  if (format.length < 16) throw notSupported('is cut short')
  const outer = format.readUInt16LE(0)
  const tag = outer === extensible && format.length >= 26 ? format.readUInt16LE(24) : outer
  const bits = format.readUInt16LE(14)
  const isPlayable = playableBits.get(tag)?.includes(bits) === true
  if (!isPlayable) throw notSupported(`holds format ${tag} with ${bits} bits, which cannot be played`)
}

function notSupported(what: string): AppError {
  return new AppError('audio_not_supported', `the audio file ${what}`)
}
