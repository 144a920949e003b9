// What speech may rely on in a vendor, whether it is the scripted one of its tests or the embedded voice. The vendors that
// are asked over the network have suites of their own against servers that check what they are sent.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createFlite } from '../../src/speech/flite.ts'
import type { SpeechVendor, Synthesizer } from '../../src/speech/vendor.ts'
import { scripted } from '../support/scripted-vendor.ts'

interface Place {
  readonly vendor: SpeechVendor
  close(): Promise<void>
}

describe('scripted', () => {
  behavesAsVendor(async () => ({ vendor: scripted().vendor, close: () => Promise.resolve() }))
})

describe('embedded', () => {
  behavesAsVendor(async () => {
    const scratchDir = await mkdtemp(join(tmpdir(), 'switchhook-vendor-'))
    const outgoing = createOutgoing({ allow: [], log: silentLogger })
    const vendor = createFlite({ scratchDir, outgoing, clock: systemClock, log: silentLogger })
    const close = async (): Promise<void> => {
      await vendor.stop?.()
      await outgoing.close()
      await rm(scratchDir, { recursive: true, force: true })
    }
    return { vendor, close }
  })
})

function behavesAsVendor(open: () => Promise<Place>): void {
  let place: Place
  let synthesizer: Synthesizer

  beforeAll(async () => {
    place = await open()
    const { synthesizer: own } = place.vendor
    if (own === undefined) throw new Error('it cannot speak')
    synthesizer = own
  })
  afterAll(() => place.close())

  const chosen = (voice: string | null) => synthesizer.choose({ voice, language: null }, {})
  const say = (text: string) =>
    synthesizer.synthesize({ text, isSsml: false, voice: chosen(null).voice, language: null }, {})

  it('has a name and a version that clips can be found by', () => {
    expect(place.vendor.name).toMatch(/^[a-z0-9_:-]+$/)
    expect(place.vendor.version).not.toBe('')
  })

  it('chooses a voice of its own where none is wished for, which stands in for nothing', () => {
    expect(chosen(null)).toMatchObject({ isStandIn: false })
    expect(chosen(null).voice).not.toBe('')
  })

  it('gives a voice that it has chosen when that is wished for', () => {
    const { voice } = chosen(null)
    expect(chosen(voice)).toMatchObject({ voice, isStandIn: false })
  })

  it('says so when the voice that is wished for is not there, and speaks with another', () => {
    const { voice, isStandIn } = chosen('a voice that no vendor has')
    expect(isStandIn).toBe(true)
    expect(chosen(voice).isStandIn).toBe(false)
  })

  it('speaks in whole 16-bit samples at a rate that it names', async () => {
    const { sampleRate, bytes } = await say('Hello.')
    expect(sampleRate).toBeGreaterThanOrEqual(8000)
    expect(bytes.length).toBeGreaterThan(0)
    expect(bytes.length % 2).toBe(0)
  })

  it('takes longer for a longer text', async () => {
    const short = await say('Hello.')
    const long = await say('Hello, and welcome. Please enter the four digits of your account.')
    expect(long.bytes.length).toBeGreaterThan(short.bytes.length)
  })

  it('offers without being asked over the network, the same each time', () => {
    expect(place.vendor.offer()).toEqual(place.vendor.offer())
  })
}
