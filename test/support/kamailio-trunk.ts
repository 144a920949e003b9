// Kamailio as the gateway of a carrier over TLS. It and the platform present certificates of the same authority.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Authority } from './certificates.ts'
import { passedIn, runKamailio, type Kamailio, type Place } from './kamailio.ts'

export interface SecureTrunk extends Kamailio {
  /** The port for TLS; the other port is for UDP, which the phone uses. */
  readonly securePort: number
}

export interface SecureTrunkOptions {
  readonly authority: Authority
  /** The platform's address for SIP over TLS. */
  readonly platform: Place
  /** The first of two claimed ports. */
  readonly port: number
  /** The phone that receives the platform's calls, over UDP. */
  readonly phone: Place & { readonly username: string }
}

/** Starts a gateway that sends requests over TLS to the phone, and the phone's requests to the platform over TLS. */
export async function startSecureTrunk({ authority, ...places }: SecureTrunkOptions): Promise<SecureTrunk> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-trunk-'))
  const { port } = places
  const { certificateFile, keyFile } = authority.issue({ names: 'IP:127.0.0.1' })
  const identity = `certificate = ${certificateFile}\nprivate_key = ${keyFile}\n`
  const believes = `verify_certificate = yes\nca_list = ${authority.certificateFile}\n`
  await writeFile(
    join(folder, 'tls.cfg'),
    `[server:default]\nmethod = TLSv1.2+\n${identity}[client:default]\nmethod = TLSv1.2+\n${identity}${believes}`,
  )
  await writeFile(join(folder, 'kamailio.cfg'), configuration(folder, places))
  const child = await runKamailio(folder, 'the trunk is ready')
  return {
    address: '127.0.0.1',
    port,
    securePort: port + 1,
    passed: () => passedIn(child.output),
    async stop() {
      await child.stop('SIGTERM', 5_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const modules = ['tls', 'tm', 'sl', 'rr', 'pv', 'maxfwd', 'textops', 'siputils', 'xlog']

function configuration(
  folder: string,
  { port, platform, phone }: Omit<SecureTrunkOptions, 'authority'>,
): string {
  return `
debug=1
log_stderror=yes
enable_tls=yes
listen=udp:127.0.0.1:${port}
listen=tls:127.0.0.1:${port + 1}
auto_aliases=no
${modules.map((name) => `loadmodule "${name}.so"`).join('\n')}
modparam("tls", "config", "${folder}/tls.cfg")
modparam("rr", "append_fromtag", 1)

event_route[core:worker-one-init] {
  xlog("L_ERR", "the trunk is ready\\n");
}

request_route {
  if (!mf_process_maxfwd_header("10")) exit;
  xlog("L_ERR", "passes $rm from $proto\\n");
  if (is_method("CANCEL")) {
    if (t_check_trans()) t_relay();
    exit;
  }
  if (has_totag()) {
    if (loose_route()) {
      # The Contact of the platform has the name in its certificate, which no name server has.
      if ($proto != "tls") $du = "sip:${platform.address}:${platform.port};transport=tls";
      t_relay();
    } else if (is_method("ACK") && t_check_trans()) t_relay();
    exit;
  }
  record_route();
  if ($proto == "tls") $ru = "sip:${phone.username}@${phone.address}:${phone.port}";
  else $du = "sip:${platform.address}:${platform.port};transport=tls";
  if (!t_relay()) sl_reply_error();
}
`
}
