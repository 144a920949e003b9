import { describe, expect, it } from 'vitest'
import { clipFormOf, createClipForms } from './clip-form.ts'
import { createLaws } from '../codecs/g711.ts'

const laws = createLaws()
const forms = createClipForms(laws)

it.each([
  ['PCMU', 'PCMU'],
  ['PCMA', 'PCMA'],
  ['G722', 'wide'],
  ['OPUS', 'wide'],
] as const)('a leg of %s wants the form %s', (encoding, form) => {
  expect(clipFormOf(encoding)).toBe(form)
})

describe('samples', () => {
  const samples = Float32Array.of(0, 1.4, -1.6, 40_000, -40_000)

  it('are cut to 16 bits and kept as they are for wide codecs', () => {
    const into = Buffer.alloc(10)
    forms.wide.code(samples, into)
    expect([0, 2, 4, 6, 8].map((at) => into.readInt16LE(at))).toEqual([0, 1, -2, 32_767, -32_768])
  })

  it.each(['PCMU', 'PCMA'] as const)('are the octets of %s', (law) => {
    const into = new Uint8Array(5)
    forms[law].code(samples, into)
    const { encode, silence } = laws[law]
    const octets = [0, 1, -2, 32_767, -32_768].map((sample) => encode[sample & 0xffff])
    expect([...into]).toEqual(octets)
    expect(into[0]).toBe(silence)
  })

  it('that have no room are left out', () => {
    const into = Buffer.alloc(4, 7)
    forms.wide.code(samples, into)
    expect(into.readInt16LE(2)).toBe(1)
  })
})
