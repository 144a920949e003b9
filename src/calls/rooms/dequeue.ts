// The verb dequeue: a call waits for a caller in a queue, and talks with it.
import { talkToItsEnd } from '../bridge/talk-to-its-end.ts'
import { talkOf } from '../bridge/talk.ts'
import type { Leg } from '../leg/leg.ts'
import type { Party } from './party.ts'
import type { DequeueOutcome, DequeueRequest } from '../verb/queue-requests.ts'
import type { RoomNeeds } from './needs.ts'

/** Resolves when the talk is over, or no caller has come. Throws queue_full. */
export async function dequeue(
  request: DequeueRequest,
  party: Party,
  needs: RoomNeeds,
): Promise<DequeueOutcome> {
  const { name, signal, beeps } = request
  const { leg } = party
  if (signal.aborted) return 'hangup'
  const caller = await nextCaller(request, party, needs)
  if (caller === 'timeout') {
    const { maxWaitMs = 0 } = request
    const sentence = `no caller came into the queue "${name}" within ${maxWaitMs / 1000} s`
    leg.journal.note({ type: 'note', sentence })
  }
  if (typeof caller === 'string') return caller
  const talk = talkOf(leg)
  const { clock } = needs
  const stopBeep = beeps ? beep(leg, needs) : undefined
  await talkToItsEnd(leg, { signal, otherwise: 'the verb was stopped', clock })
  stopBeep?.()
  return talk?.hasFailed === true ? 'hangup' : 'complete'
}

/** Resolves in the turn after the one in which the two begin to talk. */
async function nextCaller(
  { name, wants, maxWaitMs, signal }: DequeueRequest,
  party: Party,
  { queues, clock }: RoomNeeds,
): Promise<Party | 'timeout' | 'hangup'> {
  const { leg } = party
  const { promise, resolve } = Promise.withResolvers<Party | 'timeout' | 'hangup'>()
  let hasTaken = false
  const took = (caller: Party): void => {
    hasTaken = true
    resolve(caller)
  }
  const { account_sid } = leg.journal.facts.started
  const waiting = queues.take({ account_sid, name }, { party, wants, took })
  if (hasTaken) return promise
  leg.journal.note({
    type: 'awaits-caller',
    queue: name,
    ...(wants === undefined ? {} : { call_sid: wants }),
  })
  const giveUp = (outcome: 'timeout' | 'hangup') => (): void => {
    if (waiting.quit()) resolve(outcome)
  }
  const stop = giveUp('hangup')
  const timer = maxWaitMs === undefined ? undefined : clock.after(maxWaitMs, giveUp('timeout'))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await promise
  } finally {
    timer?.cancel()
    signal.removeEventListener('abort', stop)
  }
}

const beepSlot = 'beep'
const beepMs = 500

/** Plays a tone together with the caller's voice. Returns the function that ends it. */
function beep(leg: Leg, { clock }: Pick<RoomNeeds, 'clock'>): () => void {
  const clip = { generated: 'beep' } as const
  void leg.media.sound.lay(beepSlot, { clip, rounds: 1, staysUnderPrompts: false })
  const end = (): void => leg.media.sound.remove(beepSlot)
  const timer = clock.after(beepMs, end)
  return () => {
    timer.cancel()
    if (!leg.hasEnded) end()
  }
}
