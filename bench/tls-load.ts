// Phones over TLS and secure WebSockets, from many loopback addresses. tls.ts runs this as a separate process.
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { connect } from 'node:tls'
import { WebSocket } from 'ws'
import { digestResponse } from '../src/sip/auth/digest.ts'
import { browserRequest } from '../test/support/web-socket-phone.ts'

export type TlsLoadOptions = HandshakeOptions | RegistrationOptions

interface HandshakeOptions {
  readonly kind: 'handshakes'
  readonly port: number
  readonly count: number
  /** The phones use addresses 127.<network>.x.y. */
  readonly network: number
}

interface RegistrationOptions {
  readonly kind: 'registrations'
  readonly port: number
  readonly count: number
  readonly perUser: number
  readonly realm: string
  readonly password: string
}

const atOnce = 16
// Fewer than a stranger may send in a burst.
const perAddress = 20

const options = JSON.parse(process.argv[2] ?? '{}') as TlsLoadOptions
const address = (network: number, index: number): string => {
  const host = Math.floor(index / perAddress)
  return `127.${network}.${Math.floor(host / 250)}.${(host % 250) + 1}`
}

/** Makes a full handshake for each phone: no session is resumed. */
async function shakeHands({ port, network }: HandshakeOptions, index: number): Promise<void> {
  const localAddress = address(network, index)
  const raw = createConnection({ host: '127.0.0.1', port, localAddress })
  await once(raw, 'connect')
  const socket = connect({ socket: raw, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const via = { Via: `SIP/2.0/TLS ${localAddress}:${raw.localPort};branch=z9hG4bKtls${index}` }
  socket.write(browserRequest('OPTIONS', 'sip:127.0.0.1', via))
  await once(socket, 'data')
  socket.destroy()
}

const phones: WebSocket[] = []

async function register(wish: RegistrationOptions, index: number): Promise<void> {
  const { port, perUser, realm, password } = wish
  const socket = new WebSocket(`wss://127.0.0.1:${port}/`, ['sip'], {
    localAddress: address(10, index),
    rejectUnauthorized: false,
    perMessageDeflate: false,
  })
  phones.push(socket)
  await once(socket, 'open')
  const username = `user${Math.floor(index / perUser)}`
  const uri = `sip:${realm}`
  const common = {
    To: `<sip:${username}@${realm}>`,
    Contact: `<sip:phone${index}@browser.invalid;transport=ws>;expires=3600`,
    'Call-ID': `bench-${index}`,
  }
  const ask = async (more: Readonly<Record<string, string>>): Promise<string> => {
    const answer = once(socket, 'message')
    socket.send(browserRequest('REGISTER', uri, { ...common, ...more }))
    const [message] = await answer
    return String(message)
  }
  const nonce = /nonce="([^"]+)"/.exec(await ask({ CSeq: '1 REGISTER' }))?.[1] ?? ''
  const facts = { username, realm, nonce, uri }
  const response = digestResponse({
    ...facts,
    algorithm: 'MD5',
    qop: undefined,
    method: 'REGISTER',
    password,
  })
  const said = Object.entries({ ...facts, response }).map(([name, value]) => `${name}="${value}"`)
  const answer = await ask({ CSeq: '2 REGISTER', Authorization: `Digest ${said.join(', ')}` })
  if (!answer.startsWith('SIP/2.0 200')) throw new Error(answer.split('\r\n', 1)[0])
}

let next = 0
const one = (): Promise<void> =>
  options.kind === 'handshakes' ? shakeHands(options, next++) : register(options, next++)
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (next < options.count) await one()
  }),
)
if (options.kind === 'registrations') {
  console.log(`registered ${phones.filter(({ readyState }) => readyState === WebSocket.OPEN).length}`)
  await once(process, 'SIGTERM')
  process.exit(0)
}
