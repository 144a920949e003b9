// The WAV files that vendors return: one channel of 16-bit samples.
import { AppError } from '../lib/errors.ts'
import type { Pcm } from './vendor.ts'

const pcm = 1
const extensible = 0xfffe
const maxChunks = 64

export function startsLikeWav(bytes: Buffer): boolean {
  return (
    bytes.length >= 12 &&
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 12) === 'WAVE'
  )
}

/** Returns the samples. Throws AppError speech_failed; `who` is the vendor in its sentence. */
export function readWav(bytes: Buffer, who: string): Pcm {
  if (!startsLikeWav(bytes)) throw unusable(who, 'audio that is no WAV file')
  let sampleRate: number | undefined
  let offset = 12
  for (let chunk = 0; chunk < maxChunks && offset + 8 <= bytes.length; chunk++) {
    const name = bytes.toString('latin1', offset, offset + 4)
    const size = bytes.readUInt32LE(offset + 4)
    const start = offset + 8
    if (name === 'fmt ') sampleRate = readFormat(bytes.subarray(start, start + size), who)
    if (name === 'data') {
      if (sampleRate === undefined) break
      // Vendors that stream write 0 or the largest size, because the size is not known yet.
      const rest = bytes.length - start
      const length = size === 0 ? rest : Math.min(size, rest)
      return { sampleRate, bytes: bytes.subarray(start, start + length - (length % 2)) }
    }
    // Chunks start on even offsets.
    offset = start + size + (size % 2)
  }
  throw unusable(who, 'a WAV file without samples')
}

function readFormat(format: Buffer, who: string): number {
  if (format.length < 16) throw unusable(who, 'a WAV file that is cut short')
  const outer = format.readUInt16LE(0)
  const tag = outer === extensible && format.length >= 26 ? format.readUInt16LE(24) : outer
  const channels = format.readUInt16LE(2)
  const bits = format.readUInt16LE(14)
  if (tag !== pcm || bits !== 16 || channels !== 1)
    throw unusable(who, `a WAV file of format ${tag} with ${bits} bits and ${channels} channels`)
  return checkedRate(format.readUInt32LE(4), who)
}

/** Returns the rate, or throws if it cannot be played. */
export function checkedRate(rate: number, who: string): number {
  if (Number.isInteger(rate) && rate >= 8000 && rate <= 48_000) return rate
  throw unusable(who, `audio of ${rate} samples a second`)
}

function unusable(who: string, what: string): AppError {
  return new AppError('speech_failed', `${who} responded with ${what}`, {
    cure: 'One channel of 16-bit PCM with 8000 to 48000 samples a second can be played.',
  })
}
