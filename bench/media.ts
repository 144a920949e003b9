// RTP pacing: 400 sessions play a clip on one media worker and another process receives it; first calm, then with a
// blocked main thread.
//   node bench/media.ts                  60 s for each of the two
//   node bench/media.ts --seconds 300    the five minutes of the target
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { MediaSession } from '../src/media/media.ts'
import { tone, toWav } from '../test/support/audio.ts'
import { startRecorder, type Pacing, type Recorder } from '../test/support/rtp-recorder.ts'
import { createBenchMedia, offerOf, workerMs } from './bench-media.ts'
import { toTable, type Figure } from './figure.ts'

export interface MediaBenchOptions {
  readonly seconds?: number
  readonly sessions?: number
}

const firstPort = 28_000
// The clip outlasts the measurement on both sides, so that only playback is measured.
const marginSeconds = 10

interface Measured extends Pacing {
  readonly waitedMsPerSecond: number
}

function toFigures(name: string, pacing: Measured, expected: number): Figure[] {
  const { p1Ms, p50Ms, p99Ms, maxMs, driftMs, lost, packets, largestBurst } = pacing
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  return [
    {
      what: `${name}: packet spacing p99`,
      target: '20 +/- 5 ms',
      figure: `${ms(p99Ms)} (p1 ${ms(p1Ms)}, p50 ${ms(p50Ms)}, max ${ms(maxMs)})`,
      isMet: p99Ms <= 25 && p50Ms >= 15,
    },
    { what: `${name}: clock drift`, target: 'at most 20 ms', figure: ms(driftMs), isMet: driftMs <= 20 },
    { what: `${name}: packets lost`, target: '-', figure: `${lost} of ${packets} (${expected} due)` },
    { what: `${name}: most packets of a call in 5 ms`, target: '-', figure: String(largestBurst) },
    {
      what: `${name}: the media worker waited for a processor`,
      target: '-',
      figure: `${pacing.waitedMsPerSecond.toFixed(1)} ms in every second`,
    },
  ]
}

interface Bench {
  readonly sessions: readonly MediaSession[]
  readonly recorder: Recorder
  readonly path: string
  readonly seconds: number
}

async function measure(
  { sessions, recorder, path, seconds }: Bench,
  pass: () => Promise<void>,
): Promise<Measured> {
  const playing = sessions.map((session) => session.play({ clip: { path } }))
  await setTimeout((marginSeconds / 4) * 1000)
  await recorder.reset()
  const { waited: waitedBefore } = workerMs()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) await pass()
  const pacing = await recorder.report()
  const waitedMsPerSecond = (workerMs().waited - waitedBefore) / seconds
  await Promise.all(sessions.map((session) => session.play({ clip: { path }, offsetMs: 1e9 })))
  await Promise.all(playing)
  return { ...pacing, waitedMsPerSecond }
}

async function blockQuarterSecond(): Promise<void> {
  const end = performance.now() + 250
  while (performance.now() < end);
  await setTimeout(750)
}

/** Runs both measurements, one after the other. */
export async function benchMedia({ seconds = 60, sessions: count = 400 }: MediaBenchOptions = {}): Promise<
  Figure[]
> {
  const created = await createBenchMedia(firstPort, 2 * count)
  const { media } = created
  const path = join(created.directory, 'tone.wav')
  await writeFile(path, toWav(tone(440, (seconds + marginSeconds) * 1000)))
  const recorder = await startRecorder(count)
  try {
    await media.start()
    const sessions: MediaSession[] = []
    for (const port of recorder.ports) {
      const session = await media.open()
      await session.answer(offerOf(port, 0))
      sessions.push(session)
    }
    const bench = { sessions, recorder, path, seconds }
    let cpu = process.cpuUsage()
    const calm = await measure(bench, async () => {
      await setTimeout(1000)
    })
    cpu = process.cpuUsage(cpu)
    const perPacketUs = (cpu.user + cpu.system) / calm.packets
    const blocked = await measure(bench, blockQuarterSecond)
    const due = count * 50 * seconds
    return [
      ...toFigures(`${count} calls, ${seconds} s`, calm, due),
      {
        what: 'CPU per packet, all threads',
        target: '-',
        figure: `${perPacketUs.toFixed(1)} us: ${((perPacketUs * count * 50) / 10_000).toFixed(0)} % of a core`,
      },
      ...toFigures(`the same, main thread blocked 250 ms in every second`, blocked, due),
    ]
  } finally {
    await created.close()
    await recorder.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, sessions: { type: 'string', default: '400' } },
  })
  const figures = await benchMedia({ seconds: Number(values.seconds), sessions: Number(values.sessions) })
  process.stdout.write(`${toTable(figures)}\n`)
}
