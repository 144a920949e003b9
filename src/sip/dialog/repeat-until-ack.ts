// Retransmission of a 2xx to INVITE until its ACK arrives, over every transport: RFC 3261 §13.3.1.4.
import type { Clock, Timer } from '../../lib/clock.ts'
import { transactionTimeoutMs, type Timers } from '../timers.ts'

export interface RepeatOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Sends the same response once more. */
  readonly repeat: () => void
  /** Called when no ACK arrived for 64*T1. */
  readonly timedOut: () => void
}

/** Returns a function that stops: on the ACK, or when the dialog is over. */
export function repeatUntilAck({ clock, timers, repeat, timedOut }: RepeatOptions): () => void {
  let intervalMs = timers.t1Ms
  const again = (): void => {
    repeat()
    intervalMs = Math.min(intervalMs * 2, timers.t2Ms)
    repetition = clock.after(intervalMs, again)
  }
  let repetition: Timer = clock.after(intervalMs, again)
  const stop = (): void => {
    repetition.cancel()
    deadline.cancel()
  }
  const deadline = clock.after(transactionTimeoutMs(timers), () => {
    stop()
    timedOut()
  })
  return stop
}
