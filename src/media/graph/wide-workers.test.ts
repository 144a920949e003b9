// Legs of wide codecs in two workers, in virtual time. Each worker has its own graph, and they share only rings.
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { sine, VirtualLegs } from '../../../test/support/virtual-legs.ts'
import { toneDb, WidePhone } from '../../../test/support/wide-phone.ts'
import { AudioRing, createRing } from '../../lib/audio/audio-ring.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamplesAt } from '../codecs/coders.ts'

const createWideRing = () => createRing({ samples: frameSamplesAt(16_000), frames: 16 })

/** Creates a speaker in one worker and a hearer in another. */
async function stage(speaks: Encoding, hears: Encoding) {
  const [here, there] = [new VirtualLegs(), new VirtualLegs()]
  await Promise.all([here, there].map((legs) => legs.coders.prepare(['OPUS'])))
  const speaker = new WidePhone(here, 'speaker', speaks)
  const hearer = new WidePhone(there, 'hearer', hears)
  await setImmediate()
  const voice = createWideRing()
  /** Speaks in both tones, one of which is outside the band of a telephone. */
  const say = async (ms: number, tick: () => void = () => undefined): Promise<void> => {
    const sound = (seconds: number): number => sine(1000, 0.25)(seconds) + sine(6000, 0.25)(seconds)
    for (const payload of await speaker.speech(sound, ms)) {
      speaker.sendNext(payload)
      await setImmediate()
      here.run(20)
      tick()
      there.run(20)
    }
  }
  return { here, there, speaker, hearer, voice, say }
}

it.each([
  ['G722', 'G722', 1],
  ['OPUS', 'G722', 4],
  ['G722', 'OPUS', 4],
] as const)('one of %s is heard wide by one of %s in another worker', async (speaks, hears, lossDb) => {
  const { there, speaker, hearer, voice, say } = await stage(speaks, hears)
  speaker.leg.wire({ voices: [voice] })
  there.graph.mirror('speaker', { voice })
  hearer.leg.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'speaker' } }] })
  await say(2000)
  const heard = await hearer.heard(1000)
  expect(Math.abs(toneDb(heard, 1000) + 6)).toBeLessThan(1)
  expect(Math.abs(toneDb(heard, 6000) + 6)).toBeLessThan(lossDb)
})

it('a member of a room in another worker is heard wide there, and hears the room wide', async () => {
  const { here, there, speaker, hearer, voice, say } = await stage('G722', 'G722')
  // The room is in the worker of the hearer, with a mirror of the speaker. A third session listens to it from the
  // speaker's worker.
  const listener = new WidePhone(here, 'listener', 'G722')
  const ear = createWideRing()
  speaker.leg.wire({ voices: [voice] })
  there.graph.mirror('speaker', { voice, speaksIn: { room: 'r' } })
  there.graph.mirror('listener', { listens: { room: 'r', ring: ear } })
  hearer.leg.wire({ hears: [{ id: 'room', from: { kind: 'room', id: 'r' } }] })
  listener.leg.wire({ hears: [{ id: 'room', from: { kind: 'ring', ring: ear } }] })
  let tick = 0
  await say(2000, () => there.graph.tick((tick += 1) + 100, there.epochMs))
  for (const phone of [hearer, listener]) {
    const heard = await phone.heard(1000)
    expect(Math.abs(toneDb(heard, 1000) + 6)).toBeLessThan(1)
    expect(Math.abs(toneDb(heard, 6000) + 6)).toBeLessThan(1)
  }
})

it.each([
  ['PCMU', 'G722'],
  ['G722', 'PCMU'],
] as const)('one of %s goes at 8 kHz to the worker of one of %s', async (speaks, hears) => {
  const { there, speaker, hearer, voice, say } = await stage(speaks, hears)
  const copy = createWideRing()
  speaker.leg.wire({ voices: [voice, copy] })
  there.graph.mirror('speaker', { voice })
  hearer.leg.wire({ hears: [{ id: 'far', from: { kind: 'session', id: 'speaker' } }] })
  const [reader, watched] = [new AudioRing(copy.memory), new AudioRing(voice.memory)]
  const into = new Int16Array(320)
  const found = new Set<string | undefined>()
  await say(1500, () => {
    // The ring that is only inspected is set to the same rate as the one that is heard.
    reader.wantWhole(watched.isWholeWanted)
    found.add(reader.read(into))
  })
  expect(found).toEqual(new Set(['half']))
  const heard = await hearer.heard(700)
  expect(Math.abs(toneDb(heard, 1000) + 6)).toBeLessThan(1)
  // A tone outside the band must not come back as another tone.
  if (speaks === 'G722') expect(toneDb(heard, 2000)).toBeLessThan(-40)
})

it('a voice is wanted at 8 kHz again once no one hears it wide', async () => {
  const { there, speaker, hearer, voice, say } = await stage('G722', 'G722')
  speaker.leg.wire({ voices: [voice] })
  there.graph.mirror('speaker', { voice })
  const far = { id: 'far', from: { kind: 'session', id: 'speaker' } } as const
  hearer.leg.wire({ hears: [far] })
  await say(600)
  const ring = new AudioRing(voice.memory)
  expect(ring.isWholeWanted).toBe(true)
  hearer.change('PCMU')
  await say(1000)
  expect(ring.isWholeWanted).toBe(false)
})
