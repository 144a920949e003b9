// The contract between speech and a vendor, run over the scripted one of its tests and over the embedded voice. The
// vendors on the network have their own suites, against servers that check the requests.
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

  it('a vendor has a name and a version by which clips can be found', () => {
    expect(place.vendor.name).toMatch(/^[a-z0-9_:-]+$/)
    expect(place.vendor.version).not.toBe('')
  })

  it('a vendor chooses a voice if none is requested, and does not report it as a stand-in', () => {
    expect(chosen(null)).toMatchObject({ isStandIn: false })
    expect(chosen(null).voice).not.toBe('')
  })

  it('a vendor uses the voice that it has chosen when that is requested', () => {
    const { voice } = chosen(null)
    expect(chosen(voice)).toMatchObject({ voice, isStandIn: false })
  })

  it('a vendor speaks with another voice if the requested one is missing, and reports it as a stand-in', () => {
    const { voice, isStandIn } = chosen('a voice that no vendor has')
    expect(isStandIn).toBe(true)
    expect(chosen(voice).isStandIn).toBe(false)
  })

  it('a vendor speaks in whole 16-bit samples at the rate that it reports', async () => {
    const { sampleRate, bytes } = await say('Hello.')
    expect(sampleRate).toBeGreaterThanOrEqual(8000)
    expect(bytes.length).toBeGreaterThan(0)
    expect(bytes.length % 2).toBe(0)
  })

  it('a longer text takes longer', async () => {
    const short = await say('Hello.')
    const long = await say('Hello, and welcome. Please enter the four digits of your account.')
    expect(long.bytes.length).toBeGreaterThan(short.bytes.length)
  })

  it('a vendor offers the same each time, without a request over the network', () => {
    expect(place.vendor.offer()).toEqual(place.vendor.offer())
  })
}
