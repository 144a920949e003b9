// A scanner: sends OPTIONS, REGISTER and INVITE in turn at a steady rate from the given number of addresses of the
// loopback network, and reports what came back. scanner.ts runs it as a separate process.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

export interface ScannerOptions {
  readonly port: number
  readonly realm: string
  readonly perSecond: number
  readonly seconds: number
  readonly addresses: number
}

export interface ScannerResult {
  readonly sent: number
  readonly answered: number
  readonly seconds: number
}

const options = JSON.parse(process.argv[2] ?? '{}') as ScannerOptions
const methods = ['OPTIONS', 'REGISTER', 'INVITE']
const stepMs = 5
// The time for responses at the end.
const lingerMs = 300

let answered = 0

async function open(index: number): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', () => (answered += 1))
  socket.bind(0, `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`)
  await once(socket, 'listening')
  return socket
}

function request(count: number, socket: Socket): string {
  const method = methods[count % methods.length] ?? ''
  const { address, port } = socket.address()
  const uri =
    method === 'REGISTER' ? `sip:${options.realm}` : `sip:${1_000 + (count % 1_000)}@${options.realm}`
  return [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP ${address}:${port};branch=z9hG4bK-scan-${count};rport`,
    'Max-Forwards: 70',
    `From: "scanner" <sip:${1_000 + (count % 1_000)}@${options.realm}>;tag=${count.toString(16)}`,
    `To: <sip:${1_000 + (count % 1_000)}@${options.realm}>`,
    `Call-ID: ${count}-scan@${address}`,
    `CSeq: 1 ${method}`,
    `Contact: <sip:scanner@${address}:${port}>`,
    'User-Agent: scanner',
    'Accept: application/sdp',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
}

const sockets = await Promise.all(Array.from({ length: options.addresses }, (_, index) => open(index)))
const begunAt = performance.now()
let sent = 0
await new Promise<void>((resolve) => {
  const timer = setInterval(() => {
    const passedMs = Math.min(performance.now() - begunAt, options.seconds * 1_000)
    for (const due = (passedMs * options.perSecond) / 1_000; sent < due; sent += 1) {
      const socket = sockets[sent % sockets.length]
      socket?.send(request(sent, socket), options.port, '127.0.0.1')
    }
    if (passedMs < options.seconds * 1_000) return
    clearInterval(timer)
    resolve()
  }, stepMs)
})
const seconds = (performance.now() - begunAt) / 1_000
await new Promise((resolve) => setTimeout(resolve, lingerMs))
for (const socket of sockets) socket.close()
console.log(JSON.stringify({ sent, answered, seconds } satisfies ScannerResult))
