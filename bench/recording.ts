// The cost of recording: 300 bridged calls talk, unrecorded and recorded in turn, in one run of one process. A
// recording holds both sides, so each bridged call has one, as in the platform.
//   node bench/recording.ts --seconds 10
//   node bench/recording.ts --both     each leg has its own recording, as when both bridged callers are recorded
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Ring } from '../src/lib/audio/audio-ring.ts'
import type { RecordingEnd } from '../src/contracts/recording.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/log.ts'
import type { MediaSession } from '../src/media/media.ts'
import type { Wiring } from '../src/media/wiring.ts'
import { RecordingRing } from '../src/media/recording/recording-ring.ts'
import { createRecorderThread, type Taken } from '../src/recordings/recorder-thread.ts'
import { createBenchMedia, offerOf } from './bench-media.ts'
import { loadCore, pin, platformCore } from './cores.ts'
import { median, toTable, type Figure } from './figure.ts'
import { startCrowd, type Crowd, type Heard } from './rtp-crowd.ts'

const firstPort = 33_000
const maxMore = 0.1
const settleMs = 3000
/** The speed of machines changes from minute to minute: each recorded period is compared with those around it. */
const rounds = 3

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

/** Lets each session hear its neighbour; with a ring, the recorder gets both. */
async function wire(sessions: readonly MediaSession[], rings: readonly (Ring | undefined)[]): Promise<void> {
  await Promise.all(
    sessions.map((session, index) => {
      const ring = rings[index]
      const wiring: Wiring = {
        hears: [{ id: 'far', from: { kind: 'session', id: sessions[index ^ 1]?.id ?? '' } }],
        ...(ring === undefined ? {} : { taps: [{ id: 'recording', of: 'recording', ring }] }),
      }
      return session.wire(wiring)
    }),
  )
}

interface Size {
  /** The length of each period. */
  readonly seconds: number
  readonly calls: number
  readonly both: boolean
}

export async function benchRecording(size: Size): Promise<Figure[]> {
  const { calls, both } = size
  pin(process.pid, platformCore)
  const bench = await createBenchMedia(firstPort, 8 * calls)
  const { media, directory } = bench
  const recorder = createRecorderThread({ clock: systemClock, log: silentLogger, room: 1e12 })
  const crowd = await startCrowd(2 * calls, { core: loadCore })
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
    const plain = [await measure(crowd, size)]
    const recorded: Period[] = []
    let gaps = 0
    let lost = 0
    const ended: RecordingEnd[] = []
    for (let round = 0; round < rounds; round += 1) {
      const taken = sessions.map(({ id }, index): Taken | undefined => {
        if (!both && index % 2 === 1) return undefined
        const listener = { ended: () => (gaps += 1), gap: () => (gaps += 1) }
        return recorder.begin(id, { path: join(directory, `${id}-${round}.wav`), maxBytes: 1e9 }, listener)
      })
      await wire(
        sessions,
        taken.map((one) => one?.ring),
      )
      recorded.push(await measure(crowd, size))
      await wire(sessions, [])
      for (const one of taken) {
        if (one === undefined) continue
        lost += new RecordingRing(one.ring.memory).lost
        ended.push(await one.end())
      }
      plain.push(await measure(crowd, size))
    }
    const shortestMs = Math.min(...ended.map(({ durationMs }) => durationMs))
    return toFigures({ plain, recorded, gaps, lost, shortestMs, size, files: await sizes(directory) })
  } finally {
    await media.stop()
    await recorder.stop()
    await crowd.close()
    await bench.close()
  }
}

async function sizes(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.wav'))
  const found = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size))
  return found.reduce((sum, size) => sum + size, 0)
}

interface Measured {
  /** The unrecorded periods: one more than the recorded ones. */
  readonly plain: readonly Period[]
  readonly recorded: readonly Period[]
  readonly gaps: number
  readonly lost: number
  readonly shortestMs: number
  readonly size: Size
  readonly files: number
}

function toFigures({ plain, recorded, gaps, lost, shortestMs, size, files }: Measured): Figure[] {
  const { seconds, calls, both } = size
  const cpu = (period: Period | undefined): number => period?.cpuMsPerCallSecond ?? NaN
  const more = recorded.map((period, at) => (2 * cpu(period)) / (cpu(plain[at]) + cpu(plain[at + 1])) - 1)
  const share = (periods: readonly Period[]): number =>
    sum(periods, ({ heard }) => heard.received) / sum(periods, ({ heard }) => heard.sent)
  const worst = (periods: readonly Period[], of: (heard: Heard) => number | null): string =>
    `${Math.max(...periods.map(({ heard }) => of(heard) ?? NaN)).toFixed(2)} ms`
  const ms = (periods: readonly Period[]): string => `${median(periods.map(cpu)).toFixed(2)} ms`
  const isWhole = gaps === 0 && lost === 0 && shortestMs >= seconds * 1000
  return [
    {
      what: `${calls} bridged calls recorded in stereo${both ? ', each leg by itself' : ''}, CPU of all threads against unrecorded, median of ${rounds}`,
      target: 'at most 10 % more',
      figure: `${percent(median(more))} more (${more.map(percent).join(', ')}; ${ms(recorded)} for a second of a call, unrecorded ${ms(plain)})`,
      isMet: median(more) <= maxMore,
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
      figure: `${percent(share(recorded), 2)} of those sent (${percent(share(plain), 2)})`,
      isMet: share(recorded) >= share(plain) - 0.001,
    },
    {
      what: 'from mouth to ear, p99, the worst period',
      target: '-',
      figure: `${worst(recorded, ({ p99Ms }) => p99Ms)} (unrecorded ${worst(plain, ({ p99Ms }) => p99Ms)}; the phones were late by ${worst(recorded, ({ lateP99Ms }) => lateP99Ms)})`,
    },
  ]
}

const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)} %`

const sum = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((total, one) => total + of(one), 0)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      calls: { type: 'string', default: '300' },
      both: { type: 'boolean', default: false },
    },
  })
  const { seconds, calls, both } = values
  process.stdout.write(
    `${toTable(await benchRecording({ seconds: Number(seconds), calls: Number(calls), both }))}\n`,
  )
}
