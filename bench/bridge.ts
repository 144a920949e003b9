// Bridged calls: 300 of them on one media worker, with one codec (packets forwarded as they arrive) and with two (sent
// on the tick).
//   node bench/bridge.ts                            60 s for each of the two
//   node bench/bridge.ts --seconds 20 --calls 100
//   node bench/bridge.ts --seconds 300 --codecs one  the five minutes of the target, of one codec alone
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Media, MediaSession } from '../src/media/media.ts'
import { toTable, type Figure } from './figure.ts'
import { createBenchMedia, offerOf, workerMs } from './bench-media.ts'
import { startBareRelay } from './bare-relay.ts'
import { loadCore, pin, platformCore, unpin } from './cores.ts'
import { startCrowd, type Crowd, type Heard } from './rtp-crowd.ts'

const firstPort = 30_000
const settleMs = 3000

/** Opens a session. A worker that was late a moment ago refuses calls, which is right, so it is asked again. */
export async function openPatiently(media: Media): Promise<MediaSession> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await media.open()
    } catch (error) {
      if (attempt === 30) throw error
      await setTimeout(1000)
    }
  }
}

/** Bridges phones two by two, each with its own offer. `onAnswer` gets the answers. */
export async function bridgeAll(
  media: Media,
  { ports }: Pick<Crowd, 'ports'>,
  offer: (port: number, index: number) => string,
  onAnswer?: (sdp: string) => void,
): Promise<MediaSession[]> {
  const sessions: MediaSession[] = []
  // This lets the worker forget the load of the previous run.
  await setTimeout(settleMs)
  for (const [index, port] of ports.entries()) {
    const session = await openPatiently(media)
    const { sdp } = await session.answer(offer(port, index))
    onAnswer?.(sdp)
    sessions.push(session)
  }
  for (const [index, session] of sessions.entries()) {
    const other = sessions[index ^ 1]
    if (other !== undefined)
      await session.wire({ hears: [{ id: 'far', from: { kind: 'session', id: other.id } }] })
  }
  return sessions
}

export interface Measured extends Heard {
  readonly seconds: number
  readonly corePercent: number
  readonly waitedMsPerSecond: number
}

export async function measure(crowd: Crowd, seconds: number): Promise<Measured> {
  await setTimeout(settleMs)
  await crowd.reset()
  const before = workerMs()
  await setTimeout(seconds * 1000)
  const after = workerMs()
  const heard = await crowd.report()
  return {
    ...heard,
    seconds,
    corePercent: (after.cpu - before.cpu) / seconds / 10,
    waitedMsPerSecond: (after.waited - before.waited) / seconds,
  }
}

export function perPacketUs({ corePercent, seconds, received }: Measured): number {
  return (corePercent * 10 * seconds * 1000) / received
}

interface Targets {
  readonly corePercent: number | undefined
  readonly delayMs: number
}

function toFigures(name: string, measured: Measured, straight: Heard, targets: Targets): Figure[] {
  const { corePercent, waitedMsPerSecond, sent, received, p50Ms, p99Ms, lateP99Ms, lateMaxMs } = measured
  const lost = Math.max(0, 1 - received / sent)
  const added = p50Ms - straight.p50Ms
  return [
    {
      what: `${name}: CPU of the media worker`,
      target: targets.corePercent === undefined ? '-' : `at most ${targets.corePercent} % of a core`,
      figure: `${corePercent.toFixed(0)} % (${perPacketUs(measured).toFixed(1)} us for each packet in and out)`,
      isMet: targets.corePercent === undefined ? undefined : corePercent <= targets.corePercent,
    },
    {
      what: `${name}: added delay, p50`,
      target: `under ${targets.delayMs} ms`,
      figure: `${added.toFixed(2)} ms (p99 ${(p99Ms - straight.p50Ms).toFixed(1)} ms; straight from phone to phone ${straight.p50Ms.toFixed(2)}, p99 ${straight.p99Ms.toFixed(1)} ms)`,
      isMet: added < targets.delayMs,
    },
    {
      what: `${name}: packets that did not come out`,
      target: 'under 0.1 %',
      figure: `${(lost * 100).toFixed(2)} % of ${sent}`,
      isMet: lost < 0.001,
    },
    {
      what: `${name}: the media worker waited for a processor; the phones sent late by themselves`,
      target: '-',
      figure: `${waitedMsPerSecond.toFixed(0)} ms in every second; p99 ${lateP99Ms.toFixed(1)} ms, at most ${lateMaxMs.toFixed(1)} ms`,
    },
  ]
}

interface BridgeBenchOptions {
  readonly seconds: number
  readonly calls: number
  readonly codecs: string
}

export async function benchBridge({ seconds, calls, codecs }: BridgeBenchOptions): Promise<Figure[]> {
  const phones = 2 * calls
  const bench = await createBenchMedia(firstPort, 2 * phones)
  const { media } = bench
  const crowd = await startCrowd(phones, { core: loadCore })
  pin(process.pid, platformCore)
  const all = (of: (index: number) => number): number[] =>
    Array.from({ length: phones }, (_, index) => of(index))
  const run = async (payloadTypes: readonly number[]): Promise<Measured> => {
    const sessions = await bridgeAll(media, crowd, (port, index) => offerOf(port, payloadTypes[index] ?? 0))
    await crowd.talk(
      sessions.map(({ port }) => port),
      payloadTypes,
    )
    const measured = await measure(crowd, seconds)
    await crowd.talk([], [])
    await Promise.all(sessions.map((session) => session.close()))
    return measured
  }
  try {
    // Measured directly from phone to phone, without the platform: the delay of the machine and the phones themselves.
    await crowd.talk(
      all((index) => crowd.ports[index ^ 1] ?? 0),
      all(() => 0),
    )
    const straight = await measure(crowd, Math.min(5, seconds))
    await crowd.talk([], [])
    const relay = await startBareRelay(crowd.ports)
    await crowd.talk(
      relay.ports,
      all(() => 0),
    )
    const bare = await measure(crowd, Math.min(15, seconds))
    await crowd.talk([], [])
    await relay.close()
    await media.start()
    const fast = await run(all(() => 0))
    const clocked = codecs === 'one' ? undefined : await run(all((index) => (index % 2 === 0 ? 0 : 8)))
    return [
      {
        what: `${calls} pairs of sockets that pass on what comes, and nothing else: CPU of their thread`,
        target: '-',
        figure: `${bare.corePercent.toFixed(0)} % (${perPacketUs(bare).toFixed(1)} us for each packet in and out)`,
      },
      ...toFigures(`${calls} calls of one codec, ${seconds} s`, fast, straight, {
        corePercent: 60,
        delayMs: 1,
      }),
      ...(clocked === undefined
        ? []
        : toFigures(`${calls} calls of two codecs, ${seconds} s`, clocked, straight, {
            corePercent: undefined,
            delayMs: 40,
          })),
    ]
  } finally {
    unpin(process.pid)
    await bench.close()
    await crowd.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      calls: { type: 'string', default: '300' },
      codecs: { type: 'string', default: 'both' },
    },
  })
  const { seconds, calls, codecs } = values
  const figures = await benchBridge({ seconds: Number(seconds), calls: Number(calls), codecs })
  process.stdout.write(`${toTable(figures)}\n`)
}
