// Browsers on one media worker: each sends audio and receives a playback, over ICE, DTLS and SRTP; the figure is their
// use of processors.
//   node bench/webrtc.ts --sessions 150 --seconds 30
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Media, MediaSession } from '../src/media/media.ts'
import { tone, toWav } from '../test/support/audio.ts'
import { createBenchMedia } from './bench-media.ts'
import { toTable, type Figure } from './figure.ts'

export interface WebRtcBenchOptions {
  readonly seconds?: number
  readonly sessions?: number
}

interface Counts {
  readonly heard: number
  readonly connected: number
}

const firstPort = 30_000
// The unit in which Linux counts the CPU time of other processes.
const ticksPerSecond = 100

/** Returns the CPU time of another process, all its threads. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function memoryMb(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 1e6
}

async function ask(farEnds: ChildProcess): Promise<Counts> {
  const counted = new Promise<Counts>((resolve) => {
    const read = (message: object): void => {
      if (!('heard' in message)) return
      farEnds.off('message', read)
      resolve(message as Counts)
    }
    farEnds.on('message', read)
  })
  farEnds.send('count')
  return counted
}

async function openAll(media: Media, farEnds: ChildProcess, count: number): Promise<MediaSession[]> {
  const sessions: MediaSession[] = []
  const waiting: { readonly index: number; readonly offer: string }[] = []
  farEnds.on('message', (message: object) => {
    if ('offer' in message) waiting.push(message as { index: number; offer: string })
  })
  while (sessions.length < count) {
    const next = waiting.shift()
    if (next === undefined) {
      await setTimeout(5)
      continue
    }
    const session = await media.open()
    const { sdp } = await session.answer(next.offer)
    farEnds.send({ index: next.index, answer: sdp })
    sessions.push(session)
  }
  while ((await ask(farEnds)).connected < count) await setTimeout(100)
  return sessions
}

export async function benchWebRtc({ seconds = 30, sessions: count = 150 }: WebRtcBenchOptions = {}): Promise<
  Figure[]
> {
  let browsers: ChildProcess | undefined
  const bench = await createBenchMedia(firstPort, 2 * count, {
    createProcess: () =>
      (browsers = fork(new URL('../src/media/browsers/browser-process.ts', import.meta.url), {
        env: {},
        execArgv: [],
      })),
  })
  const { media } = bench
  const path = join(bench.directory, 'tone.wav')
  await writeFile(path, toWav(tone(440, (seconds + 10) * 1000)))
  const farEnds = fork(new URL('./browser-far-ends.ts', import.meta.url), [String(count)])
  try {
    await media.start()
    const setUpBefore = process.cpuUsage()
    const sessions = await openAll(media, farEnds, count)
    const pid = browsers?.pid ?? 0
    const setUp = process.cpuUsage(setUpBefore)
    const setUpMs = ((setUp.user + setUp.system) / 1e6 + cpuSeconds(pid)) * (1000 / count)
    const playing = sessions.map((session) => session.play({ clip: { path } }))
    await setTimeout(2000)
    const [before, library, platform] = [await ask(farEnds), cpuSeconds(pid), process.cpuUsage()]
    await setTimeout(seconds * 1000)
    const here = process.cpuUsage(platform)
    const there = cpuSeconds(pid) - library
    const heard = (await ask(farEnds)).heard - before.heard
    const cpu = (here.user + here.system) / 1e6 + there
    const perCall = cpu / seconds / count
    const received = (await Promise.all(sessions.map((one) => one.stats()))).map((one) => one.packetsLost)
    await Promise.all(sessions.map((session) => session.close()))
    await Promise.all(playing.map((one) => one.catch(() => undefined)))
    const calls = Math.floor(0.6 / perCall)
    return [
      {
        what: 'calls of browsers for 60 % of one core, both processes',
        target: 'at least 150',
        figure: `${calls} (${count} calls: ${((cpu / seconds) * 100).toFixed(0)} % of a core, ${((there / cpu) * 100).toFixed(0)} % of it in the process of browsers)`,
        isMet: calls >= 150,
      },
      {
        what: 'packets of the playback that arrived, and of the browsers that were lost',
        target: '-',
        figure: `${heard} of ${count * 50 * seconds}, ${received.reduce((sum, one) => sum + one, 0)}`,
      },
      { what: 'CPU of a call set up: SDP, ICE, DTLS', target: '-', figure: `${setUpMs.toFixed(1)} ms` },
      { what: 'memory of the process of browsers', target: '-', figure: `${memoryMb(pid).toFixed(0)} MB` },
    ]
  } finally {
    farEnds.disconnect()
    await media.stop()
    if (farEnds.exitCode === null) await once(farEnds, 'exit')
    await bench.close()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '30' }, sessions: { type: 'string', default: '150' } },
  })
  const figures = await benchWebRtc({ seconds: Number(values.seconds), sessions: Number(values.sessions) })
  process.stdout.write(`${toTable(figures)}\n`)
}
