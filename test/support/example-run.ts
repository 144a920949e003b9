// A run of an example of examples/ as a person runs it: a child process beside a platform or with its own, and real
// phones set up with the data that it prints.
import { join } from 'node:path'
import { tone } from './audio.ts'
import { startBaresip, type Baresip } from './baresip.ts'
import { adminApiKey, codeCache, type Platform } from './platform-process.ts'
import { ToolProcess } from './processes.ts'
import { startRealPhone, type PhoneKind, type RealPhone } from './real-phones.ts'

export interface PhoneWishes {
  /** The tone that the phone sends, in Hz. */
  readonly hz?: number
  readonly answers?: 'auto' | 'manual'
}

export interface ExampleRun {
  readonly process: ToolProcess
  /** Returns the rest of the line that it prints with this label. */
  shown(label: string): string
  /** Returns the phone of this user, once it is registered. */
  phone(user: string, wishes?: PhoneWishes): Promise<Baresip>
  /** Returns a phone of any kind, once it is registered. */
  phoneOf(kind: PhoneKind, user: string, wishes?: PhoneWishes): Promise<RealPhone>
  /** Stops the phones, which unregister. */
  stopPhones(): Promise<void>
  close(): Promise<void>
}

/** Starts an example, with a platform of its own unless `beside` is given. */
export async function startExample(name: string, beside?: Platform): Promise<ExampleRun> {
  const child = new ToolProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, '../../examples/example.ts'), name, '--port', '0'],
    env: { ...codeCache(), ...(beside === undefined ? {} : placeOf(beside)) },
  })
  try {
    await Promise.race([
      child.lines.next('the example to be ready', (line) => line.includes('Ctrl-C')),
      child.exited.then(() => {
        throw new Error('the example ended')
      }),
    ])
  } catch (error) {
    await child.stop('SIGINT', 45_000)
    throw new Error(`${String(error)}\n${child.output}`)
  }
  const shown = (label: string): string => {
    const line = child.stdout.split('\n').find((text) => text.trimStart().startsWith(label))
    if (line === undefined) throw new Error(`"${label}" is not printed:\n${child.stdout}`)
    return line.trimStart().slice(label.length).trim()
  }
  const phones: { stop(): Promise<void> }[] = []
  const settingsOf = (user: string) => {
    const [, address = '', port] = /^sip:([^:]+):(\d+)/.exec(shown('outbound proxy')) ?? []
    return {
      username: user,
      password: shown(`${user} `),
      realm: shown('domain'),
      proxy: { address, port: Number(port) },
    }
  }
  const stopPhones = async (): Promise<void> => {
    await Promise.all(phones.splice(0).map((phone) => phone.stop()))
  }
  return {
    process: child,
    shown,
    async phone(user, { hz = 300, answers = 'manual' } = {}) {
      const says = tone(hz, 60_000)
      // It may call again at once, and a late packet of its last call would make a jitter buffer drop all of the next.
      const phone = await startBaresip({ ...settingsOf(user), says, answers, hasJitterBuffer: false })
      phones.push(phone)
      const { ok, reason } = await phone.registered()
      if (!ok) throw new Error(`${user} is not registered: ${reason}`)
      return phone
    },
    async phoneOf(kind, user, { hz = 300, answers = 'manual' } = {}) {
      const phone = await startRealPhone({ ...settingsOf(user), kind, hz, answers })
      phones.push(phone)
      return phone
    },
    stopPhones,
    async close() {
      await stopPhones()
      const { code } = await child.stop('SIGINT', 45_000)
      if (code !== 0) throw new Error(`the example ended with ${code}\n${child.output}`)
    },
  }
}

const placeOf = ({ httpPort, sip }: Platform): Readonly<Record<string, string>> => ({
  SWITCHHOOK_ADMIN_API_KEY: adminApiKey,
  SWITCHHOOK_HTTP_PORT: String(httpPort),
  SWITCHHOOK_SIP_PORT: String(sip.port),
})

/** Resolves with the index after the event, from which the next one may be awaited. */
export async function happens(phone: Baresip, type: string, from = 0): Promise<number> {
  const event = await phone.events
    .next(`${type} of a phone`, (candidate) => candidate.type === type, { from })
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${phone.output}`)
    })
  return phone.events.items.indexOf(event) + 1
}
