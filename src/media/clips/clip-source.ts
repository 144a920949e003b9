// The file that a clip is coded from: its version, the form that suits it, and the error for one that cannot be read.
import type { FileHandle } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { wideRate } from '../../lib/audio/resampler.ts'
import { AppError } from '../../lib/errors.ts'
import type { ReadGrowing } from '../../lib/growing-file.ts'
import type { ClipFormName } from './clip-form.ts'
import type { WavFormat } from '../codecs/wav.ts'

/** The open file that a clip is coded from. */
export interface Source {
  readonly file: FileHandle
  readonly readAt: ReadGrowing
  readonly format: WavFormat
}

/** Returns the stamps of a version. A growing file keeps one stamp, since its written part does not change. */
export function stampsOf({ ino, size, mtimeMs, birthtimeMs }: Stats): {
  readonly whole: string
  readonly growing: string
} {
  return { whole: `${ino}:${size}:${mtimeMs}`, growing: `${ino}:grows since ${birthtimeMs}` }
}

/** Returns the form to code in. Telephone quality gains nothing from the wide form, which is four times as large. */
export function formFor(wanted: ClipFormName, { rate }: WavFormat): ClipFormName {
  return wanted === 'wide' && rate < wideRate ? 'PCMU' : wanted
}

export function toAudioError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('audio_not_found', 'the audio file could not be read', { cause: error })
}
