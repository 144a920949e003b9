// Sorts SIP messages by call: into the journal of the leg that they belong to, or aside until there is such a leg.
import { headerOf, type SipMessage, type SipRequest } from '../../sip/message/message.ts'
import { tagOf } from '../../sip/message/name-addr.ts'
import type { IncomingInvite, WireEvent } from '../../sip/sip.ts'
import type { SipFact } from './journal.ts'
import type { JournalWriter } from './journal-writer.ts'
import { toSipFact } from './sip-text.ts'

/** The most INVITEs without a leg yet: those in authentication, and those that the stack refused. */
const maxThreadsAside = 500
const maxEventsAside = 32

interface Thread {
  /** The CSeq of the incoming INVITE. The same Call-ID with another CSeq is a new attempt, not a retransmission. */
  readonly cseq: string | undefined
  readonly aside: SipFact[]
  journal: JournalWriter | undefined
}

/** The dialogs of INVITEs that the platform sends. */
interface Made {
  readonly journal: JournalWriter
  /** The tags of the platform in them. */
  readonly tags: Set<string>
  /** The method of requests that are left out, together with their responses. */
  readonly without: string | undefined
}

export class WireTap {
  readonly #threads = new Map<string, Thread>()
  /** A proxy may send such an INVITE back here, to another account, with the same Call-ID. */
  readonly #made = new Map<string, Made>()
  /** The journals of received INVITEs, by the tag of the platform: another account may send the same Call-ID. */
  readonly #taken = new Map<string, Map<string, JournalWriter>>()
  readonly #waiting = new Set<string>()

  record(event: WireEvent): void {
    const { callId, message } = event
    const taken = this.#taken.get(callId)?.get(ownTagIn(event) ?? '')
    if (taken !== undefined) return note(toSipFact(event), taken)
    const isInitial = message.kind === 'request' && isInitialInvite(message)
    let thread = this.#threads.get(callId)
    if (event.direction === 'received' && isInitial) {
      const cseq = headerOf(message, 'cseq')
      if (thread === undefined || thread.cseq !== cseq) thread = this.#begin(callId, cseq)
    } else {
      const made = this.#made.get(callId)
      const tag = made && ownTagIn(event)
      if (isInitial && tag !== undefined) made?.tags.add(tag)
      if (made !== undefined && (thread === undefined || (tag !== undefined && made.tags.has(tag))))
        return noteMade(event, made)
    }
    if (thread === undefined) return
    if (thread.journal !== undefined) note(toSipFact(event), thread.journal)
    else if (thread.aside.length < maxEventsAside) thread.aside.push(toSipFact(event))
  }

  /** Writes messages with the INVITE's Call-ID to `journal` from now on, and adds those seen so far. */
  attach({ callId, localTag, request, raw, remote }: IncomingInvite, journal: JournalWriter): void {
    const taken = this.#taken.get(callId) ?? new Map<string, JournalWriter>()
    this.#taken.set(callId, taken.set(localTag, journal))
    const cseq = headerOf(request, 'cseq')
    let thread = this.#threads.get(callId)
    if (thread === undefined || thread.cseq !== cseq || thread.journal !== undefined)
      thread = this.#begin(callId, cseq)
    this.#waiting.delete(callId)
    thread.journal = journal
    if (thread.aside.length === 0)
      thread.aside.push(toSipFact({ direction: 'received', message: request, raw, remote }))
    for (const fact of thread.aside.splice(0)) note(fact, journal)
  }

  /** Writes messages with this Call-ID, of an INVITE that will be sent, to `journal` from now on. */
  expect(callId: string, journal: JournalWriter, { without }: { readonly without?: string } = {}): void {
    this.#made.set(callId, { journal, tags: new Set(), without })
  }

  /** Forgets an INVITE that was refused before its account was known. */
  drop(callId: string): void {
    if (this.#waiting.delete(callId)) this.#threads.delete(callId)
  }

  /** Forgets a leg. Late messages of it are dropped. */
  detach(callId: string, journal: JournalWriter): void {
    if (this.#threads.get(callId)?.journal === journal) this.#threads.delete(callId)
    if (this.#made.get(callId)?.journal === journal) this.#made.delete(callId)
    const taken = this.#taken.get(callId)
    for (const [tag, one] of taken ?? []) if (one === journal) taken?.delete(tag)
    if (taken?.size === 0) this.#taken.delete(callId)
  }

  #begin(callId: string, cseq: string | undefined): Thread {
    const thread: Thread = { cseq, aside: [], journal: undefined }
    this.#threads.set(callId, thread)
    this.#waiting.add(callId)
    if (this.#waiting.size > maxThreadsAside) {
      const [oldest] = this.#waiting
      if (oldest !== undefined) this.drop(oldest)
    }
    return thread
  }
}

function noteMade(event: WireEvent, { journal, without }: Made): void {
  if (without === undefined || methodOf(event.message) !== without) note(toSipFact(event), journal)
}

/** The events among which the first copy of a message is searched. Messages are repeated for 32 s at most. */
const maxBetween = 64

/** Writes a message to a journal, and marks a retransmission: the same bytes have gone the same way before. */
function note(fact: SipFact, journal: JournalWriter): void {
  const { direction, remote, raw } = fact
  const isRepeated = journal.events
    .slice(-maxBetween)
    .some(
      (event) =>
        event.type === 'sip' && event.direction === direction && event.remote === remote && event.raw === raw,
    )
  journal.note(isRepeated ? { ...fact, is_repeated: true } : fact)
}

/** Returns the tag of the platform in a message: in From of its own requests and of the responses to them. */
function ownTagIn({ direction, message }: WireEvent): string | undefined {
  const isOwnRequest = (direction === 'sent') === (message.kind === 'request')
  return tagOf(headerOf(message, isOwnRequest ? 'from' : 'to'))
}

/** Returns the method of a request, or that of the request to which a response belongs. */
function methodOf(message: SipMessage): string | undefined {
  return headerOf(message, 'cseq')?.split(' ').at(-1)
}

function isInitialInvite(message: SipRequest): boolean {
  return message.method === 'INVITE' && tagOf(headerOf(message, 'to')) === undefined
}
