// The end of a transfer: two legs that talked with others talk with each other, and the transferor is hung up.
import type { Clock } from '../../lib/clock.ts'
import type { ReferSubscription } from '../../sip/sip.ts'
import type { Leg } from '../leg/leg.ts'
import { Talk, talkOf, type TalkServices } from './talk.ts'

/** The longest time a BYE waits for the response to the last NOTIFY. Many phones ignore a NOTIFY after the BYE. */
const maxNotifyMs = 2_000

/**
 * Starts a talk of the two. The verbs of each continue when the two have parted: verbs that wait for the end of a dial
 * need not be notified that another party talks now. `services` is needed if neither has talked before.
 */
export function join(first: Leg, second: Leg, because: string, services?: TalkServices): void {
  const former = [first, second].map((leg) => ({ leg, talk: talkOf(leg) }))
  const own = former.find(({ leg, talk }) => talk !== undefined && leg.script !== undefined)
  const chosen = (own ?? former.find(({ talk }) => talk !== undefined))?.talk?.services ?? services
  if (chosen === undefined) throw new Error('neither of the two has talked')
  for (const { talk } of former) talk?.leave(because)
  const capture = { parent: [], child: [] }
  new Talk({ legs: [first, second], capture, captureHook: undefined, exitsMediaPath: false }, chosen).start()
}

/** Notifies the transferor that its transfer has succeeded, and hangs it up. */
export function dismissTransferor(by: Leg, subscription: ReferSubscription, clock: Clock): void {
  subscription.notify(200)
  void by.hangUp({ because: 'its far end has transferred the call', after: notified(subscription, clock) })
}

/** Resolves when the far end has responded to the last NOTIFY, or has not responded in time. Never rejects. */
export async function notified(subscription: ReferSubscription, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(maxNotifyMs, resolve)
  void subscription.done.then(resolve)
  await promise
  timer.cancel()
}
