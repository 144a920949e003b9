// The parsers against mutated input: they throw AppError or nothing, and never take long.
import { readFileSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { createRandomBelow } from '../../../test/support/random.ts'
import { AppError } from '../../lib/errors.ts'
import { parseAuthHeader } from './auth-header.ts'
import { cseqOf } from './cseq.ts'
import { headersOf } from './message.ts'
import { nameAddrsOf, tagOf } from './name-addr.ts'
import { parseMessage } from './parse-message.ts'
import { isHeaderSafe, serializeMessage } from './serialize-message.ts'
import { parseUri } from './uri.ts'
import { validateRequest, validateResponse } from './validate.ts'
import { topVia } from './via.ts'

const folder = new URL('../../../test/conformance/rfc4475/', import.meta.url)
const corpus = readdirSync(folder)
  .filter((file) => file.endsWith('.dat'))
  .map((file) => readFileSync(new URL(file, folder)))
const rounds = 20_000
const capabilities = { allow: ['INVITE', 'OPTIONS', 'REGISTER'], supported: [], accept: ['application/sdp'] }
const spice = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '"',
  '\\',
  '<',
  '>',
  ';',
  ',',
  ':',
  '@',
  '%',
  ' ',
  '\t',
  '=',
  'é',
  '\xff',
]

function mutated(source: Buffer, random: (below: number) => number): Buffer {
  let bytes: Buffer = Buffer.from(source)
  for (let count = 1 + random(4); count > 0; count -= 1) {
    const at = random(bytes.length + 1)
    const end = Math.min(bytes.length, at + 1 + random(40))
    const piece = Buffer.from(spice[random(spice.length)] ?? '', 'latin1')
    const kind = random(5)
    if (kind === 0) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
    else if (kind === 3) bytes = Buffer.from(bytes.subarray(0, at))
    else if (at < bytes.length) bytes[at] = random(256)
  }
  return bytes
}

/** Reads everything that the stack reads of a message it has just received. */
function readAll(bytes: Uint8Array): void {
  const message = parseMessage(bytes)
  if (message.kind === 'request') validateRequest(message, capabilities)
  else validateResponse(message)
  const written = serializeMessage(message)
  parseMessage(written)
  for (const value of [...headersOf(message, 'from'), ...headersOf(message, 'to')]) tagOf(value)
  const readers = [
    () => topVia(message),
    () => cseqOf(message),
    () => nameAddrsOf(message, 'contact').map(({ uri }) => parseUri(uri)),
    () => headersOf(message, 'authorization').map(parseAuthHeader),
  ]
  for (const read of readers) orRefused(read)
}

function orRefused(action: () => unknown): void {
  try {
    action()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

describe('the parsers', () => {
  it(`throw nothing but AppError on ${rounds} mutated messages, and stay fast`, () => {
    const random = createRandomBelow(4475)
    let slowestMs = 0
    for (let round = 0; round < rounds; round += 1) {
      const bytes = mutated(corpus[random(corpus.length)] ?? Buffer.alloc(0), random)
      slowestMs = Math.max(
        slowestMs,
        quickestMs(() => orRefused(() => readAll(bytes)), 100),
      )
    }
    // The purpose is to detect a regular expression with quadratic time.
    expect(slowestMs).toBeLessThan(100)
  })

  it.each([
    ['blanks', ' '],
    ['tabs', '\t'],
    ['commas', ','],
    ['semicolons', ';'],
    ['quotes', '"'],
    ['backslashes', '\\'],
    ['tokens', 'a '],
    ['dots', 'a.'],
    ['hyphens', '-'],
    ['percent signs', '%41'],
    ['folds', '\r\n '],
  ])('stay fast on long runs of %s', (_, run) => {
    const long = run.repeat(Math.floor(7_000 / run.length))
    const headers = [
      'Via: SIP/2.0/UDP h',
      'From: ',
      'To: <sip:a@',
      'Contact: sip:',
      'CSeq: 1',
      'Authorization: Digest ',
    ]
    const lines = headers.map((header) => `${header}${long}x`)
    for (const uri of ['sip:a@b', `sip:${long}@b`, `sip:a@${long}`, `sip:a@b;${long}`]) {
      const bytes = Buffer.from(`OPTIONS ${uri} SIP/2.0\r\n${lines.join('\r\n')}\r\nCall-ID: x\r\n\r\n`)
      const read = (): void => {
        orRefused(() => readAll(bytes))
        orRefused(() => parseUri(uri))
      }
      expect(quickestMs(read, 100)).toBeLessThan(100)
    }
  })

  it('let no line break through into a header value', () => {
    const random = createRandomBelow(1)
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = mutated(corpus[random(corpus.length)] ?? Buffer.alloc(0), random)
      orRefused(() => {
        expect(parseMessage(bytes).headers.every(({ value }) => isHeaderSafe(value))).toBe(true)
      })
    }
  })
})
