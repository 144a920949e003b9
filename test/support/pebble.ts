// Pebble, the ACME server of Let's Encrypt for tests. It holds a client to RFC 8555, refuses some of its nonces, and
// requests the proof for a name.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outgoing } from '../../src/outgoing/outgoing.ts'
import type { Certificate } from './certificates.ts'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'

export interface Pebble {
  readonly directory: string
  stop(): Promise<void>
}

export interface PebbleOptions {
  /** The certificate of the server, for 127.0.0.1. */
  readonly certificate: Certificate
  /** The name server that it queries: `address:port`. */
  readonly nameServer: string
  /** The port on which it checks proofs. */
  readonly httpPort: number
}

export async function startPebble({ certificate, nameServer, httpPort }: PebbleOptions): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-pebble-'))
  const port = await freePorts(2)
  const settings = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${port + 1}`,
    certificate: certificate.certificateFile,
    privateKey: certificate.keyFile,
    httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  }
  const config = join(folder, 'pebble.json')
  writeFileSync(config, JSON.stringify({ pebble: settings }))
  const command = commandPath(tools.pebble)
  if (command === undefined) throw new Error('pebble is missing')
  const env = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '15' }
  const server = new ToolProcess({ command, args: ['-config', config, '-dnsserver', nameServer], env })
  await server.lines.next('Pebble to start', (line) => line.includes('ACME directory available'))
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    async stop() {
      await server.stop('SIGINT', 5000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Replaces outgoing/, which trusts only the publicly known authorities. */
export function requestsBelieving(ca: string): Pick<Outgoing, 'request'> {
  return {
    async request({ url, method, headers, body }) {
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Outgoing['request']>>>()
      const asked = request(url, { method, headers: { ...headers }, ca, agent: false }, (response) => {
        buffer(response).then((bytes) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes })
        }, reject)
      })
      asked.on('error', reject)
      asked.end(body as string | undefined)
      return promise
    },
  }
}
