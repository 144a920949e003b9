// The socket of one session with its application: opened once, reopened when it breaks, closed with the session.
import type { AppMessage, AppSocket, AppSocketEnd, AppSockets } from '../../contracts/app-socket.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { b3Of, createSid } from '../../lib/ids.ts'
import { Pace } from '../../lib/bounds/pace.ts'
import type { ThreadTime } from '../../lib/bounds/thread-time.ts'
import { toAppError } from '../journal/refusals.ts'
import type { LegOptions } from '../leg/leg-options.ts'
import { stopped } from '../session/stop.ts'
import { readFrame, type CommandFrame, type SentFrame } from './frames.ts'
import { Outbox } from './outbox.ts'
import { PacedMessages } from './paced-messages.ts'

export interface ChannelListener {
  command(frame: CommandFrame): void
  /** Reports an invalid message. `content` is its beginning. */
  malformed(fault: string, content: string): void
  opened(connection: number, dropped: number): void
  /** Reports that the socket broke and is being reopened. */
  lost(end: AppSocketEnd): void
  /** Reports that the channel is over for good. Called once. */
  closed(end: ChannelEnd): void
  /** Passes on the answer to the resumption after a socket broke. */
  resumed(data: unknown): void
  /** Reports an ack that no question waits for. */
  strayAck(msgid: string): void
  /** Reports that the application sends too fast. */
  slowed(): void
}

export interface ChannelEnd extends AppSocketEnd {
  readonly by: 'application' | 'platform'
  /** Set if the socket was never open. The first question has then failed with the reason. */
  readonly isOpened?: false
}

export interface ChannelOptions {
  readonly account_sid: string
  /** Absolute, ws or wss. */
  readonly hook: Hook
  readonly sockets: AppSockets
  readonly clock: Clock
  readonly log: LegOptions['log']
  readonly listener: ChannelListener
  /** Counts a received message, and returns for how many ms no more may be read. */
  readonly paceHeard: (message: AppMessage) => number
  readonly threadTime: ThreadTime
}

const backOffMs = [500, 1000, 2000, 4000]
const maxConnections = 5
/** A socket that has lasted this long did not fail to connect: the count of attempts starts over. */
const lastingMs = 60_000
/** The rate of invalid messages. Each is answered, so a socket that sends more is closed. */
const malformedPace = { burst: 100, perSecond: 1 }
/** An application that has left this much unread counts as gone. */
const maxBufferedBytes = 1024 * 1024

type State = 'new' | 'connecting' | 'open' | 'waiting' | 'closed'

export class Channel {
  readonly #options: ChannelOptions
  readonly #outbox: Outbox
  readonly #malformedPace: Pace
  readonly #heard: PacedMessages
  /** The reason why the platform has closed its socket. Messages that still arrive are ignored. */
  #refusal: AppSocketEnd | undefined
  readonly #life = new AbortController()
  #state: State = 'new'
  #socket: AppSocket | undefined
  #connections = 0
  #openedAt = 0
  /** The end of the socket while messages that it brought before still wait. */
  #ended: AppSocketEnd | undefined
  #again: Timer | undefined
  /** The first message of a socket. */
  #greeting: { readonly frame: SentFrame; msgid: string; isAcked: boolean } | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#outbox = new Outbox(options.clock)
    this.#malformedPace = new Pace({ ...malformedPace, clock: options.clock })
    this.#heard = new PacedMessages({
      clock: options.clock,
      pace: options.paceHeard,
      take: (message) => options.threadTime.charge(options.account_sid, () => this.#take(message)),
      held: () => {
        this.#socket?.pause()
        options.listener.slowed()
      },
      freed: () => {
        if (this.#ended === undefined) this.#socket?.resume()
        else this.#gone(this.#ended)
      },
      exceeded: () => this.#refuse(1008, 'too many messages at once'),
    })
  }

  get url(): string {
    return this.#options.hook.url
  }

  /** True until the first question, which opens the socket. */
  get isNew(): boolean {
    return this.#state === 'new'
  }

  /** True if the socket is open, or will be again. */
  get isUsable(): boolean {
    return this.#state !== 'closed'
  }

  /** Sends a question, and resolves with the data of its ack. Throws AppError hook_* or the signal's reason. */
  ask(frame: SentFrame, signal?: AbortSignal): Promise<unknown> {
    if (this.#state === 'closed') return Promise.reject(isGone())
    const msgid = createSid()
    const isFirst = this.#state === 'new'
    const answer = this.#outbox.ask(msgid, toText(frame, msgid), { signal, isFirst })
    if (isFirst) {
      const greeting = { frame, msgid, isAcked: false }
      this.#greeting = greeting
      answer.then(
        () => (greeting.isAcked = true),
        () => undefined,
      )
      void this.#connect(true)
    }
    return answer
  }

  tell(frame: SentFrame): void {
    if (this.#state === 'closed') return
    const msgid = createSid()
    this.#outbox.tell(msgid, toText(frame, msgid))
  }

  /** Closes the channel for the platform. Messages that wait for the first question are sent first. */
  close(code: 1000 | 1001, because: string): void {
    if (this.#state === 'closed') return
    const socket = this.#socket
    if (this.#state === 'new' && !this.#outbox.isEmpty) return void this.#tellAndClose(because)
    this.#end({ code, because, by: 'platform' })
    if (socket === undefined) this.#life.abort(stopped('done'))
    else socket.close(code, because)
  }

  async #tellAndClose(because: string): Promise<void> {
    await this.#connect(true)
    this.close(1000, because)
  }

  async #connect(isFirst: boolean): Promise<void> {
    const { sockets, hook, account_sid, log, listener } = this.#options
    this.#state = 'connecting'
    this.#connections++
    try {
      let ended: AppSocketEnd | undefined
      const socket = await sockets.open({
        account_sid,
        hook,
        isRetried: isFirst,
        signal: this.#life.signal,
        heard: (message) => {
          if (!this.#isClosed && this.#refusal === undefined) this.#heard.hear(message)
        },
        closed: (end) => {
          ended = end
          if (this.#socket !== undefined) this.#broke(end, this.#socket)
        },
      })
      if (this.#isClosed) return socket.cut()
      this.#state = 'open'
      this.#refusal = undefined
      this.#socket = socket
      this.#openedAt = this.#options.clock.monotonic()
      if (!isFirst) this.#resume()
      listener.opened(
        this.#connections,
        this.#outbox.open((text) => this.#write(text)),
      )
      // The socket may have closed before it was returned.
      if (ended !== undefined) this.#broke(ended, socket)
    } catch (error) {
      if (this.#isClosed) return
      const failure = toAppError(error, log)
      const end = { code: 1006, because: failure.message }
      const unopened = this.#greeting === undefined ? {} : { isOpened: false as const }
      if (isFirst) this.#end({ ...end, by: 'application', ...unopened }, failure)
      else this.#lose(end)
    }
  }

  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Announces the resumed session. If the first answer is still missing, the answer to this message replaces it. */
  #resume(): void {
    const greeting = this.#greeting
    if (greeting === undefined) return
    const msgid = createSid()
    const text = toText({ ...greeting.frame, type: 'session:reconnect' }, msgid)
    if (!greeting.isAcked && this.#outbox.rename(greeting.msgid, msgid, text)) {
      greeting.msgid = msgid
      return
    }
    const asked = this.#outbox.ask(msgid, text, { isFirst: true })
    const { listener } = this.#options
    asked.then(
      (data) => listener.resumed(data),
      () => undefined,
    )
  }

  #write(text: string): void {
    const socket = this.#socket
    socket?.send(text)
    if ((socket?.bufferedBytes ?? 0) > maxBufferedBytes) socket?.cut()
  }

  #take(message: AppMessage): void {
    const { listener } = this.#options
    if (typeof message !== 'string') {
      listener.malformed('a binary message: messages are text', '')
      return this.#refuse(1003, 'messages are text')
    }
    const frame = readFrame(message)
    if (frame.kind === 'malformed') {
      listener.malformed(frame.fault, message.slice(0, 256))
      if (this.#malformedPace.take() > 0) this.#refuse(1008, 'too many messages make no sense')
    } else if (frame.kind === 'command') listener.command(frame)
    else if (!this.#outbox.acked(frame.msgid, frame.data)) listener.strayAck(frame.msgid.slice(0, 64))
  }

  /** Closes the socket without reading its close frame: until then a flood would cost as much as before. */
  #refuse(code: number, because: string): void {
    this.#refusal = { code, because }
    this.#heard.clear()
    if (this.#ended !== undefined) return this.#gone(this.#ended)
    this.#socket?.pause()
    this.#socket?.close(code, because)
  }

  /** Handles the end of a socket, which either side may have closed, once its messages have been handed on. */
  #broke(seen: AppSocketEnd, socket: AppSocket): void {
    if (this.#isClosed || this.#socket !== socket) return
    if (this.#heard.isEmpty) return this.#gone(seen)
    this.#ended = seen
    this.#outbox.hold()
  }

  #gone(seen: AppSocketEnd): void {
    const end = this.#refusal ?? seen
    this.#socket = undefined
    this.#ended = undefined
    this.#heard.clear()
    if (end.code === 1000) return this.#end({ ...end, by: 'application' })
    if (this.#options.clock.monotonic() - this.#openedAt >= lastingMs) this.#connections = 1
    this.#lose(end)
  }

  #lose(end: AppSocketEnd): void {
    this.#outbox.close()
    const delayMs = backOffMs[this.#connections - 1]
    if (this.#connections >= maxConnections || delayMs === undefined)
      return this.#end({ ...end, by: 'application' })
    this.#state = 'waiting'
    this.#options.listener.lost(end)
    this.#again = this.#options.clock.after(delayMs, () => void this.#connect(false))
  }

  #end(end: ChannelEnd, failure?: AppError): void {
    this.#state = 'closed'
    this.#socket = undefined
    this.#again?.cancel()
    this.#heard.clear()
    this.#outbox.fail(failure ?? isGone(end.because))
    this.#options.listener.closed(end)
  }
}

function toText(frame: SentFrame, msgid: string): string {
  const { type, call_sid, hook, data } = frame
  const b3 = b3Of(call_sid, msgid)
  return JSON.stringify({ type, msgid, call_sid, ...(hook === undefined ? {} : { hook }), data, b3 })
}

function isGone(because = 'the application has no socket any more'): AppError {
  return new AppError('hook_unreachable', because, {
    cure: 'Keep the WebSocket of a call open until the platform closes it, and close it with 1000 only when nothing more is to be said.',
  })
}
