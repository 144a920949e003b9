// Kamailio: as a SIP proxy in front of the platform, which stays in the path of every call by Record-Route and Path, and as the
// registrar of a carrier.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, tools } from './tools.ts'

interface Place {
  readonly address: string
  readonly port: number
}

export interface Kamailio extends Place {
  /** A line of each request that passed: its method, and where it came from. */
  readonly passed: () => readonly string[]
  stop(): Promise<void>
}

export function startKamailio(platform: Place): Promise<Kamailio> {
  return start((port) => proxyConfiguration(port, platform))
}

/** A carrier that the platform registers with: calls for any number go to the user `trunk1`, calls of the platform are busy. */
export function startRegistrar(platform: Place, password: string): Promise<Kamailio> {
  return start((port) => registrarConfiguration(port, platform, password))
}

async function start(configurationAt: (port: number) => string): Promise<Kamailio> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-kamailio-'))
  const port = await freePorts(1)
  const file = join(folder, 'kamailio.cfg')
  await writeFile(file, configurationAt(port))
  const child = new ToolProcess({
    command: commandPath(tools.kamailio) ?? 'kamailio',
    args: ['-f', file, '-DD', '-E', '-n', '1', '-m', '32', '-w', folder, '-Y', folder],
    cwd: folder,
  })
  try {
    await Promise.race([
      child.lines.next('kamailio to be ready', (line) => line.includes('the proxy is ready')),
      child.exited.then(() => {
        throw new Error('kamailio ended')
      }),
    ])
  } catch (error) {
    await child.stop('SIGTERM', 5_000)
    throw new Error(`${String(error)}\n${child.output}`)
  }
  return {
    address: '127.0.0.1',
    port,
    passed: () => [...child.output.matchAll(/passes (\w+ from \S+)/g)].map(([, what = '']) => what),
    async stop() {
      await child.stop('SIGTERM', 5_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
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
  xlog("L_ERR", "passes $rm from $si:$sp\\n");
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
  # The Path of a phone leads the platform here: what is left is the address of the phone.
  loose_route();
  if (is_method("INVITE")) record_route();
  if (is_method("REGISTER")) add_path();
  if ($sp != ${platform.port}) $du = "sip:${platform.address}:${platform.port}";
  if (!t_relay()) sl_reply_error();
}
`
}

const registrarModules = [
  ...['tm', 'sl', 'rr', 'pv', 'maxfwd', 'textops', 'siputils', 'xlog'],
  ...['usrloc', 'registrar', 'auth'],
]

function registrarConfiguration(port: number, platform: Place, password: string): string {
  return `
debug=1
log_stderror=yes
listen=udp:127.0.0.1:${port}
alias="carrier.example"
${registrarModules.map((name) => `loadmodule "${name}.so"`).join('\n')}
modparam("rr", "append_fromtag", 1)
modparam("registrar", "min_expires", 60)

event_route[core:worker-one-init] {
  xlog("L_ERR", "the proxy is ready\\n");
}

request_route {
  if (!mf_process_maxfwd_header("10")) exit;
  if (is_method("CANCEL")) {
    if (t_check_trans()) t_relay();
    exit;
  }
  if (has_totag()) {
    if (loose_route()) t_relay();
    else if (is_method("ACK") && t_check_trans()) t_relay();
    exit;
  }
  if (is_method("OPTIONS")) {
    sl_send_reply("200", "OK");
    exit;
  }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("carrier.example", "${password}", "0")) {
      www_challenge("carrier.example", "0");
      exit;
    }
    xlog("L_ERR", "passes REGISTER from $hdr(Expires)\\n");
    save("location");
    exit;
  }
  if ($sp == ${platform.port}) {
    if (!pv_proxy_authenticate("carrier.example", "${password}", "0")) {
      proxy_challenge("carrier.example", "0");
      exit;
    }
    xlog("L_ERR", "passes INVITE from $ru\\n");
    sl_send_reply("486", "Busy Here");
    exit;
  }
  $ru = "sip:trunk1@carrier.example";
  if (!lookup("location")) {
    sl_send_reply("404", "Not registered");
    exit;
  }
  record_route();
  if (!t_relay()) sl_reply_error();
}
`
}
