// A real phone: drives baresip over its control socket, with its own configuration folder and recordings.
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromWav, tone, toWav, type Audio } from './audio.ts'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { Inbox, until } from './wait.ts'

export interface BaresipOptions {
  readonly username: string
  readonly password: string
  readonly realm: string
  /** The address that requests are sent to, whatever the realm resolves to. */
  readonly proxy: {
    readonly address: string
    readonly port: number
    readonly transport?: 'udp' | 'tcp' | 'tls'
  }
  /** The interval in seconds; 0 does not register. */
  readonly registerEvery?: number
  readonly answers?: 'auto' | 'manual'
  /** The audio that the phone sends; near silence by default. It carries the digits, so it must outlast the call. */
  readonly says?: Audio
  readonly codecs?: 'PCMU' | 'PCMA' | 'PCMU,PCMA' | 'opus' | 'G722' | undefined
  /** Whether its output includes every SIP message. */
  readonly tracesSip?: boolean
  /** For TLS: the certificate authority that must have signed the certificate of the proxy. */
  readonly authorityFile?: string
  /** Requires encrypted media in every call: keys in SDP (true), or DTLS, without or with ICE. */
  readonly encrypts?: boolean | 'dtls' | 'dtls with ice'
  /** Whether it has a jitter buffer, as by default. The buffer drops a whole new stream if its numbers are lower. */
  readonly hasJitterBuffer?: boolean
}

/** An event of baresip. Its `type` is CALL_ESTABLISHED, CALL_CLOSED, REGISTER_OK, REGISTER_FAIL ... */
export interface PhoneEvent {
  readonly type: string
  readonly param: string
  readonly peeruri: string
}

interface Answer {
  readonly token: string
  readonly ok: boolean
  readonly data: string
}

export interface Baresip {
  readonly events: Inbox<PhoneEvent>
  readonly pid: number
  /** The port for calls over UDP and TCP; TLS uses the next one. */
  readonly port: number
  /** Resolves with the outcome of the registration. */
  registered(): Promise<{ readonly ok: boolean; readonly reason: string }>
  dial(target: string): Promise<void>
  /** Queues digits, which are sent one after the other as RFC 4733 events: await their effect. */
  press(digits: string): Promise<void>
  hangUp(): Promise<void>
  command: (name: string, params?: string) => Promise<string>
  /** Returns what the far end of the last call sent; complete once the call is closed. */
  heard(): Promise<Audio>
  readonly output: string
  stop(): Promise<void>
}

const moduleFolder = '/usr/lib/baresip/modules'

export async function startBaresip(options: BaresipOptions): Promise<Baresip> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-phone-'))
  // SIP takes two ports (the second is for TLS), then control takes one, then RTP.
  const ports = await freePorts(12)
  const says = options.says ?? tone(300, 120_000, { level: 0.001 })
  await writeFile(join(folder, 'says.wav'), toWav(says))
  await writeFile(join(folder, 'config'), configuration(folder, ports, options))
  await writeFile(join(folder, 'accounts'), '')
  await writeFile(join(folder, 'contacts'), '')
  const child = new ToolProcess({
    command: 'baresip',
    args: ['-4', ...(options.tracesSip === true ? ['-s'] : []), '-f', folder],
    cwd: folder,
    env: { HOME: folder },
  })
  const control = await connectControl(ports + 2, child)
  await control.command('uanew', account(options))

  const startedAt = control.events.items.length
  return {
    events: control.events,
    pid: child.pid,
    port: ports,
    async registered() {
      const event = await control.events.next('the registration', ({ type }) =>
        /^REGISTER_(OK|FAIL)$/.test(type),
      )
      return { ok: event.type === 'REGISTER_OK', reason: event.param }
    },
    async dial(target) {
      await control.command('dial', target)
    },
    async press(digits) {
      for (const digit of digits) await control.command('sndcode', digit)
    },
    async hangUp() {
      await control.command('hangup')
    },
    command: control.command,
    heard: () => lastRecording(folder),
    get output() {
      return `${child.output}\n${JSON.stringify(control.events.items.slice(startedAt))}`
    },
    async stop() {
      control.close()
      await child.stop('SIGTERM', 4_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configuration(
  folder: string,
  ports: number,
  {
    hasJitterBuffer = true,
    authorityFile,
    codecs,
    encrypts,
    says,
  }: Pick<BaresipOptions, 'hasJitterBuffer' | 'authorityFile' | 'codecs' | 'encrypts' | 'says'>,
): string {
  const rate = says?.sampleRate ?? 8000
  const isWide = codecs === 'opus' || codecs === 'G722'
  return [
    'poll_method epoll',
    `sip_listen 127.0.0.1:${ports}`,
    'net_interface 127.0.0.1',
    ...(authorityFile === undefined ? [] : [`sip_cafile ${authorityFile}`]),
    // The platform supports DTLS only with RTP and RTCP on one port.
    ...(typeof encrypts === 'string' ? ['rtcp_mux yes'] : []),
    'call_max_calls 4',
    // The player discards the audio; it is recorded before that.
    'audio_player aubridge,nil',
    'audio_alert aubridge,nil',
    `audio_source aufile,${join(folder, 'says.wav')}`,
    'audio_buffer 20-160',
    `jitter_buffer_delay ${hasJitterBuffer ? '5-10' : '0-0'}`,
    `rtp_ports ${ports + 4}-${ports + 11}`,
    'statmode_default off',
    `module_path ${moduleFolder}`,
    // In any codec it records at the sample rate of its own audio.
    ...(isWide ? [`ausrc_srate ${rate}`, `auplay_srate ${rate}`] : []),
    ...(codecs === 'opus' ? ['opus_stereo no', 'module opus.so'] : []),
    ...(codecs === 'G722' ? ['module g722.so'] : []),
    ...['g711.so', 'aufile.so', 'aubridge.so', 'sndfile.so', ...encryptionModules(encrypts)].map(
      (name) => `module ${name}`,
    ),
    'module_tmp account.so',
    'module_app menu.so',
    'module_app ctrl_tcp.so',
    `ctrl_tcp_listen 127.0.0.1:${ports + 2}`,
    `snd_path ${folder}`,
    '',
  ].join('\n')
}

/** Returns the modules to load. The DTLS module makes a key at each start, ten times as slow as all the rest. */
function encryptionModules(encrypts: BaresipOptions['encrypts'] = false): readonly string[] {
  if (encrypts === false) return []
  return encrypts === true ? ['srtp.so'] : ['srtp.so', 'dtls_srtp.so', 'ice.so']
}

function account(options: BaresipOptions): string {
  const { username, password, realm, proxy } = options
  const transport = proxy.transport ?? 'udp'
  return [
    `<sip:${username}@${realm};transport=${transport}>`,
    `auth_user=${username}`,
    `auth_pass=${password}`,
    `outbound="sip:${proxy.address}:${proxy.port};transport=${transport}"`,
    `regint=${options.registerEvery ?? 60}`,
    `audio_codecs=${options.codecs ?? 'PCMU,PCMA'}`,
    ...encryption(options),
    `answermode=${options.answers ?? 'manual'}`,
  ].join(';')
}

function encryption({ encrypts = false }: Pick<BaresipOptions, 'encrypts'>): string[] {
  if (typeof encrypts === 'boolean') return encrypts ? ['mediaenc=srtp-mand'] : []
  return ['mediaenc=dtls_srtp', ...(encrypts === 'dtls' ? [] : ['medianat=ice'])]
}

interface Control {
  readonly events: Inbox<PhoneEvent>
  command: (name: string, params?: string) => Promise<string>
  close(): void
}

async function connectControl(port: number, child: ToolProcess): Promise<Control> {
  const socket = await until(`baresip to listen for control\n${child.output}`, () => tryConnect(port))
  const events = new Inbox<PhoneEvent>()
  const answers = new Inbox<Answer>()
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    const { documents, remainder } = netstrings(Buffer.concat([rest, chunk]))
    rest = remainder
    for (const document of documents) {
      const message = JSON.parse(document) as { event?: boolean } & PhoneEvent & Answer
      if (message.event === true) events.push(message)
      else answers.push(message)
    }
  })
  socket.on('error', () => socket.destroy())
  let tokens = 0
  return {
    events,
    async command(name, params) {
      tokens += 1
      const token = String(tokens)
      const text = JSON.stringify({ command: name, ...(params === undefined ? {} : { params }), token })
      socket.write(`${Buffer.byteLength(text)}:${text},`)
      const answer = await answers.next(`baresip to obey ${name}`, (candidate) => candidate.token === token)
      if (!answer.ok) throw new Error(`baresip refused ${name}: ${answer.data}`)
      return answer.data
    },
    close: () => socket.destroy(),
  }
}

function tryConnect(port: number): Promise<net.Socket | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })
}

/** Splits netstrings: `<length>:<bytes>,` one after the other. */
function netstrings(bytes: Buffer): { documents: string[]; remainder: Buffer<ArrayBuffer> } {
  const documents: string[] = []
  let at = 0
  for (;;) {
    const colon = bytes.indexOf(':', at)
    if (colon < 0) break
    const start = colon + 1
    const end = start + Number(bytes.toString('latin1', at, colon))
    if (bytes.length <= end) break
    documents.push(bytes.toString('utf8', start, end))
    at = end + 1
  }
  return { documents, remainder: Buffer.from(bytes.subarray(at)) }
}

async function lastRecording(folder: string): Promise<Audio> {
  // It begins its file only when it plays, a moment after it has obeyed `dial`.
  const name = await until('the phone to record', async () =>
    (await readdir(folder))
      .filter((one) => /^dump-.*-dec\.wav$/.test(one))
      .sort()
      .at(-1),
  )
  return fromWav(await readFile(join(folder, name)))
}
