// A small application server: greets the caller, plays a tone, asks for digits and says which ones were pressed. With a
// vendor of speech recognition it asks for words instead, and says them back.
// It uses nothing but Node, so that it can be read as a recipe for any language. Run it with `npm run demo`.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HelloOptions {
  readonly port?: number
  readonly host?: string
  /** The account's webhook secret; without one the signatures of incoming requests are not checked. */
  readonly webhookSecret?: string
  readonly print?: (line: string) => void
  /** The recogniser of the caller's words; without one the caller is asked for digits. */
  readonly recognizer?: Recognizer
}

export interface Recognizer {
  readonly vendor: string
  readonly label: string
  readonly language: string
}

export interface StatusEvent {
  readonly call_sid: string
  readonly call_status: string
  readonly sip_status: number
  readonly [field: string]: unknown
}

export interface HelloApplication {
  /** The URL that the platform uses: `<url>/call` is the call hook, `<url>/status` the call status hook. */
  readonly url: string
  /** Every status event, oldest first. */
  readonly statusLog: readonly StatusEvent[]
  /** Refuses requests that are not signed with this secret, from now on. */
  requireSignature(webhookSecret: string): void
  close(): Promise<void>
}

type Verb = { readonly verb: string; readonly [option: string]: unknown }
type Payload = Record<string, unknown>

/** The sentences that the caller hears. */
export const phrases = {
  greeting: 'Hello from Switchhook.',
  question: 'Please enter up to four digits, and then the pound key.',
  goodbye: (digits: string): string =>
    digits === '' ? 'I heard no digits. Goodbye.' : `You pressed ${digits.split('').join(' ')}.`,
  openQuestion: 'What can I do for you?',
  saidBack: (words: string): string => (words === '' ? 'I heard nothing. Goodbye.' : `You said: ${words}`),
} as const

/** The tone between greeting and question: A4, which no voice holds as steadily. */
export const toneHz = 440

const maxBodyBytes = 1024 * 1024
const maxAgeSeconds = 300

export async function startHelloApplication(options: HelloOptions = {}): Promise<HelloApplication> {
  const { port = 0, host = '127.0.0.1', recognizer, print = (line) => console.log(line) } = options
  const statusLog: StatusEvent[] = []
  let secret = options.webhookSecret
  let url = ''

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (request.method === 'GET' && path === '/tone.wav') {
      response.setHeader('Content-Type', 'audio/wav').end(toneWav({ hz: toneHz, ms: 333 }))
      return
    }
    if (request.method !== 'POST') return void response.writeHead(404).end()
    const body = await readBody(request)
    if (secret !== undefined && !isSignedWith(secret, request.headers['jambonz-signature'], body)) {
      print(`POST ${path}: refused, the signature does not match`)
      return void response.writeHead(401).end()
    }
    const payload = JSON.parse(body) as Payload
    const reply = (what: string, verbs: readonly Verb[]): void => {
      print(`POST ${path}: ${what}; answers ${verbs.map(({ verb }) => verb).join(', ')}`)
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(verbs))
    }
    if (path === '/call') {
      const { from, to } = payload
      reply(`a call from ${String(from)} to ${String(to)}`, [
        ...greet(url),
        recognizer === undefined ? askForDigits : askForWords(recognizer),
      ])
    } else if (path === '/digits') {
      const digits = typeof payload['digits'] === 'string' ? payload['digits'] : ''
      reply(digits === '' ? 'no digits' : `digits ${digits}`, sayBack(digits))
    } else if (path === '/words') {
      const { words, what } = readWords(payload)
      reply(what, [{ verb: 'say', text: phrases.saidBack(words) }, { verb: 'hangup' }])
    } else if (path === '/status') {
      statusLog.push(payload as StatusEvent)
      print(`POST /status: ${String(payload['call_status'])} (SIP ${String(payload['sip_status'])})`)
      response.writeHead(204).end()
    } else response.writeHead(404).end()
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      print(`error: ${String(error)}`)
      if (!response.headersSent) response.writeHead(400)
      response.end()
    })
  })
  server.listen(port, host)
  await once(server, 'listening')
  url = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`

  return {
    url,
    statusLog,
    requireSignature: (webhookSecret) => void (secret = webhookSecret),
    async close() {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}

function greet(url: string): Verb[] {
  return [
    { verb: 'say', text: phrases.greeting },
    { verb: 'play', url: `${url}/tone.wav` },
  ]
}

const askForDigits: Verb = {
  verb: 'gather',
  input: ['digits'],
  minDigits: 1,
  maxDigits: 4,
  finishOnKey: '#',
  interDigitTimeout: 3,
  timeout: 10,
  say: { text: phrases.question },
  actionHook: '/digits',
}

function askForWords(recognizer: Recognizer): Verb {
  return {
    verb: 'gather',
    input: ['speech'],
    timeout: 20,
    recognizer,
    say: { text: phrases.openQuestion },
    actionHook: '/words',
  }
}

/** Returns what was said, and a sentence about the hook. */
function readWords({ reason, details, speech }: Payload): { readonly words: string; readonly what: string } {
  const { alternatives } = (speech ?? {}) as { readonly alternatives?: readonly { transcript: string }[] }
  const words = alternatives?.[0]?.transcript ?? ''
  if (words !== '') return { words, what: `heard "${words}"` }
  return { words, what: `${String(reason)}${typeof details === 'string' ? `, ${details}` : ''}` }
}

function sayBack(digits: string): Verb[] {
  return [{ verb: 'say', text: phrases.goodbye(digits) }, { verb: 'hangup' }]
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Verifies a signature. The header reads `t=<unix seconds>,v1=<hex>`; the digest is HMAC-SHA256 over `<t>.<body as
 * received>`. Any of several v1 entries may match, so that a secret can be changed without a gap.
 */
export function isSignedWith(secret: string, header: string | string[] | undefined, body: string): boolean {
  const parts = String(header ?? '').split(',')
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || age > maxAgeSeconds) return false
  const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest()
  return parts
    .filter((part) => part.startsWith('v1='))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected))
}

export interface ToneOptions {
  readonly hz: number
  readonly ms: number
  /** The silence after the tone. */
  readonly silentMs?: number
}

/** Returns a WAV file of 8000 samples a second, 16 bits, one channel. */
export function toneWav({ hz, ms, silentMs = 0 }: ToneOptions): Buffer {
  const rate = 8000
  const heard = Math.floor((rate * ms) / 1000)
  const samples = heard + Math.floor((rate * silentMs) / 1000)
  const file = Buffer.alloc(44 + samples * 2)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(36 + samples * 2, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(samples * 2, 40)
  for (let index = 0; index < heard; index++) {
    file.writeInt16LE(Math.round(10_000 * Math.sin((2 * Math.PI * hz * index) / rate)), 44 + index * 2)
  }
  return file
}
