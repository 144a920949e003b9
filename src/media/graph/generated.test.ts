// The generated sounds as a far end hears them.
import { expect, it } from 'vitest'
import { toneShare } from '../../../test/support/audio.ts'
import { clicks, levelDb, VirtualLegs } from '../../../test/support/virtual-legs.ts'
import type { Generated, Layer } from '../wiring.ts'

const generated = (sound: Generated): Layer => ({ id: sound, from: { kind: 'generated', sound } })

it('rings for one second of five, without a click', () => {
  const legs = new VirtualLegs()
  const phone = legs.leg('phone')
  const from = legs.nowMs
  phone.wire({ hears: [generated('ringing')] })
  legs.run(11_000)
  const at = (ms: number, lengthMs = 800) => phone.audio(from + ms, from + ms + lengthMs)
  for (const begin of [100, 5100]) {
    expect(toneShare(at(begin), 425)).toBeGreaterThan(0.99)
    expect(levelDb(at(begin), 1)).toBeCloseTo(-16.3, 0)
  }
  for (const begin of [1100, 2500, 4100, 6100]) expect(levelDb(at(begin), 1)).toBeLessThan(-80)
  expect(clicks(phone.audio(from), 425, { level: 0.15, tolerance: 0.4 })).toEqual([])
})

it('makes noise that is soft, and goes on as long as it is wired', () => {
  const legs = new VirtualLegs()
  const phone = legs.leg('phone')
  const from = legs.nowMs
  phone.wire({ hears: [generated('noise')] })
  legs.run(2000)
  const level = levelDb(phone.audio(from + 100), 1)
  expect(level).toBeGreaterThan(-45)
  expect(level).toBeLessThan(-32)
  phone.wire({ hears: [] })
  legs.run(100)
  const end = legs.nowMs
  legs.run(500)
  expect(levelDb(phone.audio(end), 1)).toBeLessThan(-80)
})

it('beeps once, for a fifth of a second, without a click', () => {
  const legs = new VirtualLegs()
  const phone = legs.leg('phone')
  const from = legs.nowMs
  phone.wire({ hears: [generated('beep')] })
  legs.run(8000)
  expect(toneShare(phone.audio(from + 60, from + 180), 1000)).toBeGreaterThan(0.99)
  expect(levelDb(phone.audio(from + 300), 1)).toBeLessThan(-80)
  expect(clicks(phone.audio(from, from + 400), 1000, { level: 0.15, tolerance: 0.4 })).toEqual([])
})
