// `npm run bench`: measures the promised speed and memory and prints the figures beside the targets. It is never a
// gate.
//   npm run bench                            everything, about a quarter of an hour
//   npm run bench -- start http              only these parts: start, api, http, calls, overload, bridged-calls, commands, websocket, fraud, scanner, tls, nodes,
//                                            live-calls, queue, streams, media, bridge, srtp, webrtc, room, recording, codecs, heard,
//                                            storage, and
//                                            call-records, which takes minutes and runs only when it is named
//   npm run bench -- --seconds 10            a shorter call load; --media-seconds 30 likewise
//   npm run bench -- api --api-parts lists   only these parts of api, with commas between them: requests, lists, pages,
//                                            logins, long-list, memory
//   npm run bench -- --write figures.md      also writes the tables into a file; the last figures are in docs/benchmarks.md
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasCommand } from '../test/support/tools.ts'
import { apiParts, measureApi } from './api.ts'
import { measureBridgedCalls } from './bridged-calls.ts'
import { measureCalls } from './calls.ts'
import { measureCommands } from './commands.ts'
import { toTable, type Figure } from './figure.ts'
import { measureFraud } from './fraud.ts'
import { measureHttp } from './http.ts'
import { measureLiveCalls } from './live-calls.ts'
import { measureNodes } from './nodes.ts'
import { measureOverload } from './overload.ts'
import { measureQueue } from './queue.ts'
import { runScript } from './run-script.ts'
import { measureScanner } from './scanner.ts'
import { measureStart } from './start.ts'
import { measureStreams } from './streams.ts'
import { measureTls } from './tls.ts'
import { measureWebSocket } from './websocket.ts'

interface Section {
  readonly name: string
  readonly title: string
  /** Programs that the part requires. */
  readonly needs: readonly string[]
  readonly run: () => Promise<Figure[] | string>
  /** Runs only when it is named, because it takes minutes more. */
  readonly isAskedFor?: boolean
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    'media-seconds': { type: 'string', default: '300' },
    'api-parts': { type: 'string' },
    write: { type: 'string' },
  },
})

const sections: readonly Section[] = [
  { name: 'start', title: 'Start and idle', needs: [], run: measureStart },
  { name: 'api', title: 'REST interface', needs: ['taskset'], run: () => measureApi(apiOptions()) },
  { name: 'http', title: 'Authenticated read', needs: ['taskset'], run: () => measureHttp() },
  {
    name: 'calls',
    title: 'Inbound calls under load',
    needs: ['taskset', 'sipp'],
    run: () => measureCalls({ seconds: Number(options.seconds) }),
  },
  {
    name: 'overload',
    title: 'More calls than the main thread can take',
    needs: ['taskset', 'sipp'],
    run: () => measureOverload(),
  },
  {
    name: 'bridged-calls',
    title: 'Bridged calls under load',
    needs: ['taskset', 'sipp'],
    run: () => measureBridgedCalls({ seconds: Number(options.seconds) }),
  },
  {
    name: 'commands',
    title: 'Commands to live calls',
    needs: ['taskset'],
    run: () => measureCommands(),
  },
  {
    name: 'websocket',
    title: 'Applications over WebSocket',
    needs: ['taskset'],
    run: measureWebSocket,
  },
  { name: 'fraud', title: 'A stolen password', needs: [], run: measureFraud },
  {
    name: 'scanner',
    title: 'A scanner beside good calls',
    needs: ['taskset', 'sipp'],
    run: () => measureScanner(),
  },
  { name: 'tls', title: 'TLS and secure WebSockets', needs: ['taskset', 'openssl'], run: measureTls },
  {
    name: 'nodes',
    title: 'Two nodes on one PostgreSQL',
    needs: ['sipp'],
    run: () => measureNodes(),
  },
  { name: 'live-calls', title: 'Live calls', needs: ['taskset', 'sipp'], run: () => measureLiveCalls() },
  { name: 'queue', title: 'A queue of a thousand', needs: ['taskset', 'sipp'], run: measureQueue },
  {
    name: 'streams',
    title: 'Streams beside calls',
    needs: ['taskset'],
    run: () => measureStreams(),
  },
  {
    name: 'media',
    title: 'RTP pacing',
    needs: [],
    run: () => runScript('media.ts', ['--seconds', options['media-seconds']]),
  },
  {
    name: 'bridge',
    title: 'Bridged calls',
    needs: ['taskset'],
    run: () => runScript('bridge.ts', ['--seconds', options.seconds]),
  },
  {
    name: 'capacity',
    title: 'Bridged calls that one media worker admits',
    needs: ['taskset'],
    run: () => runScript('capacity.ts'),
  },
  {
    name: 'srtp',
    title: 'Encrypted calls',
    needs: ['taskset'],
    run: () => runScript('srtp.ts', ['--seconds', options.seconds]),
  },
  {
    name: 'webrtc',
    title: 'Browsers',
    needs: [],
    run: () => runScript('webrtc.ts'),
  },
  {
    name: 'room',
    title: 'A room of 100',
    needs: [],
    run: () => runScript('room.ts', ['--seconds', options.seconds]),
  },
  {
    name: 'recording',
    title: 'Recorded calls',
    needs: ['taskset'],
    run: () => runScript('recording.ts'),
  },
  {
    name: 'codecs',
    title: 'Codecs',
    needs: [],
    run: () => runScript('codecs.ts'),
  },
  { name: 'heard', title: 'What is heard', needs: [], run: () => runScript('heard.ts') },
  { name: 'storage', title: 'Storage', needs: [], run: () => runScript('storage.ts') },
  {
    name: 'call-records',
    title: 'Five million call records',
    needs: [],
    run: () => runScript('call-records.ts'),
    isAskedFor: true,
  },
]

function apiOptions(): Parameters<typeof measureApi>[0] {
  const parts = options['api-parts']?.split(',')
  const unknown = parts?.find((part) => !apiParts.some((known) => known === part))
  if (unknown !== undefined) throw new Error(`${unknown} is not a part of api: ${apiParts.join(', ')}`)
  return parts === undefined ? {} : { parts }
}

function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const memoryGb = Math.round(totalmem() / 2 ** 30)
  return `${process.platform} ${process.arch}, ${cpus().length} x ${model}, ${memoryGb} GB, Node ${process.version}`
}

async function report(section: Section): Promise<string> {
  const missing = section.needs.filter((command) => !hasCommand(command))
  if (process.platform !== 'linux') return 'Not measured: CPU times are read from /proc, which is Linux.'
  if (missing.length > 0) return `Not measured: ${missing.join(' and ')} is missing.`
  try {
    const outcome = await section.run()
    return typeof outcome === 'string' ? outcome : toTable(outcome)
  } catch (error) {
    // A part that cannot be measured must not hide the others.
    return `Not measured: ${error instanceof Error ? error.message : String(error)}`
  }
}

const known = sections.map(({ name }) => name)
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}.`)
  process.exit(2)
}

const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
  ' ',
)
const parts = [
  '# Benchmarks',
  '',
  `Made by \`${command}\` on ${new Date().toISOString().slice(0, 10)}.`,
  '',
  `Machine: ${machine()}. Server and load share it over loopback: read CPU per operation and ratios, not peaks.`,
]
console.log(parts.join('\n'))
for (const section of sections) {
  if (positionals.length > 0 ? !positionals.includes(section.name) : section.isAskedFor === true) continue
  if (!existsSync(join(import.meta.dirname, `${section.name}.ts`))) continue
  const text = ['', `## ${section.title}`, '', await report(section)]
  console.log(text.join('\n'))
  parts.push(...text)
}
if (options.write !== undefined) await writeFile(options.write, `${parts.join('\n')}\n`)
process.exit(0)
