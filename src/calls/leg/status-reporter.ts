// The status changes of one leg: the journal event, the notification to the status hook and, at the end, the record,
// all written to storage in one batch.
import type { AppError } from '../../lib/errors.ts'
import type { EndedFact, StatusFact } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Notification } from '../../contracts/call-record.ts'
import { toChangePayload, toCommonPayload, toNodePayload, type NodeFacts } from '../journal/hook-payloads.ts'
import type { StatusTarget } from '../session/session.ts'
import { toProblem } from '../journal/refusals.ts'

export type StatusChange = Omit<StatusFact, 'type'>

export class StatusReporter {
  readonly #targetNow: () => StatusTarget
  readonly #journal: JournalWriter
  readonly #node: NodeFacts
  #isAnnounced = false

  /** `target` returns the target of the session that the leg is in at the time of the call. */
  constructor(journal: JournalWriter, node: NodeFacts, target: () => StatusTarget) {
    this.#journal = journal
    this.#node = node
    this.#targetNow = target
  }

  get #target(): StatusTarget {
    return this.#targetNow()
  }

  /** Reports every change from now on to this hook. */
  follow(hook: Hook | null): void {
    this.#target.hook = hook
    this.#isAnnounced = true
  }

  /** Reports every change from now on to the same target as those of the parent. */
  followParent(): void {
    this.#isAnnounced = true
  }

  /** Sets the status hook while the call hook is called. Changes are reported to it once the call is announced. */
  expect(hook: Hook | null): void {
    this.#target.hook = hook
  }

  /** Announces a call whose caller gives up, if its status hook is set but the call is not announced yet. */
  announceAbandoned(): void {
    const { hook, tell } = this.#target
    if (!this.#isAnnounced && (hook !== null || tell !== undefined)) this.announce(hook)
  }

  /**
   * Announces a call that the application has accepted: reports `trying` to its status hook, and every change from now
   * on. `ringing` is the second report, if the caller has been sent 180 meanwhile.
   */
  announce(hook: Hook | null): void {
    const isRinging = this.#journal.facts.call_status === 'ringing'
    this.follow(hook)
    this.report({ call_status: 'trying', sip_status: 100, sip_reason: 'Trying' })
    if (isRinging) this.reportRinging()
  }

  /** Reports that 180 was sent. Before the call is announced it is only journalled, and `announce` reports it. */
  reportRinging(): void {
    if (!this.#isAnnounced) {
      this.#journal.add({ type: 'rang' })
      return this.#journal.commit()
    }
    this.report({ call_status: 'ringing', sip_status: 180, sip_reason: 'Ringing' })
  }

  /** Sets the status hook that `redirect` may name for the rest of the call. */
  replaceHook(hook: Hook): void {
    this.#target.hook = hook
  }

  report(change: StatusChange): void {
    this.#journal.add({ type: 'status', ...change })
    const extra = toChangePayload(this.#journal.facts)
    this.#journal.commit({ notifications: this.#notifications(extra) })
    this.#tell(extra)
  }

  /** Reports the last change, and writes the record of the leg with it. */
  reportEnd(change: StatusChange, ended: Omit<EndedFact, 'type'>): void {
    this.#journal.add({ type: 'status', ...change })
    this.#journal.add({ type: 'ended', ...ended })
    const extra = toChangePayload(this.#journal.facts)
    this.#journal.commit({ notifications: this.#notifications(extra), isLast: true })
    this.#tell(extra)
  }

  /** Reports that an action hook did not answer with a list of verbs. */
  reportInvalidPayload(error: AppError): void {
    this.#journal.note(toProblem(error))
    const extra = { error: error.code, reason: error.message }
    this.#journal.commit({ notifications: this.#notifications(extra) })
    this.#tell(extra)
  }

  /** Returns notifications to store with their event: delivered at least once. Also for a socket that is not open. */
  #notifications(extra: Record<string, unknown>): readonly Notification[] {
    const { hook, tell } = this.#target
    if (!this.#isAnnounced || hook === null || (isSocket(hook) && tell !== undefined)) return []
    const { account_sid, call_sid } = this.#journal.facts.started
    return [{ account_sid, call_sid, hook, payload: this.#payload(extra) }]
  }

  /** Sends the change over the open socket. Delivered at most once, since messages in it are lost with the process. */
  #tell(extra: Record<string, unknown>): void {
    const { hook, tell } = this.#target
    if (!this.#isAnnounced || (hook !== null && !isSocket(hook))) return
    tell?.(this.#journal.facts.started.call_sid, this.#payload(extra))
  }

  #payload(extra: Record<string, unknown>): object {
    const { facts } = this.#journal
    return { ...toCommonPayload(facts), ...toNodePayload(facts, this.#node), ...extra }
  }
}

function isSocket({ url }: Hook): boolean {
  return /^wss?:/i.test(url)
}
