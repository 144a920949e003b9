// Kamailio as a carrier that the platform registers with, and the faults of such a carrier: it dies and comes back,
// changes the password, is overloaded, redirects the platform, or does not respond.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { passedIn, runKamailio, type Kamailio, type Place } from './kamailio.ts'
import { freePorts } from './ports.ts'
import type { ToolProcess } from './processes.ts'

/** Ports that do not respond, that respond 503 with Retry-After, and that redirect (302) to the port without faults. */
export type FaultyPorts = Readonly<Record<'silent' | 'overloaded' | 'moved', number>>

/** A REGISTER or INVITE, with the port it arrived at and the time, in seconds of the machine's clock. */
export interface Arrival {
  readonly method: string
  readonly user: string
  readonly address: string
  readonly port: number
  readonly at: number
}

export interface Registrar extends Kamailio {
  /** The faulty ports; set only with `hasFaultyPorts`. */
  readonly faulty: FaultyPorts
  readonly arrivals: () => readonly Arrival[]
  /** Kills it immediately; all that it remembers is lost. */
  kill(): Promise<void>
  restart(password: string): Promise<void>
}

export const retryAfterSeconds = 120
/** A second address that it listens on when it has faulty ports, for tests that move a name to another address. */
export const otherAddress = '127.0.0.5'

export interface RegistrarOptions {
  readonly hasFaultyPorts?: boolean
  /** The longest registration that it grants, in seconds. */
  readonly maxExpires?: number
}

/** Starts the registrar. It sends calls for any number to the user `trunk1`; the platform's calls get a busy answer. */
export async function startRegistrar(
  platform: Place,
  password: string,
  { hasFaultyPorts = false, maxExpires = 3_600 }: RegistrarOptions = {},
): Promise<Registrar> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-registrar-'))
  const port = await freePorts(4)
  const faulty: FaultyPorts = { silent: port + 1, overloaded: port + 2, moved: port + 3 }
  const outputs: string[] = []
  const run = async (takes: string): Promise<ToolProcess> => {
    const text = configuration({ port, platform, password: takes, maxExpires, faulty, hasFaultyPorts })
    await writeFile(join(folder, 'kamailio.cfg'), text)
    return runKamailio(folder, 'the registrar is ready')
  }
  let child = await run(password)
  const output = (): string => [...outputs, child.output].join('')
  return {
    address: '127.0.0.1',
    port,
    faulty,
    passed: () => passedIn(output()),
    arrivals: () => arrivalsIn(output()),
    kill: async () => void (await child.kill()),
    async restart(takes) {
      outputs.push(child.output)
      child = await run(takes)
    },
    async stop() {
      await child.stop('SIGTERM', 5_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function arrivalsIn(output: string): readonly Arrival[] {
  return [...output.matchAll(/arrives (\w+) of (\S+) at (\S+):(\d+) on (\d+) and (\d+) us/g)].map(
    ([, method = '', user = '', address = '', port, seconds, micros]) => ({
      ...{ method, user, address },
      ...{ port: Number(port), at: Number(seconds) + Number(micros) / 1e6 },
    }),
  )
}

const modules = [
  ...['tm', 'sl', 'rr', 'pv', 'maxfwd', 'textops', 'siputils', 'xlog'],
  ...['usrloc', 'registrar', 'auth'],
]

interface Configuration {
  readonly port: number
  readonly platform: Place
  readonly password: string
  readonly maxExpires: number
  readonly faulty: FaultyPorts
  readonly hasFaultyPorts: boolean
}

function configuration({
  port,
  platform,
  password,
  maxExpires,
  faulty,
  hasFaultyPorts,
}: Configuration): string {
  const others = [...Object.values(faulty).map((other) => `127.0.0.1:${other}`), `${otherAddress}:${port}`]
  const places = [`127.0.0.1:${port}`, ...(hasFaultyPorts ? others : [])]
  return `
debug=1
log_stderror=yes
${places.map((place) => `listen=udp:${place}`).join('\n')}
alias="carrier.example"
${modules.map((name) => `loadmodule "${name}.so"`).join('\n')}
modparam("rr", "append_fromtag", 1)
modparam("registrar", "min_expires", 30)
modparam("registrar", "max_expires", ${maxExpires})

event_route[core:worker-one-init] {
  xlog("L_ERR", "the registrar is ready\\n");
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
  if (is_method("ACK")) exit;
  if (is_method("REGISTER|INVITE")) xlog("L_ERR", "arrives $rm of $tU at $Ri:$Rp on $TV(s) and $TV(u) us\\n");
  if ($Rp == ${faulty.silent}) exit;
  if ($Rp == ${faulty.overloaded}) {
    append_to_reply("Retry-After: ${retryAfterSeconds}\r\n");
    sl_send_reply("503", "Overloaded");
    exit;
  }
  if ($Rp == ${faulty.moved}) {
    # This address becomes the Contact of the response.
    $rd = "127.0.0.1";
    $rp = "${port}";
    sl_send_reply("302", "Moved Temporarily");
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
