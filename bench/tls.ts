// The cost of TLS: CPU of a handshake with each kind of key, and memory of silent phones over secure WebSockets.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAuthority, type Certificate } from '../test/support/certificates.ts'
import {
  provision,
  startPlatform,
  unlimited,
  type Platform,
  type Tenant,
} from '../test/support/platform-process.ts'
import { freePorts } from '../test/support/ports.ts'
import { ToolProcess } from '../test/support/processes.ts'
import { loadCore, platformCore } from './cores.ts'
import type { Figure } from './figure.ts'
import { mainThreadCpuMs, processCpuMs, residentMb } from './proc.ts'
import type { TlsLoadOptions } from './tls-load.ts'

const handshakes = 2_000
const warmUp = 300
const maxHandshakeMs = 4
const clients = 5_000
const maxMb = 500
// A user may have ten devices.
const perUser = 10

export async function measureTls(): Promise<Figure[]> {
  const authority = createAuthority()
  try {
    const names = 'IP:127.0.0.1'
    const curve = await withPlatform(authority.issue({ names }), costOfHandshake)
    const rsa = await withPlatform(authority.issue({ names, isRsa: true }), costOfHandshake)
    const idle = await withPlatform(authority.issue({ names }), idleClients)
    return [handshakeFigure('P-256', curve), handshakeFigure('RSA with 2,048 bits', rsa), ...idle]
  } finally {
    authority.remove()
  }
}

interface Stage {
  readonly platform: Platform
  readonly sipsPort: number
  readonly wssPort: number
}

async function withPlatform<T>(
  { certificateFile, keyFile }: Certificate,
  measure: (stage: Stage) => Promise<T>,
): Promise<T> {
  const ports = await freePorts(2)
  const [sipsPort, wssPort] = [ports, ports + 1]
  const platform = await startPlatform({
    core: platformCore,
    env: {
      SWITCHHOOK_LOG_LEVEL: 'warn',
      SWITCHHOOK_SIPS_PORT: String(sipsPort),
      SWITCHHOOK_WSS_PORT: String(wssPort),
      SWITCHHOOK_TLS_CERTIFICATE: certificateFile,
      SWITCHHOOK_TLS_KEY: keyFile,
      ...unlimited,
    },
  })
  try {
    return await measure({ platform, sipsPort, wssPort })
  } finally {
    await platform.remove()
  }
}

/** Returns the CPU of the process for each handshake, an OPTIONS and its response, and the close. */
async function costOfHandshake({ platform, sipsPort }: Stage): Promise<number> {
  await load({ kind: 'handshakes', port: sipsPort, count: warmUp, network: 1 })
  const before = processCpuMs(platform.pid)
  await load({ kind: 'handshakes', port: sipsPort, count: handshakes, network: 2 })
  return (processCpuMs(platform.pid) - before) / handshakes
}

function handshakeFigure(key: string, ms: number): Figure {
  return {
    what: `TLS handshake with a key of ${key}, OPTIONS and end included, CPU`,
    target: `under ${maxHandshakeMs} ms`,
    figure: `${ms.toFixed(2)} ms`,
    isMet: ms < maxHandshakeMs,
  }
}

async function idleClients({ platform, wssPort }: Stage): Promise<Figure[]> {
  const tenant = await provision(platform.api, {
    application: { url: (path) => `http://127.0.0.1:9${path}` },
  })
  await addUsers(platform, tenant)
  const emptyMb = residentMb(platform.pid)
  const begunAt = performance.now()
  const { realm, password } = tenant
  const child = startLoad({ kind: 'registrations', port: wssPort, count: clients, perUser, realm, password })
  const line = await Promise.race([
    child.lines.next('the registrations', (text) => text.startsWith('registered'), { timeoutMs: 240_000 }),
    child.exited.then(() => Promise.reject(new Error(`the load ended: ${child.stderr}`))),
  ])
  const seconds = (performance.now() - begunAt) / 1_000
  await delay(5_000)
  const mb = residentMb(platform.pid)
  const idleCpu = mainThreadCpuMs(platform.pid)
  await delay(10_000)
  const idlePercent = (mainThreadCpuMs(platform.pid) - idleCpu) / 100
  await child.stop('SIGTERM', 5_000)
  const count = Number(line.split(' ')[1])
  return [
    {
      what: `resident memory with ${count} phones registered over WSS, silent`,
      target: `${clients} under ${maxMb} MB`,
      figure: `${mb.toFixed(0)} MB (${emptyMb.toFixed(0)} MB before them)`,
      isMet: count === clients && mb < maxMb,
    },
    { what: 'time until all were registered', target: '-', figure: `${seconds.toFixed(1)} s` },
    { what: 'main thread while they are silent', target: '-', figure: `${idlePercent.toFixed(1)} %` },
  ]
}

async function addUsers({ api }: Platform, { account_sid, password }: Tenant): Promise<void> {
  for (let index = 0; index < clients / perUser; index += 1)
    await api.must('POST', '/Clients', { account_sid, username: `user${index}`, password })
}

async function load(options: TlsLoadOptions): Promise<void> {
  const child = startLoad(options)
  const { code } = await child.exited
  if (code !== 0) throw new Error(`the load ended with ${code}: ${child.stderr}`)
}

function startLoad(options: TlsLoadOptions): ToolProcess {
  const script = join(import.meta.dirname, 'tls-load.ts')
  const args = ['-c', String(loadCore), process.execPath, script, JSON.stringify(options)]
  return new ToolProcess({ command: 'taskset', args })
}
