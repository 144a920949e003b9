// Calls with SRTP keys in SDP, bridged two by two on one media worker, and the same number of plain calls before them:
// PCMU, with packets forwarded as they arrive, decrypted and encrypted again.
//   node bench/srtp.ts                            60 s for each of the two
//   node bench/srtp.ts --seconds 20 --calls 200
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Media } from '../src/media/media.ts'
import { parseSdp } from '../src/media/sdp/sdp.ts'
import type { MasterKey } from '../src/media/srtp/suites.ts'
import { createBenchMedia, offerOf } from './bench-media.ts'
import { bridgeAll, measure, perPacketUs, type Measured } from './bridge.ts'
import { loadCore, pin, platformCore, unpin } from './cores.ts'
import { toTable, type Figure } from './figure.ts'
import { startCrowd, type Crowd, type PhoneKeys } from './rtp-crowd.ts'

const firstPort = 30_000
const suite = 'AES_CM_128_HMAC_SHA1_80'
const targetCalls = 300
// The share of one processor; the rest is reserved for uneven load.
const share = 0.6
const packetsPerSecond = 50

interface Period extends Measured {
  /** Packets that the phones sent since their calls began and that never arrived. */
  readonly missed: number
  readonly rejected: number
}

const toBase64 = ({ key }: MasterKey): string => Buffer.from(key).toString('base64')

/** Returns the keys with which the media encrypts, from its answer. */
function keysIn(sdp: string): MasterKey {
  const line = parseSdp(sdp).sections[0]?.crypto.usable[0]
  if (line?.suite !== suite) throw new Error(`the answer has no ${suite}`)
  return line
}

async function run(media: Media, crowd: Crowd, seconds: number, isProtected: boolean): Promise<Period> {
  const sends = isProtected ? crowd.ports.map((): MasterKey => ({ suite, key: randomBytes(30) })) : []
  const keys: PhoneKeys[] = []
  const sessions = await bridgeAll(
    media,
    crowd,
    (port, index) => offerOf(port, 0, sends[index]),
    (sdp) => {
      const own = sends[keys.length]
      if (own !== undefined) keys.push({ suite, sends: toBase64(own), hears: toBase64(keysIn(sdp)) })
    },
  )
  const places = sessions.map(({ port }) => port)
  await crowd.talk(
    places,
    places.map(() => 0),
    keys,
  )
  const measured = await measure(crowd, seconds)
  await crowd.talk([], [])
  const stats = await Promise.all(sessions.map((session) => session.close()))
  const sum = (of: (one: (typeof stats)[number]) => number): number =>
    stats.reduce((before, one) => before + of(one), 0)
  return {
    ...measured,
    missed: sum(({ packetsLost }) => packetsLost),
    rejected: sum(({ rejected }) => (rejected?.forged ?? 0) + (rejected?.replayed ?? 0)),
  }
}

/** Returns the calls for a share of a core, from the cost of a packet: packets that were skipped do not count. */
const perCore = (period: Period): number =>
  Math.floor((share * 1e6) / (packetsPerSecond * perPacketUs(period)))

const lostOf = ({ sent, received }: Period): number => Math.max(0, 1 - received / sent)

function carried(what: string, period: Period, target: number | undefined): Figure {
  const calls = perCore(period)
  const cost = `${perPacketUs(period).toFixed(1)} us for each packet in and out`
  return {
    what: `${what}, bridged two by two: how many for 60 % of a core`,
    target: target === undefined ? '-' : `at least ${target}`,
    figure: `${calls} (${period.corePercent.toFixed(0)} % of a core here, ${cost})`,
    // A worker that mostly waited for a processor gives no meaningful figure.
    isMet: target === undefined || lostOf(period) > 0.05 ? undefined : calls >= target,
  }
}

function quality(what: string, period: Period): Figure[] {
  const { sent, missed, rejected, p50Ms, p99Ms, loud, waitedMsPerSecond, lateP99Ms, lateMaxMs } = period
  const lost = lostOf(period)
  return [
    {
      what: `${what}: packets that did not come out`,
      target: 'under 0.1 %',
      figure: `${(lost * 100).toFixed(2)} % of ${sent} (${missed} did not come in, ${rejected} were rejected)`,
      isMet: lost < 0.001,
    },
    {
      what: `${what}: from mouth to ear, p50, p99`,
      target: '-',
      figure: `${p50Ms.toFixed(2)}, ${p99Ms.toFixed(1)} ms (${loud} sounds)`,
    },
    {
      what: `${what}: the media worker waited for a processor; the phones sent late by themselves`,
      target: '-',
      figure: `${waitedMsPerSecond.toFixed(0)} ms in every second; p99 ${lateP99Ms.toFixed(1)} ms, at most ${lateMaxMs.toFixed(1)} ms`,
    },
  ]
}

interface SrtpBenchOptions {
  readonly seconds: number
  readonly calls: number
}

export async function benchSrtp({ seconds, calls }: SrtpBenchOptions): Promise<Figure[]> {
  const bench = await createBenchMedia(firstPort, 4 * calls)
  const { media } = bench
  const crowd = await startCrowd(calls, { core: loadCore })
  pin(process.pid, platformCore)
  try {
    await media.start()
    const plain = await run(media, crowd, seconds, false)
    const encrypted = await run(media, crowd, seconds, true)
    const names = { plain: `${calls} plain calls`, encrypted: `${calls} calls with SRTP` }
    const more = perPacketUs(encrypted) - perPacketUs(plain)
    return [
      carried(names.encrypted, encrypted, targetCalls),
      carried(names.plain, plain, undefined),
      {
        what: 'what SRTP adds: a packet decrypted and encrypted',
        target: '-',
        figure: `${more.toFixed(1)} us (${((100 * more) / perPacketUs(plain)).toFixed(0)} %)`,
      },
      ...quality(names.encrypted, encrypted),
      ...quality(names.plain, plain),
    ]
  } finally {
    unpin(process.pid)
    await bench.close()
    await crowd.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, calls: { type: 'string', default: '300' } },
  })
  const figures = await benchSrtp({ seconds: Number(values.seconds), calls: Number(values.calls) })
  process.stdout.write(`${toTable(figures)}\n`)
}
