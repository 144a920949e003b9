// SIP scenarios: fills in a scenario file of this folder, runs sipp with it, and reads its reports.
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { until } from './wait.ts'

export interface SippOptions {
  /** A file of scenarios/ without its ending, or one that is built into sipp: "builtin:uas". */
  readonly scenario: string
  /** The destination of requests; left out for a scenario that waits for calls. */
  readonly target?: { readonly address: string; readonly port: number }
  /** The source address of requests, if it is another one of the loopback network than 127.0.0.1. */
  readonly source?: string
  readonly transport?: 'udp' | 'tcp'
  /** The values for `{{name}}` in the scenario file. */
  readonly values?: Readonly<Record<string, string | number>>
  readonly username?: string
  readonly password?: string
  readonly calls?: number
  readonly callsPerSecond?: number
  /** The percentage of packets that sipp drops, in both directions. */
  readonly lossPercent?: number
  readonly timeoutSeconds?: number
  /** Whether it keeps the messages; not under load, where writing them is most of the work. */
  readonly keepMessages?: boolean
  /** The core it is pinned to, so that it does not use the processor time that is being measured. */
  readonly core?: number
  /** Whether it echoes audio, as by default. False for tests of signalling: under load it would be most of the work. */
  readonly echoes?: boolean
}

export interface SippMessage {
  readonly direction: 'sent' | 'received'
  readonly text: string
  /** The status line or request line. */
  readonly start: string
}

export interface SippResult {
  /** The exit code; 0 if every call ran as written. */
  readonly code: number | null
  readonly successful: number
  readonly failed: number
  readonly retransmissions: number
  readonly messages: readonly SippMessage[]
  /** The faults, for the message of a failing test. */
  readonly report: string
}

export interface Sipp {
  readonly pid: number
  readonly port: number
  readonly finished: Promise<SippResult>
  stop(): Promise<void>
}

const scenarios = join(import.meta.dirname, 'scenarios')

/** Runs sipp to its end. */
export async function runSipp(options: SippOptions): Promise<SippResult> {
  const sipp = await startSipp(options)
  return await sipp.finished
}

export async function startSipp(options: SippOptions): Promise<Sipp> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-sipp-'))
  // Ports for signalling, then RTP on an even port, RTCP, and the video pair that sipp also opens.
  const port = await freePorts(10)
  const command = ['sipp', ...(await toArguments(options, folder, port))]
  if (options.core !== undefined) command.unshift('taskset', '-c', String(options.core))
  const [program = 'sipp', ...args] = command
  const child = new ToolProcess({ command: program, args, cwd: folder })
  const finished = (async (): Promise<SippResult> => {
    const { code } = await child.exited
    const result = await report(folder, code, child)
    await rm(folder, { recursive: true, force: true })
    return result
  })()
  if (options.target === undefined)
    await until('sipp to listen', async () => !child.isRunning || (await isBound(port, options.transport)))
  return {
    pid: child.pid,
    port,
    finished,
    async stop() {
      await child.stop('SIGTERM', 3_000)
      await finished
    },
  }
}

/** Returns whether the port is bound: the system refuses packets to it before that, and a call would fail. */
async function isBound(port: number, transport = 'udp'): Promise<boolean> {
  const table = await readFile(`/proc/net/${transport}`, 'latin1').catch(() => undefined)
  // Only Linux has this file.
  return table?.includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `) ?? true
}

async function toArguments(options: SippOptions, folder: string, port: number): Promise<string[]> {
  const args: string[] = []
  if (options.scenario.startsWith('builtin:')) args.push('-sn', options.scenario.slice('builtin:'.length))
  else args.push('-sf', await fillIn(options, folder))
  if (options.target !== undefined) args.push(`${options.target.address}:${options.target.port}`)
  args.push('-i', options.source ?? '127.0.0.1', '-p', String(port), '-nostdin')
  if (options.echoes ?? true) args.push('-rtp_echo')
  args.push('-mi', '127.0.0.1', '-mp', String(port + 2 + (port % 2)))
  args.push('-t', options.transport === 'tcp' ? 't1' : 'u1')
  args.push('-m', String(options.calls ?? 1), '-r', String(options.callsPerSecond ?? 10))
  args.push('-timeout', String(options.timeoutSeconds ?? 45), '-timeout_error')
  args.push('-trace_stat', '-stf', 'stat.csv', '-fd', '1', '-trace_err', '-error_file', 'errors.log')
  if (options.keepMessages ?? true) args.push('-trace_msg', '-message_file', 'messages.log')
  if (options.username !== undefined) args.push('-s', options.username, '-au', options.username)
  if (options.password !== undefined) args.push('-ap', options.password)
  if (options.lossPercent !== undefined) args.push('-lost', String(options.lossPercent))
  if ((options.callsPerSecond ?? 0) > 50) args.push('-l', '5000')
  return args
}

async function fillIn({ scenario, values = {} }: SippOptions, folder: string): Promise<string> {
  const text = await readFile(join(scenarios, `${scenario}.xml`), 'utf8')
  const filled = text.replaceAll(/\{\{(\w+)\}\}(\n)?/g, (_match, name: string, end: string = '') => {
    const value = values[name]
    if (value === undefined) throw new Error(`scenario ${scenario} needs the value "${name}"`)
    // An empty header line would end the header, so the whole line is removed.
    return value === '' ? '' : `${value}${end}`
  })
  const path = join(folder, 'scenario.xml')
  await writeFile(path, filled)
  return path
}

async function report(folder: string, code: number | null, child: ToolProcess): Promise<SippResult> {
  const names = await readdir(folder)
  const read = async (name: string): Promise<string> =>
    names.includes(name) ? await readFile(join(folder, name), 'utf8') : ''
  const statistics = lastRow(await read('stat.csv'))
  const messages = toMessages(await read('messages.log'))
  const errors = await read('errors.log')
  const trace = messages.slice(-30).map(({ direction, text }) => `--- ${direction}\n${text}`)
  return {
    code,
    successful: Number(statistics['SuccessfulCall(C)'] ?? 0),
    failed: Number(statistics['FailedCall(C)'] ?? 0),
    retransmissions: Number(statistics['Retransmissions(C)'] ?? 0),
    messages,
    report: code === 0 ? '' : [`sipp ended with ${code}`, errors, child.stderr, ...trace].join('\n'),
  }
}

function lastRow(csv: string): Record<string, string> {
  const lines = csv.split('\n').filter((line) => line !== '')
  const names = lines[0]?.split(';') ?? []
  const values = lines.length > 1 ? (lines.at(-1)?.split(';') ?? []) : []
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

/** Parses the message log: a rule of dashes with the time, a line with the direction, a blank line, the message. */
function toMessages(log: string): SippMessage[] {
  return log
    .split(/^-{20,} .*$/m)
    .map((part) => /^\s*\w+ message (sent|received)[^\n]*\n\r?\n([\s\S]*)$/.exec(part))
    .filter((match) => match !== null)
    .map((match) => {
      const text = (match[2] ?? '').trim()
      const direction = match[1] === 'sent' ? 'sent' : 'received'
      return { direction, text, start: text.split(/\r?\n/, 1)[0] ?? '' }
    })
}

/** Returns the value of a header field of a message, by its name in any case. */
export function headerOf(message: { readonly text: string } | undefined, name: string): string | undefined {
  const head = message?.text.split(/\r?\n\r?\n/, 1)[0] ?? ''
  const line = head.split(/\r?\n/).find((field) => field.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  return line?.slice(name.length + 1).trim()
}
