// Wirings in any order, at any time: each far end still gets one stream, and nothing is left behind.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tone, toWav } from '../../../test/support/audio.ts'
import { createRandom } from '../../../test/support/random.ts'
import { laws, sine, VirtualLegs, type VirtualPhone } from '../../../test/support/virtual-legs.ts'
import { Clips } from '../clips/clips.ts'
import type { Layer, Wiring } from '../wiring.ts'

let directory: string
let clips: Clips

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'storm-'))
  await writeFile(join(directory, 'music.wav'), toWav(tone(600, 500)))
  clips = new Clips({ laws, directory, maxMemoryBytes: 1_000_000, maxDiskBytes: 0, maxIdleDiskBytes: 0 })
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

interface Storm {
  readonly legs: VirtualLegs
  readonly phones: VirtualPhone[]
  readonly pick: <T>(from: readonly T[]) => T
  readonly chance: (share: number) => boolean
}

function stormOf(seed: number): Storm {
  const random = createRandom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const chance = (share: number): boolean => random() < share
  const legs = new VirtualLegs(clips)
  const phones = Array.from({ length: 5 }, (_, index) =>
    legs.leg(`leg ${index}`, { law: pick(['PCMU', 'PCMA']) }),
  )
  for (const [index, phone] of phones.entries())
    phone.speak({
      sound: sine(400 + 150 * index, 0.2),
      packetMs: pick([10, 20, 20, 20, 30]),
      delayMs: () => (random() < 0.02 ? undefined : random() * 15),
    })
  return { legs, phones, pick, chance }
}

/** Includes wirings that no application would request: a session itself, an unknown one, the same one twice. */
function anyWiring({ phones, pick, chance }: Storm): Wiring {
  const source = (): Layer['from'] =>
    pick<() => Layer['from']>([
      () => ({ kind: 'session', id: pick(phones).stream.id }),
      () => ({ kind: 'session', id: 'none' }),
      () => ({ kind: 'room', id: pick(['one', 'two']) }),
      () => ({ kind: 'clip', path: join(directory, pick(['music.wav', 'none.wav'])), rounds: pick([1, 3]) }),
    ])()
  const layer = (): Layer => ({
    id: pick(['far', 'music', 'dub']),
    from: source(),
    ...(chance(0.3) ? { gainDb: pick([-Infinity, -12, 0, 6]) } : {}),
    ...(chance(0.3) ? { gainUnderPlayDb: -20 } : {}),
  })
  return {
    hears: Array.from({ length: pick([0, 1, 1, 1, 2, 3]) }, layer),
    ...(chance(0.3) ? { speaksIn: { room: pick(['one', 'two']) } } : {}),
    ...(chance(0.2) ? { isMuted: true } : {}),
    ...(chance(0.2) ? { gainDb: -6 } : {}),
  }
}

function step(storm: Storm, plays: Promise<unknown>[]): void {
  const { legs, phones, pick, chance } = storm
  const phone = pick(phones)
  const path = join(directory, 'music.wav')
  const play = (): void => {
    const order = { id: plays.length, path, offsetMs: 0, rounds: 1, follows: chance(0.3) }
    plays.push(phone.stream.play(order).catch(() => undefined))
  }
  const wire = (): void => phone.wire(anyWiring(storm))
  pick<() => void>([
    wire,
    wire,
    wire,
    play,
    () =>
      plays.push(
        phone.stream
          .sendKeys({ digits: pick(['5', '12']), durationMs: 40, isTone: chance(0.5) })
          .catch(() => undefined),
      ),
    () => phone.agree({ maySend: chance(0.7) }),
    () => (phone.ssrc += 100),
    () => phone.stream.stopPlay(plays.length - 1),
  ])()
  legs.run(pick([1, 7, 20, 43, 200]))
}

function expectOneStream(phone: VirtualPhone): void {
  const packets = phone.heard
  expect(new Set(packets.map(({ ssrc }) => ssrc)).size).toBeLessThanOrEqual(1)
  const numbers = packets.map(({ sequence }) => sequence)
  expect(new Set(numbers).size).toBe(numbers.length)
  const speech = packets.filter(({ payloadType }) => payloadType !== 101)
  for (const [index, packet] of speech.entries()) {
    const former = speech[index - 1]
    if (former === undefined) continue
    const ahead = ((packet.sequence - former.sequence) << 16) >> 16
    const later = (packet.timestamp - former.timestamp) | 0
    // A relay keeps the order of packets from the network, and numbers and timestamps agree about it.
    expect(Math.sign(later)).toBe(Math.sign(ahead))
    expect(Math.abs(ahead)).toBeLessThan(200)
    expect(packet.payload).toHaveLength(160)
  }
}

describe('wirings at random', () => {
  it('leave every far end one stream, whose numbers and timestamps agree', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const storm = stormOf(seed)
      const plays: Promise<unknown>[] = []
      for (let count = 0; count < 60; count += 1) {
        step(storm, plays)
        // Files are read in real time.
        if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      for (const phone of storm.phones) expectOneStream(phone)
      await Promise.all(storm.phones.map(({ stream }) => stream.close()))
      await Promise.all(plays)
    }
  })

  it('are forgotten when the sessions are closed: no file, no room, no hearer is left', async () => {
    const storm = stormOf(4711)
    const { legs, phones } = storm
    const plays: Promise<unknown>[] = []
    for (let count = 0; count < 300; count += 1) {
      step(storm, plays)
      if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    const ends = phones.map(({ events }) => events.length)
    for (const { stream } of phones) {
      legs.graph.remove(stream.id)
      await stream.close()
    }
    await Promise.all(plays)
    expect(legs.graph.isEmpty).toBe(true)
    const heard = phones.map((phone) => phone.heard.length)
    for (const phone of phones) phone.speak({ sound: sine(400) })
    // No sound of a closed session reaches another.
    for (const [index, phone] of phones.entries()) {
      phone.send({})
      expect(phone.heard.length).toBe(heard[index])
      expect(phone.events.length).toBeGreaterThanOrEqual(ends[index] ?? 0)
    }
  })
})
