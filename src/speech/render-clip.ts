// The speech of one clip in one WAV file: spoken pieces and the pauses between them.
import { open } from 'node:fs/promises'
import { toDiskFull } from '../lib/full-disk.ts'
import type { Segment } from './segments.ts'
import type { ChosenVoice, Pcm, Settings, Synthesizer } from './vendor.ts'
import { wavHeader } from '../lib/audio/wav-header.ts'

export interface Rendering {
  readonly synthesizer: Synthesizer
  readonly settings: Settings
  readonly chosen: ChosenVoice
  readonly segments: readonly (Segment | { readonly ssml: string })[]
}

// The duration of a clip for a text without a sound: media refuses a file without samples.
const shortestMs = 20

/** Writes a WAV file. */
export async function writeClip(path: string, { sampleRate, bytes }: Pcm): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    for (const part of [wavHeader(sampleRate, bytes.length), bytes]) await file.writeFile(part)
  } catch (error) {
    throw toDiskFull(error)
  } finally {
    await file.close()
  }
}

/** Speaks one piece after another: between two of them the voice may speak for another call. */
export async function renderSpeech(rendering: Rendering): Promise<Pcm> {
  const spoken: (Pcm | number)[] = []
  for (const segment of rendering.segments)
    spoken.push('pauseMs' in segment ? segment.pauseMs : await say(segment, rendering))
  const sampleRate = spoken.find((part) => typeof part !== 'number')?.sampleRate ?? 8000
  const silence = (ms: number): Uint8Array => new Uint8Array(2 * Math.round((sampleRate * ms) / 1000))
  const parts = spoken.map((part) => (typeof part === 'number' ? silence(part) : part.bytes))
  if (parts.every(({ length }) => length === 0)) parts.push(silence(shortestMs))
  return { sampleRate, bytes: Buffer.concat(parts) }
}

function say(
  segment: { readonly text: string } | { readonly ssml: string },
  { synthesizer, settings, chosen: { voice, language } }: Rendering,
): Promise<Pcm> {
  const isSsml = 'ssml' in segment
  const text = isSsml ? segment.ssml : segment.text
  return synthesizer.synthesize({ text, isSsml, voice, language }, settings)
}
