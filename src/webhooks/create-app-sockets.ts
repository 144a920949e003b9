// The sockets of applications over WebSocket: which server is contacted, how often, and how the platform authenticates
// itself.
import { sleep, type Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import { shownUrl } from '../lib/shown-url.ts'
import type { AppSocket, AppSocketRequest, AppSockets } from '../contracts/app-socket.ts'
import type { Socket, Sockets } from '../outgoing/sockets.ts'
import { toRequest } from './hook-request.ts'
import { isWorthRetrying, parseSocketUrl } from './hook-url.ts'

export interface AppSocketsOptions {
  readonly sockets: Sockets
  readonly signingSecret: (account_sid: string) => Promise<string | undefined>
  readonly clock: Clock
  readonly userAgent: string
  /** The longest message that an application may send. */
  readonly maxMessageBytes: number
  /** The interval of pings; 0 sends none. */
  readonly pingMs: number
}

const protocol = 'ws.jambonz.org'
const handshakeMs = 1500
const maxRedirects = 2
/** The limit over all tries and the waits between them, as for a hook over HTTP. */
const totalMs = 20_000
const backOffMs = [500, 1000, 2000, 4000, 6000]

export function createAppSockets(options: AppSocketsOptions): AppSockets {
  const { sockets, signingSecret, clock, userAgent, maxMessageBytes, pingMs } = options

  async function attempt(request: AppSocketRequest, url: string, id: string): Promise<AppSocket> {
    const { account_sid, hook, heard, closed, signal } = request
    // A handshake has no body, so it is signed like a GET without a payload.
    const { headers = {} } = toRequest({
      url: url.replace(/^ws/i, 'http'),
      method: 'GET',
      credentials: hook,
      json: 'null',
      payload: () => undefined,
      id,
      at: clock.now(),
      secret: await signingSecret(account_sid),
      userAgent,
    })
    let stopPings = (): void => undefined
    const socket = await sockets.open({
      url,
      headers,
      protocols: [protocol],
      subject: 'the application',
      handshakeMs,
      maxRedirects,
      maxMessageBytes,
      heard,
      closed(end) {
        stopPings()
        closed(end)
      },
      signal,
    })
    stopPings = keepAlive(socket, pingMs, clock)
    return socket
  }

  return {
    async open(request) {
      const { hook, isRetried, signal } = request
      const { url, retry } = parseSocketUrl(hook.url)
      const deadline = clock.monotonic() + totalMs
      const id = `msg_${createSid()}`
      for (let attempts = 1; ; attempts++) {
        try {
          return await attempt(request, url, id)
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          const waitMs = backOffMs[attempts - 1] ?? 0
          const isOver = !isRetried || clock.monotonic() + waitMs >= deadline
          if (isOver || attempts > retry.retries || !isWorthRetrying(error, retry, 'connection'))
            throw withFacts(error, { url: shownUrl(url), attempts })
          await sleep(waitMs, clock, signal)
          signal.throwIfAborted()
        }
      }
    },
  }
}

/** Sends pings. Returns the function that stops them. */
function keepAlive(socket: Pick<Socket, 'ping'>, everyMs: number, clock: Clock): () => void {
  if (everyMs === 0) return () => undefined
  const ping = (): void => {
    socket.ping()
    timer = clock.after(everyMs, ping)
  }
  let timer = clock.after(everyMs, ping)
  return () => timer.cancel()
}

function withFacts(error: AppError, facts: object): AppError {
  const detail = { ...error.detail, ...facts }
  return new AppError(error.code, error.message, { cause: error.cause, cure: error.cure, detail })
}
