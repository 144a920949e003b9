// The ability to wait in a queue, and to dequeue callers.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { TalkServices } from '../bridge/talk.ts'
import type { Leg } from '../leg/leg.ts'
import { dequeue } from '../rooms/dequeue.ts'
import { enqueue, leaveQueue } from '../rooms/enqueue.ts'
import type { Party } from '../rooms/party.ts'
import type { Queueing } from '../verb/abilities.ts'
import type { LegVoice } from '../voice/voice.ts'
import type { AbilityNeeds } from './needs.ts'

export interface QueueingOptions {
  readonly leg: Leg
  readonly needs: AbilityNeeds
  readonly nested: NestedVerbs
  readonly voice: Pick<LegVoice, 'borrow'>
  /** Handles a REFER of the far end. */
  readonly refer: TalkServices['refer']
}

export function createQueueing({ leg, needs, nested, voice, refer }: QueueingOptions): Queueing {
  const { clock } = needs
  const borrow: TalkServices['borrow'] = (url, until) => voice.borrow({ url }, until)
  const services = { clock, nested, refer, borrow, holdHook: undefined, anchorsMedia: false }
  const party: Party = { leg, services }
  return {
    enqueue: (request) => enqueue(request, party, needs),
    dequeue: (request) => dequeue(request, party, needs),
    leave: () => leaveQueue(leg),
  }
}
