// What recording costs: 300 calls that are bridged two by two talk, first unrecorded, then each recorded in stereo, then
// unrecorded again, in one run of one process.
//   node bench/recording.ts --seconds 20
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { AudioRing } from '../src/lib/audio-ring.ts'
import type { Ring } from '../src/lib/audio-ring.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/log.ts'
import type { MediaSession } from '../src/media/media.ts'
import type { Wiring } from '../src/media/graph/wiring.ts'
import { createRecorderThread } from '../src/recordings/recorder-thread.ts'
import type { Taken } from '../src/recordings/recorder-thread.ts'
import { createBenchMedia, offerOf } from './bench-media.ts'
import { loadCore, pin, platformCore } from './cores.ts'
import { toTable } from './figure.ts'
import type { Figure } from './figure.ts'
import { startCrowd } from './rtp-crowd.ts'
import type { Crowd, Heard } from './rtp-crowd.ts'

const firstPort = 33_000
const maxMore = 0.1
const settleMs = 5000

interface Period {
  readonly cpuMsPerCallSecond: number
  readonly heard: Heard
}

async function measure(crowd: Crowd, { seconds, calls }: Size): Promise<Period> {
  await setTimeout(settleMs)
  await crowd.reset()
  const before = process.cpuUsage()
  await setTimeout(seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  return { cpuMsPerCallSecond: (user + system) / 1000 / seconds / calls, heard: await crowd.report() }
}

/** Each hears its neighbour; with a ring, both are given to the recorder. */
async function wire(sessions: readonly MediaSession[], rings: readonly Ring[]): Promise<void> {
  await Promise.all(
    sessions.map((session, index) => {
      const ring = rings[index]
      const wiring: Wiring = {
        hears: [{ id: 'far', from: { kind: 'session', id: sessions[index ^ 1]?.id ?? '' } }],
        ...(ring === undefined ? {} : { taps: [{ id: 'recording', of: 'stereo', ring }] }),
      }
      return session.wire(wiring)
    }),
  )
}

interface Size {
  readonly seconds: number
  readonly calls: number
}

export async function benchRecording({ seconds, calls }: Size): Promise<Figure[]> {
  const size = { seconds, calls }
  pin(process.pid, platformCore)
  const bench = await createBenchMedia(firstPort, 4 * calls)
  const { media, directory } = bench
  const recorder = createRecorderThread({ clock: systemClock, log: silentLogger, room: 1e12 })
  const crowd = await startCrowd(calls, { core: loadCore })
  try {
    await media.start()
    const sessions: MediaSession[] = []
    for (const port of crowd.ports) {
      const near = sessions.length % 2 === 1 ? sessions.at(-1)?.id : undefined
      const session = await media.open(near === undefined ? {} : { near })
      await session.answer(offerOf(port, 0))
      sessions.push(session)
    }
    await wire(sessions, [])
    const ports = sessions.map(({ port }) => port)
    await crowd.talk(
      ports,
      ports.map(() => 0),
    )
    const first = await measure(crowd, size)
    let gaps = 0
    const taken = sessions.map(({ id }): Taken => {
      const listener = { ended: () => (gaps += 1), gap: () => (gaps += 1) }
      return recorder.begin(id, { path: join(directory, `${id}.wav`), maxBytes: 1e9 }, listener)
    })
    await wire(
      sessions,
      taken.map(({ ring }) => ring),
    )
    const recorded = await measure(crowd, size)
    const lost = taken.reduce((sum, { ring }) => sum + new AudioRing(ring.memory).lost, 0)
    await wire(sessions, [])
    const ended = await Promise.all(taken.map((one) => one.end()))
    const last = await measure(crowd, size)
    return toFigures({
      first,
      recorded,
      last,
      gaps,
      lost,
      shortestMs: shortest(ended),
      size,
      files: await sizes(directory),
    })
  } finally {
    await media.stop()
    await recorder.stop()
    await crowd.close()
    await bench.close()
  }
}

const shortest = (ended: readonly { readonly durationMs: number }[]): number =>
  Math.min(...ended.map(({ durationMs }) => durationMs))

async function sizes(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wav'))
  const found = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
  return found.reduce((sum, size) => sum + size, 0)
}

interface Measured {
  readonly first: Period
  readonly recorded: Period
  readonly last: Period
  readonly gaps: number
  readonly lost: number
  readonly shortestMs: number
  readonly size: Size
  readonly files: number
}

function toFigures({ first, recorded, last, gaps, lost, shortestMs, size, files }: Measured): Figure[] {
  const { seconds, calls } = size
  const plain = (first.cpuMsPerCallSecond + last.cpuMsPerCallSecond) / 2
  const more = recorded.cpuMsPerCallSecond / plain - 1
  const ms = (value: number | null): string => `${(value ?? NaN).toFixed(2)} ms`
  const share = ({ heard }: Period): number => heard.received / heard.sent
  const isWhole = gaps === 0 && lost === 0 && shortestMs >= seconds * 1000
  return [
    {
      what: `${calls} calls recorded in stereo, CPU of all threads against unrecorded`,
      target: 'at most 10 % more',
      figure: `${(more * 100).toFixed(1)} % more (${ms(recorded.cpuMsPerCallSecond)} for a second of a call; unrecorded before ${ms(first.cpuMsPerCallSecond)}, after ${ms(last.cpuMsPerCallSecond)})`,
      isMet: more <= maxMore,
    },
    {
      what: 'gaps in the recordings',
      target: 'none',
      figure: `${gaps} reported, ${lost} frames lost, shortest ${(shortestMs / 1000).toFixed(1)} s, ${(files / 1e6).toFixed(0)} MB`,
      isMet: isWhole,
    },
    {
      what: 'what is heard meanwhile: packets that came, against unrecorded',
      target: 'no gap: at most 0.1 % fewer',
      figure: `${(share(recorded) * 100).toFixed(2)} % of those sent (${(share(first) * 100).toFixed(2)} %)`,
      isMet: share(recorded) >= share(first) - 0.001,
    },
    {
      what: 'from mouth to ear, p99',
      target: '-',
      figure: `${ms(recorded.heard.p99Ms)} (unrecorded ${ms(first.heard.p99Ms)}; the phones were late by ${ms(recorded.heard.lateP99Ms)})`,
    },
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '20' }, calls: { type: 'string', default: '300' } },
  })
  process.stdout.write(
    `${toTable(await benchRecording({ seconds: Number(values.seconds), calls: Number(values.calls) }))}\n`,
  )
}
