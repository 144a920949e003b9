// Another real phone: drives linphonec by its terminal, with its own configuration folder; it plays and records WAV.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromWav, toWav, type Audio } from './audio.ts'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { until, type Inbox } from './wait.ts'

export interface LinphoneOptions {
  readonly username: string
  readonly password: string
  readonly realm: string
  readonly proxy: {
    readonly address: string
    readonly port: number
    readonly transport?: 'udp' | 'tcp' | 'tls'
  }
  /** For TLS: the certificate authority that must have signed the certificate of the proxy, for its address. */
  readonly authorityFile?: string | undefined
  readonly says: Audio
  readonly answers?: 'auto' | 'manual'
  /** Requires encrypted media in every call. */
  readonly encrypts?: boolean
}

export interface Linphone {
  /** The lines that its terminal shows. */
  readonly lines: Inbox<string>
  /** Writes a line to its terminal. */
  order(line: string): void
  dial(target: string): void
  hangUp(): void
  /** Puts its call on hold; then the next one may begin. */
  hold(): void
  /** Resolves once the terminal reports this state of a call. */
  call(state: 'ringing' | 'connected' | 'ended'): Promise<void>
  /** Returns the audio of the far end; to be called after the call has ended. */
  heard(): Promise<Audio>
  readonly output: string
  stop(): Promise<void>
}

/** Resolves when the phone is registered. */
export async function startLinphone(options: LinphoneOptions): Promise<Linphone> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-linphone-'))
  // It stores its logs and friends in these folders and does not create them.
  for (const path of ['.local/share/linphone', '.config'])
    await mkdir(join(folder, path), { recursive: true })
  const rc = join(folder, 'rc')
  await writeFile(rc, configuration(options, await freePorts(3)))
  const [says, heard] = [join(folder, 'says.wav'), join(folder, 'heard.wav')]
  await writeFile(says, toWav(options.says))
  const child = new ToolProcess({
    command: 'linphonec',
    args: [...(options.answers === 'auto' ? ['-a'] : []), '-c', rc],
    cwd: folder,
    env: { HOME: folder },
    hasInput: true,
  })
  const order = (line: string): void => child.write(`${line}\n`)
  const phone: Linphone = {
    lines: child.lines,
    order,
    dial: (target) => order(`call ${target}`),
    hangUp: () => order('terminate'),
    hold: () => order('pause'),
    async call(state) {
      const pattern = new RegExp(`Call \\d+ (?:to|with) \\S+ ${state}\\b`)
      await child.lines.next(`a call that is ${state}`, (line) => pattern.test(line))
    },
    heard: async () => fromWav(await readFile(heard)),
    get output() {
      return child.output
    },
    async stop() {
      order('quit')
      await child.stop('SIGTERM', 4_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
  for (const line of ['soundcard use files', `play ${says}`, `record ${heard}`]) order(line)
  try {
    // It does not report its registration by itself.
    await until(
      'linphone to be registered',
      () => {
        order('status register')
        return /^registered, identity/m.test(child.stdout)
      },
      { everyMs: 50 },
    )
  } catch (error) {
    await phone.stop()
    throw new Error(`${String(error)}\n${child.output}`)
  }
  return phone
}

function configuration(options: LinphoneOptions, ports: number): string {
  const { username, password, realm, proxy, authorityFile } = options
  const edge = `sip:${proxy.address}:${proxy.port};transport=${proxy.transport ?? 'udp'}`
  return [
    '[sip]',
    `sip_port=${ports}`,
    'sip_tcp_port=0',
    // -2: it does not listen, and may connect.
    `sip_tls_port=${proxy.transport === 'tls' ? -2 : 0}`,
    ...(authorityFile === undefined
      ? []
      : [`root_ca=${authorityFile}`, 'verify_server_certs=1', 'verify_server_cn=1']),
    'register_only_when_network_is_up=0',
    'auto_net_state_mon=0',
    'default_proxy=0',
    'guess_hostname=0',
    ...(options.encrypts === true ? ['media_encryption=srtp', 'media_encryption_mandatory=1'] : []),
    '[rtp]',
    `audio_rtp_port=${ports + 1}`,
    '[net]',
    'firewall_policy=0',
    '[proxy_0]',
    `reg_proxy=<${edge}>`,
    `reg_route=<${edge};lr>`,
    `reg_identity=sip:${username}@${realm}`,
    'reg_expires=60',
    'reg_sendregister=1',
    'publish=0',
    '[auth_info_0]',
    `username=${username}`,
    `passwd=${password}`,
    `realm=${realm}`,
    '',
  ].join('\n')
}
