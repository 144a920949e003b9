// Files heard by legs of wide codecs, in virtual time, with the full band of the codec if the file has it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { slice, tone, toWav } from '../../../test/support/audio.ts'
import { VirtualLegs } from '../../../test/support/virtual-legs.ts'
import { until } from '../../../test/support/wait.ts'
import { toneDb, WidePhone } from '../../../test/support/wide-phone.ts'
import { Clips } from './clips.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { createLaws } from '../codecs/g711.ts'

/** Above the band of a telephone. If it is aliased, it appears at 2500. */
const highHz = 5500
const lowHz = 700

let directory: string
let clips: Clips

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchhook-wide-clips-'))
  clips = new Clips({
    laws: createLaws(),
    directory,
    maxMemoryBytes: 10_000_000,
    maxDiskBytes: 0,
    maxIdleDiskBytes: 0,
  })
})
afterAll(async () => {
  await clips.close()
  await rm(directory, { recursive: true })
})

async function fileOf(hz: number, sampleRate: number): Promise<string> {
  const path = join(directory, `${hz}-${sampleRate}.wav`)
  await writeFile(path, toWav(tone(hz, 3000, { sampleRate })))
  return path
}

async function phoneOf(encoding: Encoding): Promise<{ legs: VirtualLegs; phone: WidePhone }> {
  const legs = new VirtualLegs(clips)
  await legs.coders.prepare(['OPUS'])
  const phone = new WidePhone(legs, 'a', encoding)
  await setImmediate()
  return { legs, phone }
}

type Call = Awaited<ReturnType<typeof phoneOf>>

/** Resolves once the file is whole in memory: virtual time does not wait for a disk. */
async function play({ phone }: Call, path: string, follows = false): Promise<void> {
  const id = follows ? 2 : 1
  void phone.leg.stream.play({ id, path, offsetMs: 0, rounds: 1, follows }).catch(() => undefined)
  await until('the file', async () => (await clips.acquire(path, 'wide')).isWhole)
  await setImmediate()
}

/** The Opus library creates its states in promises. */
async function run({ legs }: Call, ms: number): Promise<void> {
  for (let tick = 0; tick < ms; tick += 20) {
    await setImmediate()
    legs.run(20)
  }
}

describe('a file', () => {
  it.each([
    ['G722', highHz, 16_000, highHz, -2],
    ['OPUS', highHz, 16_000, highHz, -3],
    ['OPUS', highHz, 44_100, highHz, -3],
    ['G722', lowHz, 16_000, lowHz, -1],
    ['OPUS', lowHz, 8000, lowHz, -1],
    ['PCMU', lowHz, 16_000, lowHz, -1],
  ] as const)(
    'is heard by a leg of %s: %i Hz of a file of %i Hz, at %i Hz and above %i dB',
    async (encoding, hz, rate, heardHz, db) => {
      const call = await phoneOf(encoding)
      await play(call, await fileOf(hz, rate))
      await run(call, 1000)
      expect(toneDb(await call.phone.heard(500), heardHz)).toBeGreaterThan(db)
    },
  )

  it.each(['PCMU', 'PCMA'] as const)(
    'with more than a telephone has is cut for %s, not folded back',
    async (encoding) => {
      const call = await phoneOf(encoding)
      await play(call, await fileOf(highHz, 16_000))
      await run(call, 1000)
      expect(toneDb(await call.phone.heard(500), 8000 - highHz)).toBeLessThan(-40)
    },
  )

  it('goes on without its upper band when the call changes to a narrow codec', async () => {
    const call = await phoneOf('OPUS')
    await play(call, await fileOf(highHz, 16_000))
    await run(call, 1000)
    call.phone.change('PCMU')
    const from = call.legs.nowMs + 20
    call.legs.run(500)
    expect(call.phone.leg.between(from).map(({ payloadType }) => payloadType)).toContain(0)
    expect(toneDb(call.phone.leg.audio(from), 8000 - highHz)).toBeLessThan(-40)
  })

  it('of a telephone is followed by one with more, each as it is', async () => {
    const call = await phoneOf('G722')
    const [narrow, wide] = [await fileOf(lowHz, 8000), await fileOf(highHz, 16_000)]
    await play(call, narrow)
    await run(call, 1000)
    await play(call, wide, true)
    await run(call, 4000)
    const heard = await call.phone.heard(500)
    const first = slice(heard, 0, 400)
    const second = slice(heard, 3000, 3400)
    expect([toneDb(first, lowHz), toneDb(second, highHz)].every((db) => db > -2)).toBe(true)
    expect([toneDb(first, highHz), toneDb(second, lowHz)].every((db) => db < -40)).toBe(true)
  })
})
