// A call store in memory.
import type { CallBatch, CallStore, JournalEvent } from '../../../src/calls/journal/journal.ts'
import type { AppError } from '../../../src/lib/errors.ts'
import type { CallStoreListener, RecentCall, UnfinishedCall } from '../../../src/contracts/call-record.ts'

/** Keeps batches as storage would: only the first record of a leg counts. */
export class MemoryCallStore implements CallStore {
  readonly batches: CallBatch[] = []
  /** The unfinished calls of a dead node. */
  readonly left: UnfinishedCall[] = []
  listener: CallStoreListener | undefined

  write(batch: CallBatch): void {
    this.batches.push(batch)
  }

  /** Set while the store can keep nothing. */
  away: AppError | undefined

  refusal(): AppError | undefined {
    return this.away
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  adopt(): Promise<readonly UnfinishedCall[]> {
    return Promise.resolve(this.left.splice(0))
  }

  watch(listener: CallStoreListener): void {
    this.listener = listener
  }

  /** Simulates the death of the node: the calls that it has not closed can be adopted. */
  abandon(): void {
    const isClosing = ({ record, ended }: CallBatch): boolean => record !== undefined || ended === true
    const closed = new Set(this.batches.filter(isClosing).map(({ call_sid }) => call_sid))
    const open = this.batches.filter(({ call_sid }) => !closed.has(call_sid))
    for (const { call_sid, account_sid } of new Map(open.map((batch) => [batch.call_sid, batch])).values()) {
      const { dialog } =
        open.findLast((batch) => batch.call_sid === call_sid && batch.dialog !== undefined) ?? {}
      const events = this.journalOf(call_sid)
      this.left.push({ call_sid, account_sid, events, ...(dialog === undefined ? {} : { dialog }) })
    }
  }

  /** Every record that was handed over, duplicates included. */
  get records(): RecentCall[] {
    return this.batches.flatMap(({ record }) => (record === undefined ? [] : [record]))
  }

  /** Returns every event of a call that was handed over. */
  journalOf(call_sid: string): readonly JournalEvent[] {
    return this.batches.filter((batch) => batch.call_sid === call_sid).flatMap(({ events }) => events)
  }

  get notifications(): Record<string, unknown>[] {
    return this.batches.flatMap(({ notifications }) =>
      notifications.map(({ payload }) => payload as Record<string, unknown>),
    )
  }

  get statuses(): unknown[] {
    return this.notifications.map((payload) => payload['call_status'])
  }
}
