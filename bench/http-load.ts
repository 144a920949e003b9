// A load generator for one URL, run as a child process: keep-alive connections, pipelined requests, one line of JSON.
import net from 'node:net'

// With a body the request is a POST, and {n} in it is another number each time. With a `then` path, every other request
// of a connection is a GET of that path.
const [port, path, token, seconds, connections, depth, body, then] = process.argv.slice(2)
const run = Date.now().toString(36)
let made = 0

function head(method: string, target: string | undefined, more: readonly string[]): string {
  const fixed = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`]
  return [...fixed, ...more, '', ''].join('\r\n')
}

const get = Buffer.from(head('GET', then ?? path, []))
function nextRequest(isThen: boolean): Buffer | string {
  if (body === undefined || isThen) return get
  const text = body.replaceAll('{n}', `${run}-${++made}`)
  const length = Buffer.byteLength(text)
  return head('POST', path, ['Content-Type: application/json', `Content-Length: ${length}`]) + text
}

let completed = 0
let refused = 0
let isOver = false

/** Takes whole responses off the front of `bytes`; returns their number and the rest. */
function take(bytes: Buffer): { responses: number; rest: Buffer } {
  let at = 0
  let responses = 0
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const head = bytes.toString('latin1', at, headEnd)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const end = headEnd + 4 + length
    if (bytes.length < end) break
    if (!head.startsWith('HTTP/1.1 20')) refused += 1
    responses += 1
    at = end
  }
  return { responses, rest: bytes.subarray(at) }
}

function connect(): net.Socket {
  const socket = net.connect(Number(port), '127.0.0.1')
  let rest: Buffer = Buffer.alloc(0)
  let isThen = true
  const send = (): void => {
    isThen = then !== undefined && !isThen
    socket.write(nextRequest(isThen))
  }
  socket.on('connect', () => {
    for (let index = 0; index < Number(depth); index += 1) send()
  })
  socket.on('data', (chunk: Buffer) => {
    const taken = take(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]))
    rest = taken.rest
    if (isOver) return
    completed += taken.responses
    for (let index = 0; index < taken.responses; index += 1) send()
  })
  socket.on('error', () => socket.destroy())
  return socket
}

const startedAt = performance.now()
const sockets = Array.from({ length: Number(connections) }, connect)
setTimeout(
  () => {
    isOver = true
    const elapsedMs = performance.now() - startedAt
    process.stdout.write(`${JSON.stringify({ completed, refused, elapsedMs })}\n`)
    for (const socket of sockets) socket.destroy()
  },
  Number(seconds) * 1000,
)
