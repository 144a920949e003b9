// Kamailio as the gateway of a carrier over TLS: it and the platform show each other certificates of one authority.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Authority } from './certificates.ts'
import { passedIn, runKamailio } from './kamailio.ts'
import type { Kamailio, Place } from './kamailio.ts'

export interface SecureTrunk extends Kamailio {
  /** Over TLS; the other port is that of UDP, where the phone is. */
  readonly securePort: number
}

export interface SecureTrunkOptions {
  readonly authority: Authority
  /** Where the platform takes SIP over TLS. */
  readonly platform: Place
  /** Claimed, and the next one. */
  readonly port: number
  /** Calls of the platform go there, over UDP. */
  readonly phone: Place & { readonly username: string }
}

/** What comes over TLS goes to the phone, what the phone sends goes to the platform over TLS. */
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
