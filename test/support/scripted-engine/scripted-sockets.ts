// The sockets of applications over WebSocket, with the test as the other side.
import type {
  AppSocket,
  AppSocketEnd,
  AppSocketRequest,
  AppSockets,
} from '../../../src/contracts/app-socket.ts'
import { AppError } from '../../../src/lib/errors.ts'

export type Frame = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly msgid: string
  readonly data: Readonly<Record<string, unknown>>
}

export class ScriptedSocket implements AppSocket {
  readonly request: AppSocketRequest
  readonly frames: Frame[] = []
  /** The code and reason of the platform's close, if it has closed. */
  closedWith: { readonly code: number; readonly reason: string | undefined } | undefined
  isPaused = false
  bufferedBytes = 0
  #isOver = false

  constructor(request: AppSocketRequest) {
    this.request = request
  }

  send(text: string): void {
    if (!this.#isOver) this.frames.push(JSON.parse(text) as Frame)
  }

  close(code: number, reason?: string): void {
    this.closedWith ??= { code, reason }
    this.end({ code, because: 'the platform closed it' })
  }

  cut(): void {
    this.end({ code: 1006, because: 'cut' })
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns the last frame of a type. */
  last(type: string): Frame {
    const found = this.frames.findLast((frame) => frame.type === type)
    if (found === undefined) throw new Error(`there is no ${type}`)
    return found
  }

  typed(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  /** Sends a message as the application. */
  say(message: object | string | Uint8Array): void {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array
    this.request.heard(isRaw ? message : JSON.stringify(message))
  }

  ack({ msgid }: Frame, data?: unknown): void {
    this.say({ type: 'ack', msgid, ...(data === undefined ? {} : { data }) })
  }

  command(command: string, data: unknown, more: object = {}): void {
    this.say({ type: 'command', command, data, ...more })
  }

  /** Ends the socket, from either side. */
  end(end: AppSocketEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.request.closed(end)
  }
}

export class ScriptedSockets implements AppSockets {
  readonly opened: ScriptedSocket[] = []
  readonly asked: AppSocketRequest[] = []
  /** The number of connections to refuse next. */
  refusals = 0
  /** Called with each socket that is opened. */
  onOpen: (socket: ScriptedSocket) => void = () => undefined

  async open(request: AppSocketRequest): Promise<AppSocket> {
    this.asked.push(request)
    await Promise.resolve()
    if (this.refusals > 0) {
      this.refusals--
      throw new AppError('hook_unreachable', 'the application refused the connection')
    }
    request.signal.throwIfAborted()
    const socket = new ScriptedSocket(request)
    this.opened.push(socket)
    this.onOpen(socket)
    return socket
  }

  get last(): ScriptedSocket {
    const socket = this.opened.at(-1)
    if (socket === undefined) throw new Error('no socket was opened')
    return socket
  }
}
