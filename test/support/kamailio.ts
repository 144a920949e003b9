// Kamailio in two roles: a SIP proxy in front of the platform, which stays in the path of every call by Record-Route
// and Path, and the edge of the guide in front of several nodes.
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'
import { until } from './wait.ts'

export interface Place {
  readonly address: string
  readonly port: number
}

export interface Kamailio extends Place {
  /** Returns a line for each request that passed, however often it was resent: its method and its source. */
  readonly passed: () => readonly string[]
  stop(): Promise<void>
}

export async function startKamailio(platform: Place): Promise<Kamailio> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-kamailio-'))
  const port = await freePorts(1)
  await writeFile(join(folder, 'kamailio.cfg'), proxyConfiguration(port, platform))
  const child = await runKamailio(folder, 'the proxy is ready')
  return {
    address: '127.0.0.1',
    port,
    passed: () => {
      const byBranch = new Set(
        [...child.output.matchAll(/passes (\w+ from \S+) in \S+/g)].map(([line]) => line),
      )
      return passedIn([...byBranch].join('\n'))
    },
    stop: () => stop(child, folder),
  }
}

/** Returns the lines that the tests' configurations log for each request. */
export function passedIn(output: string): readonly string[] {
  return [...output.matchAll(/passes (\w+ from \S+)/g)].map(([, what = '']) => what)
}

export interface Edge extends Place {
  /** The port for SIP over TLS and WebSockets over TLS. */
  readonly securePort: number
  /** Resolves when the edge logs once more that a node is in or out. */
  says(state: 'in' | 'out', node: Place): Promise<void>
  /** Replaces the list of nodes. */
  serve(nodes: readonly Place[]): Promise<void>
  stop(): Promise<void>
}

export interface EdgeOptions {
  readonly nodes: readonly Place[]
  readonly certificate: { readonly certificateFile: string; readonly keyFile: string }
  /** Whether it relays the audio too, by rtpengine. */
  readonly relays?: boolean
}

/** The only address that the nodes trust: they see the calls come from it. */
export const edgeAddress = '127.0.0.2'

/** Starts the edge of docs/guides/edge.md, with its own configuration. */
export async function startEdge({ nodes, certificate, relays = false }: EdgeOptions): Promise<Edge> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-edge-'))
  const port = await freePorts(2)
  const at = (name: string): string => join(folder, name)
  const list = (all: readonly Place[]): Promise<void> =>
    writeFile(at('dispatcher.list'), all.map((node) => `1 sip:${node.address}:${node.port}\n`).join(''))
  await copyFile(join(import.meta.dirname, '../../docs/edge/kamailio.cfg'), at('kamailio.cfg'))
  await list(nodes)
  await writeFile(at('tls.cfg'), tlsConfiguration(certificate))
  const relay = relays ? await startRelay() : undefined
  await writeFile(at('local.cfg'), edgeConfiguration(folder, port) + (relay?.setting ?? ''))
  const child = await runKamailio(folder, 'the edge is ready')
  const heard = new Map<string, number>()
  return {
    address: edgeAddress,
    port,
    securePort: port + 1,
    async says(state, node) {
      const words = `node sip:${node.address}:${node.port} is ${state}`
      const isIt = (line: string): boolean => line.includes(words)
      const from = heard.get(words) ?? 0
      await child.lines.next(words, isIt, { from })
      heard.set(words, child.lines.items.findLastIndex(isIt) + 1)
    },
    async serve(next) {
      await list(next)
      const args = ['-s', `unix:${at('kamailio_ctl')}`, 'dispatcher.reload']
      const command = commandPath({ command: 'kamcmd', folders: '/usr/sbin' }) ?? 'kamcmd'
      // Kamailio refuses to read them twice within five seconds.
      await until('the edge to read its nodes again', async () => {
        const reload = new ToolProcess({ command, args, cwd: folder })
        await reload.exited
        return reload.output.includes('successfully reloaded')
      })
    },
    async stop() {
      await relay?.child.stop('SIGTERM', 5_000)
      await stop(child, folder)
    },
  }
}

/** Starts rtpengine in user space: a test loads no kernel module. */
async function startRelay(): Promise<{ child: ToolProcess; setting: string }> {
  const ports = await freePorts(60)
  const control = `127.0.0.1:${ports}`
  const args = [
    ...['public', 'nodes'].map((name) => `--interface=${name}/${edgeAddress}`),
    ...[`--listen-ng=${control}`, '--table=-1', '--foreground', '--log-stderr', '--num-threads=1'],
    ...[`--port-min=${ports + 2}`, `--port-max=${ports + 59}`],
  ]
  const child = new ToolProcess({ command: 'rtpengine', args })
  await child.lines.next('rtpengine to be ready', (line) => line.includes('Startup complete'))
  return { child, setting: `#!define WITH_RTPENGINE\n#!define RTPENGINE_SOCKET "udp:${control}"\n` }
}

function edgeConfiguration(folder: string, port: number): string {
  return `
listen=udp:${edgeAddress}:${port}
listen=tcp:${edgeAddress}:${port}
listen=tls:${edgeAddress}:${port + 1}
#!define WITH_TLS
#!define NODES_FILE "${folder}/dispatcher.list"
#!define TLS_FILE "${folder}/tls.cfg"
`
}

function tlsConfiguration({ certificateFile, keyFile }: EdgeOptions['certificate']): string {
  return `[server:default]
method = TLSv1.2+
certificate = ${certificateFile}
private_key = ${keyFile}
`
}

/** Resolves when its output contains `ready`. */
export async function runKamailio(folder: string, ready: string): Promise<ToolProcess> {
  const child = new ToolProcess({
    command: commandPath(tools.kamailio) ?? 'kamailio',
    args: [
      '-f',
      join(folder, 'kamailio.cfg'),
      '-DD',
      '-E',
      '-n',
      '1',
      '-m',
      '64',
      '-w',
      folder,
      '-Y',
      folder,
    ],
    cwd: folder,
  })
  try {
    await Promise.race([
      child.lines.next('kamailio to be ready', (line) => line.includes(ready)),
      child.exited.then(() => {
        throw new Error('kamailio ended')
      }),
    ])
  } catch (error) {
    await child.stop('SIGTERM', 5_000)
    throw new Error(`${String(error)}\n${child.output}`)
  }
  return child
}

async function stop(child: ToolProcess, folder: string): Promise<void> {
  await child.stop('SIGTERM', 5_000)
  await rm(folder, { recursive: true, force: true })
}

const modules = ['tm', 'sl', 'rr', 'path', 'pv', 'maxfwd', 'textops', 'siputils', 'xlog']

function proxyConfiguration(port: number, platform: Place): string {
  return `
debug=1
log_stderror=yes
listen=udp:127.0.0.1:${port}
auto_aliases=no
${modules.map((name) => `loadmodule "${name}.so"`).join('\n')}
modparam("path", "use_received", 0)
modparam("rr", "append_fromtag", 1)

event_route[core:worker-one-init] {
  xlog("L_ERR", "the proxy is ready\\n");
}

request_route {
  if (!mf_process_maxfwd_header("10")) exit;
  xlog("L_ERR", "passes $rm from $si:$sp in $sel(via[1].branch)\\n");
  if (is_method("CANCEL")) {
    if (t_check_trans()) t_relay();
    exit;
  }
  if (has_totag()) {
    if (loose_route()) t_relay();
    else if (is_method("ACK") && t_check_trans()) t_relay();
    else if (!is_method("ACK")) sl_send_reply("404", "Not here");
    exit;
  }
  # The Path of a phone leads the platform's request here; the remaining Request-URI is the phone's address.
  loose_route();
  if (is_method("INVITE")) record_route();
  if (is_method("REGISTER")) add_path();
  if ($sp != ${platform.port}) $du = "sip:${platform.address}:${platform.port}";
  if (!t_relay()) sl_reply_error();
}
`
}
