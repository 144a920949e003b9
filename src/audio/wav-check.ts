// The check that a fetched file is a WAV file of a playable coding; media reads the rest when it plays the file.
import { startsLikeWav, wavChunks } from '../lib/audio/wav-chunks.ts'
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

/** Throws audio_not_supported. */
export async function checkWav(file: Pick<ArrivingFile, 'readAt'>): Promise<void> {
  const readAt = file.readAt.bind(file)
  if (!startsLikeWav(await readAt(0, 12))) throw notSupported('is not a WAV file')
  for await (const { name, offset } of wavChunks(readAt))
    if (name === 'fmt ') return checkFormat(await readAt(offset, 26))
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
