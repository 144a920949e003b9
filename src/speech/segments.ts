// The conversion of an application's text to pieces that a voice can speak: plain text, and pauses between them.
import { splitSentences } from './split-sentences.ts'

export type Segment = { readonly text: string } | { readonly pauseMs: number }

const maxPauseMs = 10_000
// A short text can ask for hours of silence, which would all be held in memory.
const maxPausesMs = 120_000
const breakStrengthMs: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 250,
  medium: 500,
  strong: 750,
  'x-strong': 1000,
}
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Parses SSML if the text begins with `<speak`, keeping words, pauses, substitutes and spellings; else plain text. */
export function toSegments(source: string): Segment[] {
  const text = source.toWellFormed().trim()
  const raw = /^<speak[\s>]/i.test(text) ? readSsml(text) : [{ text }]
  const segments: Segment[] = []
  for (const segment of raw) {
    if ('pauseMs' in segment) segments.push(segment)
    else segments.push(...splitSentences(clean(segment.text)).map((piece) => ({ text: piece })))
  }
  return segments
}

/** Replaces control characters, line breaks and other white space by single spaces. */
function clean(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
}

/** Walks the tags once, from left to right: malformed parts are skipped or spoken, never searched again. */
function readSsml(text: string): Segment[] {
  const segments: Segment[] = []
  let words = ''
  let isSpelt = false
  let substituteDepth = 0
  let leftMs = maxPausesMs
  const flush = (): void => {
    segments.push({ text: words })
    words = ''
  }
  const pause = (wantedMs: number): void => {
    flush()
    const pauseMs = Math.min(wantedMs, maxPauseMs, leftMs)
    leftMs -= pauseMs
    if (pauseMs > 0) segments.push({ pauseMs })
  }
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('<', at)
    const close = open === -1 ? -1 : endOfTag(text, open)
    const spoken = decodeEntities(text.slice(at, close === -1 ? text.length : open))
    if (substituteDepth === 0) words += isSpelt ? spell(spoken) : spoken
    if (close === -1) break
    const tag = text.slice(open + 1, close)
    at = close + 1
    const name = /^\/?[a-z-]+/i.exec(tag)?.[0].toLowerCase() ?? ''
    if (name === 'break') pause(breakMs(tag))
    else if (name === '/p' || name === '/s') pause(name === '/p' ? 500 : 250)
    else if (name === 'say-as')
      isSpelt = /interpret-as\s*=\s*["'](characters|digits|spell-out|telephone)/i.test(tag)
    else if (name === '/say-as') isSpelt = false
    else if (name === 'sub' && !tag.endsWith('/')) {
      words += ` ${decodeEntities(attribute(tag, 'alias') ?? '')} `
      substituteDepth++
    } else if (name === '/sub') substituteDepth = Math.max(0, substituteDepth - 1)
  }
  flush()
  return segments
}

function endOfTag(text: string, open: number): number {
  if (!text.startsWith('<!--', open)) return text.indexOf('>', open)
  const end = text.indexOf('-->', open)
  return end === -1 ? -1 : end + 2
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\b${name}\\s*=\\s*["']([^"']*)["']`, 'i').exec(tag)?.[1]
}

function breakMs(tag: string): number {
  const [, amount = '', unit] = /^\s*\+?([\d.]{1,8})\s*(ms|s)\s*$/i.exec(attribute(tag, 'time') ?? '') ?? []
  const time = Number(amount) * (unit?.toLowerCase() === 's' ? 1000 : 1)
  if (amount !== '' && Number.isFinite(time)) return Math.round(time)
  return breakStrengthMs[attribute(tag, 'strength')?.toLowerCase() ?? 'medium'] ?? 500
}

function spell(text: string): string {
  return ` ${Array.from(text.trim()).join(' ')} `
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,4});/gi, (whole: string, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ' '
  })
}
