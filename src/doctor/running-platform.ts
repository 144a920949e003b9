// The platform that runs with these settings, if any: the response of /health, and the process that has the data
// directory.
import { readFile, readdir, readlink, stat } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'

/** The reasons of /health. */
export type Unwell = (typeof reasons)[number]
const reasons = ['starting', 'stopping', 'database_unavailable', 'disk_full', 'clock_wrong'] as const

export interface RunningPlatform {
  /** The response at the port of the REST API: of the platform, another program, or none. */
  readonly health: 'ok' | Unwell | 'foreign' | 'none'
  /** The process that holds the lock of the data directory, if the system lists it. */
  readonly pid: number | undefined
}

export interface PlatformPlace {
  readonly bind: string
  readonly httpPort: number
  readonly dataDir: string
}

// A platform under full load, or just after its start, takes seconds. Checks that depend on this must end within ten.
const answerMs = 6_000

export async function findPlatform({ bind, httpPort, dataDir }: PlatformPlace): Promise<RunningPlatform> {
  const locks = ['switchhook.db.lock', 'node.lock'].map((name) => holderOf(join(dataDir, name)))
  const [health, ...pids] = await Promise.all([healthAt(reachable(bind), httpPort), ...locks])
  const pid = pids.find((one) => one !== undefined)
  // Another platform on this machine responds there: it is not the one that has the data directory.
  const isOther = pid !== undefined && (await listensAt(pid, httpPort)) === false
  return { health: isOther && health !== 'none' ? 'foreign' : health, pid }
}

export function isRunning({ health }: RunningPlatform): boolean {
  return health !== 'foreign' && health !== 'none'
}

/** Returns where a program on this machine reaches a server that listens on `bind`. */
export function reachable(bind: string): string {
  if (bind === '0.0.0.0') return '127.0.0.1'
  return bind === '::' ? '::1' : bind
}

async function healthAt(host: string, port: number): Promise<RunningPlatform['health']> {
  if (port === 0) return 'none'
  const { promise, resolve } = Promise.withResolvers<RunningPlatform['health']>()
  const request = get({ host, port, path: '/health', agent: false, timeout: answerMs }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      text += piece
      if (text.length > 1000) request.destroy()
    })
    response.on('end', () => resolve(meaningOf(text)))
  })
  request.on('timeout', () => request.destroy(new Error('no response')))
  request.on('error', (error) => {
    const isAbsent = 'code' in error && error.code === 'ECONNREFUSED'
    resolve(isAbsent ? 'none' : 'foreign')
  })
  // A response that was cut off also ends here.
  request.on('close', () => resolve('foreign'))
  return promise
}

function meaningOf(text: string): RunningPlatform['health'] {
  if (text === '{"status":"ok"}') return 'ok'
  return reasons.find((reason) => text === JSON.stringify({ status: 'unavailable', reason })) ?? 'foreign'
}

// proc(5): local address and port in hexadecimal, the state (0A is LISTEN), and the inode of the socket.
const listener = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A (?:\S+ +){5}(\d+) /

/** Returns whether a process listens at a TCP port. Undefined if the system does not say. */
async function listensAt(pid: number, port: number): Promise<boolean | undefined> {
  try {
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))
    const inodes = tables
      .join('\n')
      .split('\n')
      .map((line) => listener.exec(line))
      .flatMap((match) => (match !== null && Number.parseInt(match[1] ?? '', 16) === port ? [match[2]] : []))
    if (inodes.length === 0) return undefined
    const sockets = new Set(inodes.map((inode) => `socket:[${inode}]`))
    const folder = `/proc/${pid}/fd`
    const links = await Promise.all(
      (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
    )
    return links.some((link) => sockets.has(link))
  } catch {
    // The process belongs to another user, or the system is not Linux.
    return undefined
  }
}

// proc_locks(5): SQLite locks whole processes, by POSIX.
const lockLine = /^\d+: POSIX +\S+ +WRITE +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) /

/** Looks up who holds the lock. Taking it, even for a moment, would make a start fail. */
async function holderOf(path: string): Promise<number | undefined> {
  try {
    const { ino } = await stat(path)
    const lines = (await readFile('/proc/locks', 'utf8')).split('\n')
    const found = lines.map((line) => lockLine.exec(line)).find((match) => match?.[2] === String(ino))
    return found === undefined || found === null ? undefined : Number(found[1])
  } catch {
    // There is no such file, or the system is not Linux.
    return undefined
  }
}
