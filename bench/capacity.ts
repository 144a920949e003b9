// How many bridged calls one media worker admits, and what it lacks when it refuses the next: a processor, or time on one.
//   node bench/capacity.ts                    the phones on another core, then on the worker's own
//   node bench/capacity.ts --calls 400 --step 40
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { AppError } from '../src/lib/errors.ts'
import type { Media, MediaSession } from '../src/media/media.ts'
import { createBenchMedia, offerOf, workerMs } from './bench-media.ts'
import { loadCore, pin, platformCore, unpin } from './cores.ts'
import { toTable, type Figure } from './figure.ts'
import { startCrowd, type Crowd } from './rtp-crowd.ts'

const firstPort = 30_000
const stepMs = 5000
const owner = 'account'

/** Opens two sessions that hear each other. Throws AppError when the worker admits no more. */
async function bridgeTwo(media: Media, ports: readonly number[]): Promise<readonly MediaSession[]> {
  const sessions: MediaSession[] = []
  try {
    for (const port of ports) {
      const session = await media.open({ owner })
      sessions.push(session)
      await session.answer(offerOf(port, 0))
    }
  } catch (error) {
    await Promise.all(sessions.map((session) => session.close()))
    throw error
  }
  for (const [index, session] of sessions.entries()) {
    const other = sessions[index ^ 1]
    if (other !== undefined)
      await session.wire({ hears: [{ id: 'far', from: { kind: 'session', id: other.id } }] })
  }
  return sessions
}

interface CapacityOptions {
  readonly calls: number
  readonly step: number
}

async function admitted(media: Media, crowd: Crowd, { calls, step }: CapacityOptions) {
  const sessions: MediaSession[] = []
  let refusal = 'none'
  let use = { cpu: 0, waited: 0 }
  while (refusal === 'none' && sessions.length < 2 * calls) {
    try {
      for (let count = 0; count < step && sessions.length < 2 * calls; count += 1)
        sessions.push(...(await bridgeTwo(media, crowd.ports.slice(sessions.length, sessions.length + 2))))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      refusal = error.code
    }
    const talking = sessions.map(({ port }) => port)
    await crowd.talk(
      talking,
      talking.map(() => 0),
    )
    const before = workerMs()
    await setTimeout(stepMs)
    const after = workerMs()
    use = { cpu: (after.cpu - before.cpu) / stepMs, waited: (after.waited - before.waited) / stepMs }
  }
  await crowd.talk([], [])
  await Promise.all(sessions.map((session) => session.close()))
  return { calls: sessions.length / 2, refusal, ...use }
}

export async function benchCapacity({ calls = 300, step = 25 }: Partial<CapacityOptions> = {}): Promise<
  Figure[]
> {
  const figures: Figure[] = []
  const places = [
    ['on another core', loadCore],
    ['on the core of the worker', platformCore],
  ] as const
  for (const [where, core] of places) {
    const bench = await createBenchMedia(firstPort, 4 * calls + 4)
    const crowd = await startCrowd(2 * calls, { core })
    pin(process.pid, platformCore)
    try {
      await bench.media.start()
      const found = await admitted(bench.media, crowd, { calls, step })
      const percent = (share: number): string => `${(100 * share).toFixed(0)} %`
      figures.push({
        what: `bridged calls that one worker admits, of ${calls}; their phones ${where}`,
        target: '-',
        figure: `${found.calls} (refusal: ${found.refusal}); the worker used ${percent(found.cpu)} of a core and waited for it ${percent(found.waited)} of the time`,
      })
    } finally {
      unpin(process.pid)
      await bench.close()
      await crowd.close()
    }
  }
  return figures
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { calls: { type: 'string', default: '300' }, step: { type: 'string', default: '25' } },
  })
  const figures = await benchCapacity({ calls: Number(values.calls), step: Number(values.step) })
  process.stdout.write(`${toTable(figures)}\n`)
}
