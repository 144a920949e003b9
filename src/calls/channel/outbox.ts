// The ordered messages to an application over WebSocket. They wait while there is no socket; those without an ack are
// sent again on the next one. Bounded: messages that are not questions are dropped first.
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

interface Message {
  readonly msgid: string
  readonly text: string
  /** Set if the message needs an ack. */
  readonly ack?: Awaited
}

interface Awaited {
  readonly resolve: (data: unknown) => void
  readonly reject: (error: unknown) => void
  timer: Timer | undefined
}

interface AskOptions {
  readonly signal?: AbortSignal | undefined
  /** True to send it before all messages that wait for a socket. */
  readonly isFirst?: boolean
}

const maxWaiting = 500
const maxWaitingBytes = 1024 * 1024
const ackMs = 5000

export class Outbox {
  readonly #clock: Clock
  #waiting: Message[] = []
  #waitingBytes = 0
  /** Messages that have been sent and have no ack yet. */
  readonly #unacked = new Map<string, Message>()
  #send: ((text: string) => void) | undefined
  /** The messages that were dropped since the last socket opened. */
  #dropped = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Sends a question. The time for the ack begins when it is sent; an abort of the signal withdraws the question. */
  ask(msgid: string, text: string, { signal, isFirst = false }: AskOptions = {}): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    const withdraw = (): void => {
      this.#forget(msgid)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', withdraw, { once: true })
    const message = { msgid, text, ack: { resolve, reject, timer: undefined } }
    if (isFirst) this.#keep([message, ...this.#waiting])
    else this.#put(message)
    return promise.finally(() => signal?.removeEventListener('abort', withdraw))
  }

  /**
   * Replaces the text and the id of a waiting question, and moves it to the front. Returns false if it no longer waits.
   */
  rename(msgid: string, next: string, text: string): boolean {
    const message = this.#waiting.find((one) => one.msgid === msgid)
    if (message?.ack === undefined) return false
    const others = this.#waiting.filter((one) => one !== message)
    this.#keep([{ msgid: next, text, ack: message.ack }, ...others])
    return true
  }

  tell(msgid: string, text: string): void {
    this.#put({ msgid, text })
  }

  /** Returns false if no question waits for it. */
  acked(msgid: string, data: unknown): boolean {
    const message = this.#unacked.get(msgid)
    if (message?.ack === undefined) return false
    this.#forget(msgid)
    message.ack.resolve(data)
    return true
  }

  /** Sends all waiting messages over a new socket. Returns the number of messages that were dropped meanwhile. */
  open(send: (text: string) => void): number {
    this.#send = send
    const waiting = this.#waiting
    this.#keep([])
    for (const message of waiting) this.#sendNow(message)
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Sends nothing more over the socket. Acks that were received before still count. */
  hold(): void {
    this.#send = undefined
  }

  /** Notes that the socket is gone. Messages without an ack are sent first on the next one. */
  close(): void {
    this.#send = undefined
    const unacked = [...this.#unacked.values()]
    this.#unacked.clear()
    for (const { ack } of unacked) ack?.timer?.cancel()
    this.#keep([...unacked, ...this.#waiting])
  }

  /** Fails all questions, as there will be no other socket. */
  fail(error: AppError): void {
    const messages = [...this.#unacked.values(), ...this.#waiting]
    this.#unacked.clear()
    this.#keep([])
    this.#send = undefined
    for (const { ack } of messages) {
      ack?.timer?.cancel()
      ack?.reject(error)
    }
  }

  #put(message: Message): void {
    if (this.#send !== undefined) return this.#sendNow(message)
    this.#waiting.push(message)
    this.#waitingBytes += message.text.length
    while (this.#waiting.length > maxWaiting || this.#waitingBytes > maxWaitingBytes) this.#dropOne()
  }

  #dropOne(): void {
    const index = Math.max(
      0,
      this.#waiting.findIndex(({ ack }) => ack === undefined),
    )
    const [dropped] = this.#waiting.splice(index, 1)
    if (dropped === undefined) return
    this.#waitingBytes -= dropped.text.length
    this.#dropped++
    dropped.ack?.reject(
      new AppError('overloaded', 'too many messages wait for the socket of the application'),
    )
  }

  #sendNow(message: Message): void {
    const { msgid, ack } = message
    if (ack !== undefined) {
      this.#unacked.set(msgid, message)
      ack.timer = this.#clock.after(ackMs, () => {
        this.#forget(msgid)
        ack.reject(new AppError('hook_timeout', 'the application sent no ack in time', { cure: noAckCure }))
      })
    }
    this.#send?.(message.text)
  }

  #forget(msgid: string): void {
    this.#unacked.get(msgid)?.ack?.timer?.cancel()
    this.#unacked.delete(msgid)
    const kept = this.#waiting.filter((message) => message.msgid !== msgid)
    if (kept.length < this.#waiting.length) this.#keep(kept)
  }

  /** Replaces the list of waiting messages. */
  #keep(waiting: Message[]): void {
    this.#waiting = waiting
    this.#waitingBytes = waiting.reduce((sum, { text }) => sum + text.length, 0)
  }
}

const noAckCure = 'Send {"type": "ack", "msgid": ...} within five seconds of each message that needs one.'
