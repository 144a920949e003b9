// The BYEs to the far ends of calls whose process has ended: one after another, so that thousands of lost calls neither
// flood the network nor delay new calls.
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { LeftDialog, Sip } from '../../sip/sip.ts'

export interface FarewellOptions {
  readonly sip: () => Pick<Sip, 'byeIn'>
  readonly clock: Clock
  readonly log: Logger
}

// 50 a second. Each is repeated for 32 s at most, so 1,600 are open at one time.
const everyMs = 20
const maxWaiting = 10_000

export function createFarewells({ sip, clock, log }: FarewellOptions) {
  const waiting: (() => Promise<number>)[] = []
  let isBusy = false

  function next(): void {
    const send = waiting.shift()
    isBusy = send !== undefined
    if (send === undefined) return
    send().then(
      (status) => log.info({ status }, 'the far end of a lost call was hung up'),
      (error: unknown) => log.warn({ err: error }, 'the far end of a lost call could not be hung up'),
    )
    clock.after(everyMs, next)
  }

  return (dialog: LeftDialog, headers: readonly HeaderField[]): void => {
    if (waiting.length >= maxWaiting) return
    waiting.push(() => sip().byeIn(dialog, headers))
    if (!isBusy) next()
  }
}
