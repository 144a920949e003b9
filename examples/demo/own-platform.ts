// A platform for the demo alone: a child process on free ports of the loopback, whose data are removed afterwards.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface OwnPlatform {
  /** `http://127.0.0.1:40123` */
  readonly baseUrl: string
  readonly sip: { readonly host: string; readonly port: number }
  readonly apiKey: string
  /** Resolves when the process has ended and its data are removed. May be called again. */
  stop(): Promise<void>
}

const program = join(import.meta.dirname, '../../src/main.ts')
// The platform uses the first free ports of this range; a platform that runs beside it uses others by default.
const rtpPorts = '44000-44999'
const maxStartMs = 60_000
const maxStopMs = 10_000

/** Starts it on the loopback, or with `isOpen` on all networks of this machine. */
export async function startOwnPlatform({ isOpen = false } = {}): Promise<OwnPlatform> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-demo-'))
  const apiKey = randomBytes(24).toString('hex')
  const child = spawn(process.execPath, [program], {
    // The demo has its own data directory and ports: settings in the terminal for another platform are ignored.
    env: {
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^(SWITCHHOOK_|NODE_ENV$)/.test(name)),
      ),
      ...(isOpen
        ? { SWITCHHOOK_BIND: '0.0.0.0' }
        : { SWITCHHOOK_BIND: '127.0.0.1', SWITCHHOOK_PUBLIC_ADDRESS: '127.0.0.1' }),
      SWITCHHOOK_HTTP_PORT: '0',
      SWITCHHOOK_SIP_PORT: '0',
      SWITCHHOOK_RTP_PORTS: rtpPorts,
      SWITCHHOOK_BROWSER_PORT: '0',
      SWITCHHOOK_DATA_DIR: dataDir,
      SWITCHHOOK_ADMIN_API_KEY: apiKey,
      SWITCHHOOK_LOG_LEVEL: 'warn',
    },
    // The platform stops when the channel closes, which it does however this process ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  // Runs if the demo ends without stopping the platform.
  const abandon = (): void => {
    child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  }
  process.once('exit', abandon)
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> =>
    (stopping ??= endOf(child, exited).then(() => {
      process.off('exit', abandon)
      return rm(dataDir, { recursive: true, force: true })
    }))
  try {
    return { ...(await readiness(child)), apiKey, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Reads the addresses from the platform's output when it is ready. */
function readiness(child: ChildProcess): Promise<Pick<OwnPlatform, 'baseUrl' | 'sip'>> {
  return new Promise((resolve, reject) => {
    let output = ''
    const deadline = setTimeout(() => {
      reject(new Error(`The platform was not ready after ${maxStartMs / 1000} s.\n${output}`))
    }, maxStartMs)
    const read = (text: string): void => {
      output += text
      const api = /^ {2}API +(http:\/\/\S+)\/v1$/m.exec(output)
      const sip = /^ {2}SIP +sip:(\S+):(\d+) /m.exec(output)
      if (api === null || sip === null) return
      clearTimeout(deadline)
      resolve({ baseUrl: api[1] ?? '', sip: { host: sip[1] ?? '', port: Number(sip[2]) } })
    }
    child.stdout?.setEncoding('utf8').on('data', read)
    child.stderr?.setEncoding('utf8').on('data', read)
    child.once('error', reject)
    child.once('close', () => {
      clearTimeout(deadline)
      reject(new Error(`The platform did not start.\n${output}`))
    })
  })
}

async function endOf(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.pid === undefined) return
  child.kill('SIGINT')
  const deadline = setTimeout(() => child.kill('SIGKILL'), maxStopMs)
  await exited
  clearTimeout(deadline)
}
