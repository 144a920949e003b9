// Sorts SIP messages by call: into the journal of the leg that they belong to, or aside until there is such a leg.
import type { SipMessage, SipRequest } from '../../sip/message/message.ts'
import { headerOf } from '../../sip/message/message.ts'
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
  /** The method of requests that are left out, together with their responses. */
  readonly without?: string | undefined
}

export class WireTap {
  readonly #threads = new Map<string, Thread>()
  readonly #waiting = new Set<string>()

  record(event: WireEvent): void {
    const { callId, message } = event
    let thread = this.#threads.get(callId)
    if (event.direction === 'received' && message.kind === 'request' && isInitialInvite(message)) {
      const cseq = headerOf(message, 'cseq')
      if (thread === undefined || thread.cseq !== cseq) thread = this.#begin(callId, cseq)
    }
    if (thread === undefined) return
    if (thread.without !== undefined && methodOf(message) === thread.without) return
    if (thread.journal !== undefined) thread.journal.note(toSipFact(event))
    else if (thread.aside.length < maxEventsAside) thread.aside.push(toSipFact(event))
  }

  /** Writes messages with the INVITE's Call-ID to `journal` from now on, and adds those seen so far. */
  attach({ callId, request, raw, remote }: IncomingInvite, journal: JournalWriter): void {
    const cseq = headerOf(request, 'cseq')
    let thread = this.#threads.get(callId)
    if (thread === undefined || thread.cseq !== cseq || thread.journal !== undefined)
      thread = this.#begin(callId, cseq)
    this.#waiting.delete(callId)
    thread.journal = journal
    if (thread.aside.length === 0)
      thread.aside.push(toSipFact({ direction: 'received', message: request, raw, remote }))
    for (const fact of thread.aside.splice(0)) journal.note(fact)
  }

  /** Writes messages with this Call-ID, of an INVITE that will be sent, to `journal` from now on. */
  expect(callId: string, journal: JournalWriter, { without }: { readonly without?: string } = {}): void {
    this.#threads.set(callId, { cseq: undefined, aside: [], journal, without })
  }

  /** Forgets an INVITE that was refused before its account was known. */
  drop(callId: string): void {
    if (this.#waiting.delete(callId)) this.#threads.delete(callId)
  }

  /** Forgets a leg. Late messages of it are dropped. */
  detach(callId: string, journal: JournalWriter): void {
    if (this.#threads.get(callId)?.journal === journal) this.#threads.delete(callId)
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

/** Returns the method of a request, or that of the request to which a response belongs. */
function methodOf(message: SipMessage): string | undefined {
  return headerOf(message, 'cseq')?.split(' ').at(-1)
}

function isInitialInvite(message: SipRequest): boolean {
  return message.method === 'INVITE' && tagOf(headerOf(message, 'to')) === undefined
}
