// The legs of this node: the live ones, from which counts are computed, and for a while those that have ended.
import type { Clock } from '../lib/clock.ts'
import { toLiveCall } from './journal/projection.ts'
import type { LiveCall } from './journal/live-call.ts'
import type { JournalEvent } from './journal/journal.ts'
import type { JournalWriter } from './journal/journal-writer.ts'
import type { Leg } from './leg/leg.ts'
import type { Dialog, OutgoingInvite } from '../sip/sip.ts'
import type { CallsBefore } from './routing/call-limits.ts'

/** Clients may look up a call for an hour after its end. */
const keepEndedMs = 3_600_000
/** At 100 calls a second, an hour of them would not fit in memory. The oldest are dropped first; storage has them. */
const maxEnded = 500

export class CallRegistry {
  readonly #clock: Clock
  readonly #onForgotten: (journal: JournalWriter) => void
  readonly #onChanged: () => void
  /** By account, in order of arrival. */
  readonly #live = new Map<string, Map<string, Leg>>()
  /** In order of arrival. */
  readonly #all = new Set<Leg>()
  /** Only the journals: the media, dialogs and verbs of ended calls are gone. */
  readonly #ended = new Map<string, { readonly journal: JournalWriter; readonly at: number }>()

  /** `onChanged` is called when a call has been added or has ended. */
  constructor(clock: Clock, onForgotten: (journal: JournalWriter) => void, onChanged = () => {}) {
    this.#clock = clock
    this.#onForgotten = onForgotten
    this.#onChanged = onChanged
  }

  get liveCount(): number {
    return this.#all.size
  }

  get live(): readonly Leg[] {
    return [...this.#all]
  }

  /** The accounts that have live calls. */
  get accounts(): readonly string[] {
    return [...this.#live.keys()]
  }

  add(leg: Leg): void {
    const { account_sid, call_sid } = leg.journal.facts.started
    const legs = this.#live.get(account_sid) ?? new Map<string, Leg>()
    this.#live.set(account_sid, legs)
    legs.set(call_sid, leg)
    this.#all.add(leg)
    this.#onChanged()
  }

  ended(leg: Leg): void {
    const { account_sid, call_sid } = leg.journal.facts.started
    const legs = this.#live.get(account_sid)
    if (legs?.delete(call_sid) !== true) return
    if (legs.size === 0) this.#live.delete(account_sid)
    this.#all.delete(leg)
    this.#ended.set(call_sid, { journal: leg.journal, at: this.#clock.monotonic() })
    this.#forgetOld()
    this.#onChanged()
  }

  list(account_sid: string): LiveCall[] {
    return [...(this.#live.get(account_sid)?.values() ?? [])].map((leg) => toLiveCall(leg.journal.facts))
  }

  listOfProvider(service_provider_sid: string): LiveCall[] {
    const facts = [...this.#all].map((leg) => leg.journal.facts)
    return facts
      .filter(({ started }) => started.service_provider_sid === service_provider_sid)
      .map(toLiveCall)
  }

  count(account_sid: string): { inbound: number; outbound: number } {
    const count = { inbound: 0, outbound: 0 }
    for (const leg of this.#live.get(account_sid)?.values() ?? [])
      count[leg.journal.facts.started.direction]++
    return count
  }

  /** Counts the calls that arrived earlier. When calls arrive together, exactly as many pass as there is room for. */
  before(leg: Pick<Leg, 'journal'>): CallsBefore {
    const { account_sid, service_provider_sid, direction } = leg.journal.facts.started
    let account = 0
    let service_provider = 0
    let held = 0
    let all = 0
    for (const other of this.#all) {
      if (other === leg) break
      const { started } = other.journal.facts
      all++
      if (started.account_sid === account_sid) held++
      if (started.direction !== direction) continue
      if (started.service_provider_sid === service_provider_sid) service_provider++
      if (started.account_sid === account_sid) account++
    }
    return { account, service_provider, held, all }
  }

  find(account_sid: string, call_sid: string): LiveCall | undefined {
    const journal = this.liveLeg(account_sid, call_sid)?.journal ?? this.#endedJournal(account_sid, call_sid)
    return journal === undefined ? undefined : toLiveCall(journal.facts)
  }

  /** Returns the journal of a live call. */
  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined {
    return this.liveLeg(account_sid, call_sid)?.journal.events
  }

  /** Returns the live legs of an account by call_sid, in order of arrival. */
  legsOf(account_sid: string): ReadonlyMap<string, Leg> {
    return this.#live.get(account_sid) ?? new Map<string, Leg>()
  }

  liveLeg(account_sid: string, call_sid: string): Leg | undefined {
    return this.#live.get(account_sid)?.get(call_sid)
  }

  /** Returns the leg of the account that has this dialog. */
  legWith(account_sid: string, dialog: Dialog): Leg | undefined {
    return [...(this.#live.get(account_sid)?.values() ?? [])].find(({ requests }) =>
      requests.isWithin(dialog),
    )
  }

  /** Returns the leg of the account for which this INVITE was sent. */
  legThatSent(account_sid: string, invite: OutgoingInvite): Leg | undefined {
    return [...(this.#live.get(account_sid)?.values() ?? [])].find((leg) => leg.hasSent(invite))
  }

  #endedJournal(account_sid: string, call_sid: string): JournalWriter | undefined {
    this.#forgetOld()
    const journal = this.#ended.get(call_sid)?.journal
    return journal?.facts.started.account_sid === account_sid ? journal : undefined
  }

  #forgetOld(): void {
    const oldest = this.#clock.monotonic() - keepEndedMs
    for (const [call_sid, { journal, at }] of this.#ended) {
      if (at > oldest && this.#ended.size <= maxEnded) return
      this.#ended.delete(call_sid)
      this.#onForgotten(journal)
    }
  }
}
