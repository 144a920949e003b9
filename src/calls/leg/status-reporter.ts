// Status changes of one leg: the journal event, the notification to the status hook and, at the end, the record,
// all handed to storage in one batch.
import type { AppError } from '../../lib/errors.ts'
import type { EndedFact, StatusFact } from '../journal/journal.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { Notification } from '../../contracts/call-record.ts'
import { toChangePayload, toCommonPayload, toNodePayload } from '../journal/hook-payloads.ts'
import type { NodeFacts } from '../journal/hook-payloads.ts'
import type { StatusTarget } from '../session/session.ts'
import { toProblem } from './refusals.ts'

export type StatusChange = Omit<StatusFact, 'type'>

export class StatusReporter {
  readonly #targetNow: () => StatusTarget
  readonly #journal: JournalWriter
  readonly #node: NodeFacts
  #isAnnounced = false

  /** `target`: that of the session which the leg is in by then. */
  constructor(journal: JournalWriter, node: NodeFacts, target: () => StatusTarget) {
    this.#journal = journal
    this.#node = node
    this.#targetNow = target
  }

  get #target(): StatusTarget {
    return this.#targetNow()
  }

  /** From now on every change is reported to this hook. */
  follow(hook: Hook | null): void {
    this.#target.hook = hook
    this.#isAnnounced = true
  }

  /** From now on every change is reported where those of the parent are. */
  followParent(): void {
    this.#isAnnounced = true
  }

  /** The application is being asked. Its status hook hears of the call once it is announced. */
  expect(hook: Hook | null): void {
    this.#target.hook = hook
  }

  /** The caller gives up. A status hook that is only expected hears of the call from its beginning. */
  announceAbandoned(): void {
    const { hook, tell } = this.#target
    if (!this.#isAnnounced && (hook !== null || tell !== undefined)) this.announce(hook)
  }

  /**
   * The application has taken the call: its status hook hears of every change, this one first. A caller that heard ringing
   * meanwhile still does, which is the second one.
   */
  announce(hook: Hook | null): void {
    const isRinging = this.#journal.facts.call_status === 'ringing'
    this.follow(hook)
    this.report({ call_status: 'trying', sip_status: 100, sip_reason: 'Trying' })
    if (isRinging) this.reportRinging()
  }

  /** 180 was sent. Until the application has the call, no status hook is owed it: `announce` reports it. */
  reportRinging(): void {
    if (!this.#isAnnounced) {
      this.#journal.add({ type: 'rang' })
      return this.#journal.commit()
    }
    this.report({ call_status: 'ringing', sip_status: 180, sip_reason: 'Ringing' })
  }

  /** `redirect` may name another status hook for the rest of the call. */
  replaceHook(hook: Hook): void {
    this.#target.hook = hook
  }

  report(change: StatusChange): void {
    this.#journal.add({ type: 'status', ...change })
    const extra = toChangePayload(this.#journal.facts)
    this.#journal.commit({ notifications: this.#notifications(extra) })
    this.#tell(extra)
  }

  /** The last change: the record of the leg is written with it. */
  reportEnd(change: StatusChange, ended: Omit<EndedFact, 'type'>): void {
    this.#journal.add({ type: 'status', ...change })
    this.#journal.add({ type: 'ended', ...ended })
    const extra = toChangePayload(this.#journal.facts)
    this.#journal.commit({ notifications: this.#notifications(extra), isLast: true })
    this.#tell(extra)
  }

  /** An action hook answered with something that is no list of verbs. */
  reportInvalidPayload(error: AppError): void {
    this.#journal.note(toProblem(error))
    const extra = { error: error.code, reason: error.message }
    this.#journal.commit({ notifications: this.#notifications(extra) })
    this.#tell(extra)
  }

  /** At least once: they are kept with the event that they report. Over a socket too, where no application has one open. */
  #notifications(extra: Record<string, unknown>): readonly Notification[] {
    const { hook, tell } = this.#target
    if (!this.#isAnnounced || hook === null || (isSocket(hook) && tell !== undefined)) return []
    const { account_sid, call_sid } = this.#journal.facts.started
    return [{ account_sid, call_sid, hook, payload: this.#payload(extra) }]
  }

  /** At most once: what is sent over a socket is lost with the process. */
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
