// A BIND name server for the tests: private data, a high port on loopback, one zone that accepts signed updates.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Resolver } from 'node:dns/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUpdateClient } from '../../src/dns/create-update-client.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'

export interface NameServer {
  readonly zone: string
  readonly address: string
  readonly port: number
  readonly key: { readonly name: string; readonly secret: Buffer }
  /** A resolver that queries only this server. */
  readonly resolver: Resolver
  /** Replaces the addresses of a host in the zone with this IPv4 address. */
  move(host: string, address: string): Promise<void>
  stop(): Promise<void>
}

const zone = 'sip.example.test'
const key = { name: 'switchhook', secret: Buffer.alloc(32, 7) }

/** Starts the server. `records` are added to the zone's own lines; `port` is a free port by default. */
export async function startBind({
  records = [],
  port: given,
}: { readonly records?: readonly string[]; readonly port?: number } = {}): Promise<NameServer> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-bind-'))
  const port = given ?? (await freePorts(1))
  await writeFile(join(folder, 'named.conf'), configuration(folder, port))
  await writeFile(join(folder, 'zone.db'), `${zoneFile}${records.join('\n')}\n`)
  const command = commandPath(tools.bind)
  if (command === undefined) throw new Error('named is missing')
  // -g: in the foreground, its log on stderr.
  const args = ['-g', '-c', join(folder, 'named.conf'), '-p', String(port), '-n', '1']
  const server = new ToolProcess({ command, args, cwd: folder })
  await server.lines.next('BIND to start', (line) => line.endsWith(' running'))
  const resolver = new Resolver({ timeout: 10_000, tries: 3 })
  resolver.setServers([`127.0.0.1:${port}`])
  return {
    zone,
    address: '127.0.0.1',
    port,
    key,
    resolver,
    async move(host, address) {
      const name = `${host}.${zone}`
      const data = Buffer.from(address.split('.').map(Number))
      const server = { address: '127.0.0.1', port }
      await createUpdateClient({ server, zone, key, clock: systemClock }).update(
        [],
        [
          { kind: 'remove', name, type: 'a' },
          { kind: 'add', record: { name, type: 'a', ttlSeconds: 1, data } },
        ],
      )
    },
    async stop() {
      await server.stop('SIGINT', 5000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const zoneFile = `$TTL 60
@ IN SOA ns.${zone}. admin.${zone}. 1 3600 600 86400 1
@ IN NS ns.${zone}.
ns IN A 127.0.0.1
www IN A 192.0.2.80
`

function configuration(folder: string, port: number): string {
  return `options {
  directory "${folder}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
  notify no;
};
controls { };
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret.toString('base64')}"; };
zone "${zone}" {
  type primary;
  file "${folder}/zone.db";
  allow-update { key "${key.name}"; };
};
`
}
