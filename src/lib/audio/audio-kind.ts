// The kind of a file by its first bytes: audio that can be played, or another kind in words for a sentence.
import { apeTagBytes, firstFrame, searchedBytes } from './mpeg-frames.ts'

export type PlayableKind = 'wav' | 'mp3' | 'ogg-opus'

export type AudioKind =
  | { readonly kind: PlayableKind }
  /** `isOpen`: no kind was found, and more of the file may show that it is an MP3. */
  | { readonly kind: undefined; readonly what: string; readonly isOpen?: boolean }

/**
 * The longest file, in hours. Decoded audio takes 115 MB of disk an hour, and as much again if it is played by a wide
 * codec.
 */
export const maxAudioHours = 2

/** The first bytes, which show most kinds. A shorter file is judged whole. */
export const kindBytes = 64

/** The first bytes that show any kind: an MP3 may begin with other bytes than those of a frame. */
export const headBytes = searchedBytes

/** Words at offsets: the first line that matches names the kind of the file. */
const others: readonly (readonly [offset: number, word: string, what: string])[] = [
  [0, 'RF64', 'a WAV file of the 64-bit form'],
  [0, 'RIFF', 'a RIFF file that is no WAV file'],
  [0, 'fLaC', 'a FLAC file'],
  [28, '\x01vorbis', 'an Ogg Vorbis file'],
  [28, 'Speex', 'an Ogg Speex file'],
  [28, '\x7fFLAC', 'an Ogg FLAC file'],
  [0, 'OggS', 'an Ogg file without Opus in it'],
  [4, 'ftyp', 'an MP4 or M4A file (AAC)'],
  [0, '#!AMR', 'an AMR file'],
  [0, 'FORM', 'an AIFF file'],
  [0, '.snd', 'an AU file'],
  [0, '\x30\x26\xb2\x75', 'a WMA file'],
  [0, '\x1a\x45\xdf\xa3', 'a WebM or Matroska file'],
  [0, '\x1f\x8b', 'a file compressed with gzip'],
  [0, 'PK\x03\x04', 'a ZIP archive'],
  [0, '%PDF', 'a PDF document'],
]

/** Reports MPEG audio. Its layer is never 0; AAC in ADTS has the same first bits, and 0 there. */
function isMpegAudio(head: Uint8Array): boolean {
  return head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0 && ((head[1] ?? 0) & 0x06) !== 0
}

export function audioKindOf(head: Uint8Array): AudioKind {
  const text = Buffer.from(head).toString('latin1')
  if (text === '') return { kind: undefined, what: 'empty' }
  if (text.startsWith('RIFF') && text.startsWith('WAVE', 8)) return { kind: 'wav' }
  if (text.startsWith('OggS') && text.startsWith('OpusHead', 28)) return { kind: 'ogg-opus' }
  if (text.startsWith('ID3') || isMpegAudio(head) || apeTagBytes(head) > 0) return { kind: 'mp3' }
  const known = others.find(([offset, word]) => text.startsWith(word, offset))
  if (known !== undefined) return { kind: undefined, what: known[2] }
  if (head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0) return { kind: undefined, what: 'an AAC file' }
  const start = text.trimStart().toLowerCase()
  if (/^<(!doctype|html|head|body)/.test(start)) return { kind: undefined, what: 'an HTML page' }
  if (start.startsWith('<')) return { kind: undefined, what: 'an XML document' }
  if (/^[[{]/.test(start)) return { kind: undefined, what: 'a JSON document' }
  if (firstFrame(head) !== undefined) return { kind: 'mp3' }
  return { kind: undefined, what: 'of a kind that is not known', isOpen: head.length < headBytes }
}
